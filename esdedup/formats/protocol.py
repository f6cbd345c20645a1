"""What a format is: how documents are read from a source, and how a source is written again without some of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from esdedup.formats.compression.protocol import compression_of
from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions

NOTE = "esdedup"
"""The key or column that annotations stand in."""


@dataclass
class Walk:
    """One source read member by member, and what is known of it so far."""

    label: str  # names the source in messages
    document: str  # the id of the document, where a whole source is one
    skips: Skips  # records that no document is read from
    limit: int | None = None  # how many documents are still to be read
    records: int = 0  # raw records in the members that were read
    share: float | None = None  # of the source that was read, where the position in its bytes does not tell
    namespaces: dict[int, str] = field(default_factory=dict)  # names, by the time the first batch is read

    def up_to_limit(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, a row a document, up to the limit."""
        for batch in batches:
            if self.limit is not None:
                batch = batch.slice(0, self.limit)
                self.limit -= batch.num_rows
            yield batch
            if self.limit == 0:
                return


@dataclass(frozen=True)
class Format(Choice):
    """A format of sources. Its options are those that reading it needs and other formats may not have."""

    family: ClassVar[str]
    """What sources of this and similar formats are called, for help: tables, texts, wiki dumps."""

    endings: ClassVar[tuple[str, ...]] = ()
    """Of file names, in lower case, without that of a compression."""

    stdin_name: ClassVar[str]
    """The file name of what is written of standard input."""

    annotates: ClassVar[bool] = True
    """Whether a record has room for an annotation."""

    folder_is_one: ClassVar[bool] = False
    """Whether the files of a folder are one source, whose documents are named by their paths in it."""

    @abstractmethod
    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Documents of one member in bounded batches of the `DOCUMENTS` schema, at most `walk.limit`.

        `place` counts raw records from 1 in each member; `walk` takes their number at the end of the member, skipped
        records, and what is left of the limit. Damage raises `SourceError` after the documents before it.
        """

    @abstractmethod
    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes] | None:
        """One member again without what is dropped, byte for byte where nothing is; None if nothing is left of it.

        With `annotate` all is kept, and each record carries its verdicts. `decisions.place` counts raw records over all
        members. Damage raises `SourceError` after what stood before it.
        """

    def check_rewritable(self, label: str) -> None:
        """Raise `UsageError` if a source cannot be written again as these options read it."""

    @classmethod
    def stem(cls, name: str) -> str | None:
        """A file name without the ending of this format; None if it does not have one."""
        root, dot, ending = name.rpartition(".")
        return root if root and f"{dot}{ending}".lower() in cls.endings else None

    def output_name(self, name: str) -> str:
        """The file name of what is written of a source or member `name`."""
        return name

    @property
    def markup(self) -> str | None:
        """How markup is removed from texts; None if they are plain."""
        return None

    @property
    def keeps_history(self) -> bool:
        """Whether a row is a revision, and those of one id are one document."""
        return False

    def part_numbers(self, batch: pa.RecordBatch, numbers: Sequence[int]) -> Sequence[int]:
        """For each document a number that says, modulo the number of parts, who of several machines loads it.

        `numbers` are those that records have by their places.
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
        "parquet": "esdedup.formats.parquet:Parquet",
        "text": "esdedup.formats.plain:Text",
        "lines": "esdedup.formats.plain:Lines",
    },
)


def split_name(name: str) -> tuple[str, str | None, str]:
    """A file name's stem, its format if the ending tells one, and the ending of a compression."""
    root, dot, ending = name.rpartition(".")
    packed = f"{dot}{ending}" if root and compression_of(f"{dot}{ending}") else ""
    name = name.removesuffix(packed)
    found = ((stem, each.name) for each in FORMATS if (stem := each.stem(name)) is not None)
    return *next(found, (name, None)), packed
