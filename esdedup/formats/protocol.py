"""The protocol of a format: how documents are read from a source, and how a source is rewritten."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from esdedup.errors import UsageError
from esdedup.formats.compression.protocol import compression_of
from esdedup.formats.text_limit import USUAL
from esdedup.options import Choice, Registry
from esdedup.text.wikitext.cleaning import site

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted

NOTE = "esdedup"
"""The key or column for annotations."""


@dataclass
class Walk:
    """The state of reading one source, member by member."""

    label: str  # names the source in messages
    document: str  # the id of the document, if a whole source is one document
    skips: Skips  # records that are not documents
    limit: int | None = None  # how many documents are left to read
    max_text: int = USUAL  # bytes of the largest text that is read
    records: int = 0  # raw records in the members read so far
    share: float | None = None  # share of the source read so far, if the position in its bytes does not say it
    namespaces: dict[int, str] = field(default_factory=dict)  # names, known when the first batch is read
    language: str = ""  # what the source says about its language, known at the same time
    wiki: str = ""  # dbname of siteinfo; empty if unknown
    base: str = ""  # address of the wiki's main page
    cut: bool = False  # whether the text that was just read was too large, and is not whole

    @property
    def site(self) -> str:
        """The language and kind of a wiki of Wikimedia, otherwise empty."""
        return site(self.wiki, self.base)

    def up_to_limit(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches up to the limit. Each row is a document."""
        for batch in batches:
            if self.limit is not None:
                batch = batch.slice(0, self.limit)
                self.limit -= batch.num_rows
            yield batch
            if self.limit == 0:
                return


@dataclass(frozen=True)
class Format(Choice):
    """A format of sources. Its options apply only to reading this format."""

    family: ClassVar[str]
    """What help calls sources of this and similar formats: tables, texts, wiki dumps."""

    endings: ClassVar[tuple[str, ...]] = ()
    """File extensions in lower case, without that of a compression."""

    stdin_name: ClassVar[str]
    """The file name of the output if the source is standard input."""

    annotates: ClassVar[bool] = True
    """Whether a record can have an annotation."""

    unit: ClassVar[str] = "record"
    """What is compared by default: see `esdedup.matching.units`."""

    rewritten_unit: ClassVar[str | None] = None
    """What is compared by default if the source is rewritten without its duplicates; None if it is `unit`."""

    folder_is_one: ClassVar[bool] = False
    """Whether the files of a folder are one source, whose document ids are the relative paths."""

    rewrites_all: ClassVar[bool] = True
    """Whether a rewritten source has all its records, also those that are no documents."""

    streams_of_records: ClassVar[bool] = False
    """Whether each record is compressed by itself. An empty piece is between two, where they are written."""

    says_collection: ClassVar[bool] = False
    """Whether a file says which collection it is a part of."""

    @abstractmethod
    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Yield the documents of one member, in bounded batches of the `DOCUMENTS` schema, at most `walk.limit`.

        `place` counts raw records from 1 in each member. At the end of the member, `walk` gets the number of records,
        skipped records, and what is left of the limit. Damage raises `SourceError` after the documents before it.
        """

    @abstractmethod
    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes] | None:
        """Rewrite one member without what is dropped. A record without drops stays byte for byte. Return None if
        nothing is left.

        With `annotate`, everything is kept, and each record gets its verdicts. `decisions.record` counts raw records
        over all members. Damage raises `SourceError` after everything before it.
        """

    def check_rewritable(self, label: str) -> None:
        """Raise `UsageError` if these options cannot rewrite a source."""

    def of_values(self, column: str, asked: str) -> tuple[Format, str]:
        """Return the format that reads the values of a column, and the column of `DOCUMENTS` that then has them.

        Raises `UsageError`, which says who has `asked`, if sources of this format have no such column.
        """
        raise UsageError(f"{asked} compares the column {column!r}, and {self.name} has no columns; use another policy")

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the numbers of the wanted records of a member, and the values of columns there, as JSON. Without
        `columns`: one object with all but the id and the text; of several texts, with these, too.

        Record numbers go on from `walk.records`. Raises `UsageError` for a column that is not there.
        """
        raise UsageError(f"{walk.label}: {self.name} has no columns that can be merged; omit merge")

    @classmethod
    def stem(cls, name: str) -> str | None:
        """Return a file name without the extension of this format; None if it has another extension."""
        root, dot, ending = name.rpartition(".")
        return root if root and f"{dot}{ending}".lower() in cls.endings else None

    def output_name(self, name: str) -> str:
        """Return the file name of the output for a source or member `name`."""
        return name

    @property
    def cleaner(self) -> str | None:
        """The cleaner that removes markup from texts; None if they are plain."""
        return None

    @property
    def drops_sentences(self) -> bool:
        """Whether a text can be written without some of its sentences."""
        return True

    @property
    def text_columns(self) -> Sequence[str]:
        """The columns of which one has the text of a record."""
        return ()

    @property
    def ids_across(self) -> bool:
        """Whether an id means one document in all sources of a job."""
        return False

    @property
    def keeps_history(self) -> bool:
        """Whether a row is a revision. Revisions with the same id are one document."""
        return False

    def seam(self, first: bytes, begin: bytes) -> tuple[bytes, bytes] | None:
        """Return what must come before a part of a source that begins with `begin`, and after the part before it; None
        if no part may begin there. The source begins with `first`.
        """
        del first, begin
        return None

    def collection(self, first: bytes) -> str:
        """Return the collection that a file with these `first` bytes is a part of; empty if it does not say. Files of
        one collection are one source, in which an id means one document.
        """
        del first
        return ""

    def part_numbers(self, batch: pa.RecordBatch, numbers: Sequence[int]) -> Sequence[int]:
        """Return a number for each document. Modulo the number of parts, it says which machine loads the document.

        `numbers` are the numbers of the records.
        """
        del batch
        return numbers


