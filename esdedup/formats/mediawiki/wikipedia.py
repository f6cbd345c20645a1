"""Wiki dumps: MediaWiki XML exports, schemas 0.3 to 0.11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from esdedup.errors import UsageError
from esdedup.formats.protocol import Format, Walk, as_json_lines
from esdedup.options import option
from esdedup.text.wikitext.cleaning import CLEANERS

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions

_PART = re.compile(r"\.xml-(p\d+p\d+)$", re.IGNORECASE)
"""Large wikis are split into files such as `pages-articles1.xml-p1p41242.bz2`."""

_NUMBER = re.compile("[0-9]{1,18}")
_PAGE = re.compile(rb"\s*<page>")
_WIKI = re.compile(rb"<dbname>\s*([A-Za-z0-9_-]{1,64})\s*</dbname>")
_END_OF_HEAD, _END = b"</siteinfo>", b"</mediawiki>"


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--namespaces {text}: allowed: numbers separated by commas, as in 0,14") from None


_VALUES = ("timestamp", "revision", "contributor", "title", "id")


@dataclass(frozen=True)
class Wikipedia(Format):
    """A page is a document. Redirects and pages that are not wikitext are skipped. Output is JSON Lines."""

    name = "wikipedia"
    summary = "MediaWiki XML dumps"
    family = "wiki dumps"
    endings = (".xml",)
    stdin_name = "stdin.jsonl"
    unit = "sentence"
    rewrites_all = False
    says_collection = True

    contributors: bool = option(True, "Keep the contributor of each revision.")
    namespaces: tuple[int, ...] = option(
        (0,), "Namespaces of a wiki to read.", unit="N,N…", expected="allowed: integers, as in (0, 14)", parse=_numbers,
        usual="0",
    )  # fmt: skip
    revisions: str = option(
        "latest", "Revisions of a page to read. With all, each sentence is kept once a page, with its first and last "
        "revision.", choices=("latest", "all"),
    )  # fmt: skip
    wikitext: str = option(CLEANERS.names[0], "Cleaner that removes wiki markup.", choices=CLEANERS.names)

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are pages."""
        from esdedup.formats.mediawiki.dump import read_pages

        return read_pages(
            member.pieces, walk,
            namespaces=self.namespaces, every_revision=self.keeps_history, contributors=self.contributors,
        )  # fmt: skip

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: cleaned pages as JSON Lines, without skipped pages."""
        from esdedup.formats.mediawiki.cleaned import cleaned_pages

        return cleaned_pages(self.read(member, walk), self.wikitext, walk, decisions, annotate)

    def of_values(self, column: str, asked: str) -> tuple[Format, str]:
        """As `Format.of_values`: a page has an id, a title, and the revision, timestamp and contributor of its text."""
        if column not in _VALUES:
            raise UsageError(f"{asked} compares the column {column!r}; a page of a wiki has {', '.join(_VALUES)}")
        return self, column

    def check_rewritable(self, label: str) -> None:
        """Raise `UsageError` for `--revisions all`."""
        if self.keeps_history:
            raise UsageError(f"{label}: dedupe writes only the latest text of a page; use --revisions latest")

    @classmethod
    def stem(cls, name: str) -> str | None:
        """Return the name of a dump. A part number belongs to the name."""
        match = _PART.search(name)
        return f"{name[: match.start()]}-{match[1]}" if match else super().stem(name)

    def output_name(self, name: str) -> str:
        """Return a name for JSON Lines."""
        return as_json_lines(name)

    @property
    def cleaner(self) -> str | None:
        """The cleaner of wikitext."""
        return self.wikitext

    @property
    def keeps_history(self) -> bool:
        """True with `--revisions all`."""
        return self.revisions == "all"

    def seam(self, first: bytes, begin: bytes) -> tuple[bytes, bytes] | None:
        """Before pages comes what a dump says of its wiki, and after them its end."""
        head, end, _ = first.partition(_END_OF_HEAD)
        return (head + end, _END) if end and _PAGE.match(begin) else None

    def collection(self, first: bytes) -> str:
        """Return the wiki: `dbname` of the site information."""
        found = _WIKI.search(first.partition(_END_OF_HEAD)[0])
        return found[1].decode() if found else ""

    def part_numbers(self, batch: pa.RecordBatch, numbers: Sequence[int]) -> Sequence[int]:
        """Return page ids, or record numbers for ids that are not numbers (not every dump is made by MediaWiki)."""
        keys = batch["id"].to_pylist()
        return [int(key) if _NUMBER.fullmatch(key) else number for key, number in zip(keys, numbers, strict=True)]
