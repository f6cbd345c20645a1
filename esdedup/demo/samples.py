"""Small sets of made-up data with planted copies: to try esdedup without data of your own.

The files in `data` are made by `python -m scripts.wiki --samples`.
"""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.errors import UsageError
from esdedup.files import compact_json

_WIKI = "wiki"
_LEAKS = "leaks"
_NAMES = (_WIKI, "documents", "records", _LEAKS)


class Planted(NamedTuple):
    """Texts that are copies of each other: `kind` says how they differ, `ids` are those of the rows that have them.

    `texts` are the sentences of a wiki; of other samples they are the texts of the rows.
    """

    kind: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """Rows, each a dict with `id` and `text`, and what is planted in them.

    `reference` are the rows of a reference collection, if there is one; the first id of what is planted is then there.
    """

    name: str
    rows: list[dict[str, str]] = field(repr=False)
    truth: list[Planted] = field(repr=False)
    reference: list[dict[str, str]] = field(default_factory=list, repr=False)
    export: bytes = field(default=b"", repr=False)
    """The rows of a wiki as a MediaWiki export."""

    def write(self, folder: str | Path) -> Path:
        """Write the rows to a file in `folder` and return its path: NAME.jsonl, or wiki.xml.

        What is planted is written to NAME.truth.jsonl, and a reference collection to NAME-reference.jsonl.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (f"{self.name}.xml" if self.export else f"{self.name}.jsonl")
        path.write_bytes(self.export or _lines(self.rows))
        (folder / f"{self.name}.truth.jsonl").write_bytes(_lines([planted._asdict() for planted in self.truth]))
        if self.reference:
            (folder / f"{self.name}-reference.jsonl").write_bytes(_lines(self.reference))
        return path


def sample(name: str) -> Sample:
    """Return a small set of made-up data with planted copies.

    | name | rows | planted |
    |---|---|---|
    | `wiki` | 200 articles in wikitext | sentences: all kinds of clusters |
    | `documents` | 100 texts of 1,000 to 6,000 characters | copies with other words or paragraphs |
    | `records` | 500 rows of 20 to 200 characters, and a city | copies with a typo, or one word more or other |
    | `leaks` | 200 texts, and 300 in `reference` | 20 texts that stand in the reference |

    Args:
        name: One of these names.

    Returns:
        The rows, what is planted in them, and a method that writes them to files.

    Raises:
        UsageError: The name is unknown.

    Example:
        >>> import esdedup
        >>> esdedup.dedupe(esdedup.sample("documents").rows, quiet=True).records["in"]
        100
    """
    if name not in _NAMES:
        raise UsageError(f"sample is {name!r}; allowed: {', '.join(_NAMES)}")
    if name == _WIKI:
        export = bz2.decompress(shipped("wiki.xml.bz2"))
        members = [(row["kind"], row["members"]) for row in _rows("wiki.truth")]
        planted = [
            Planted(kind, tuple(each["document"] for each in there), tuple(each["text"] for each in there))
            for kind, there in members
        ]
        return Sample(name, list(_articles(export)), planted, export=export)
    planted = [Planted(row["kind"], tuple(row["ids"]), tuple(row["texts"])) for row in _rows(f"{name}.truth")]
    return Sample(name, _rows(name), planted, _rows("leaks-reference") if name == _LEAKS else [])


def shipped(name: str) -> bytes:
    """Return a file of this package's data, compressed."""
    return (files("esdedup.demo") / "data" / name).read_bytes()


def _rows(name: str) -> list[dict[str, Any]]:
    text = bz2.decompress(shipped(f"{name}.jsonl.bz2")).decode()
    return [json.loads(line) for line in text.splitlines()]


def _articles(export: bytes) -> Iterator[dict[str, str]]:
    """Yield the articles of an export: `id`, `title`, and the latest wikitext as `text`."""
    from lxml import etree

    for page in etree.fromstring(export).iterfind("{*}page"):
        if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
            latest = page.findall("{*}revision")[-1].findtext("{*}text") or ""
            yield {"id": page.findtext("{*}id") or "", "title": page.findtext("{*}title") or "", "text": latest}


def _lines(rows: list[Any]) -> bytes:
    return "".join(f"{compact_json(row)}\n" for row in rows).encode()