FORMATS: Registry[Format] = Registry(
    "format",
    {
        "wikipedia": "esdedup.formats.mediawiki.wikipedia:Wikipedia",
        "tsv": "esdedup.formats.delimited:Tsv",
        "csv": "esdedup.formats.delimited:Csv",
        "jsonl": "esdedup.formats.jsonl:JsonLines",
        "json": "esdedup.formats.json_array:Json",
        "parquet": "esdedup.formats.parquet:Parquet",
        "arrow": "esdedup.formats.arrow_ipc:Arrow",
        "text": "esdedup.formats.plain:Text",
        "lines": "esdedup.formats.plain:Lines",
        "warc": "esdedup.formats.warc:Warc",
        "snapshot": "esdedup.formats.mediawiki.snapshot:Snapshot",
    },
)


def format_at(path: str, named: str | None) -> type[Format] | None:
    """Return the format of a path: the `named` one, or that of its extension; None if neither is known."""
    chosen = (named if named in FORMATS.names else None) or split_name(path.rpartition("/")[2])[1]
    return FORMATS[chosen] if chosen else None


def as_json_lines(name: str) -> str:
    """Return the name of a file or member whose documents are written as JSON Lines, compressed as it is."""
    path = PurePosixPath(name)
    stem, _, packed = split_name(path.name)
    return str(path.with_name(f"{stem}.jsonl{packed}"))


def split_name(name: str) -> tuple[str, str | None, str]:
    """Split a file name into its stem, its format (if the extension is known), and the extension of its compression."""
    root, dot, ending = name.rpartition(".")
    packed = f"{dot}{ending}" if root and compression_of(f"{dot}{ending}") else ""
    name = name.removesuffix(packed)
    found = ((stem, each.name) for each in FORMATS if (stem := each.stem(name)) is not None)
    return *next(found, (name, None)), packed
