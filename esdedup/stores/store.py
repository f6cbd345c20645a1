"""What every store can do. Nothing outside this room asks which store it has.

Texts are named by their content hashes, documents by numbers that the caller gives out in the order of
reading. Tables cross as Arrow columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import pyarrow as pa

from esdedup.clustering.union import Clusters
from esdedup.records import Skips
from esdedup.settings import Signing

DOCUMENT_ROWS: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.int32()),
        ("key", pa.string()),
        ("title", pa.string()),
        ("content", pa.uint64()),  # hash of the text as read
        ("sentences", pa.int32()),  # units before any filter
    ]
)

LAST_SEEN: pa.Schema = pa.schema(
    [
        ("document", pa.int32()),
        ("position", pa.int32()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
    ]
)


def sentence_rows(tokens: int) -> pa.Schema:
    """One row a sentence that is kept."""
    return pa.schema(
        [
            ("document", pa.int32()),
            ("position", pa.int32()),
            ("hash", pa.uint64()),
            ("text", pa.large_string()),
            ("tokens", pa.list_(pa.int64(), tokens)),
            ("revision", pa.int64()),
            ("timestamp", pa.string()),
            ("last_revision", pa.int64()),
            ("last_timestamp", pa.string()),
        ]
    )


STANDARD_INPUT = "-"
"""The path of the source that can only be read once: a reading of it is never gone on with, but begun anew."""


@dataclass(slots=True)
class SourceMark:
    """One source in a store: what it is, and how far it has been read."""

    name: str
    path: str
    fingerprint: str
    qualified: bool
    number: int = -1
    documents: int = 0
    finished: bool = False
    skips: Skips = field(default_factory=Skips)

    def same_as(self, other: SourceMark) -> bool:
        """Whether both name the same file in the same state, read the same way."""
        return (self.name, self.path, self.fingerprint, self.qualified) == (
            other.name,
            other.path,
            other.fingerprint,
            other.qualified,
        )


class Store(ABC):
    """Where sentences, tokens, pairs and clusters live. Closing is the caller's business (`with`)."""

    address: str
    signing: Signing

    # -- loading --------------------------------------------------------------------------------------------

    @abstractmethod
    def sources(self) -> list[SourceMark]:
        """Every source ever read into the store, in that order."""

    @abstractmethod
    def begin(self, marks: list[SourceMark]) -> int:
        """Start (or go on with) reading `marks`: fills in their numbers; the next document number."""

    @abstractmethod
    def append(self, mark: SourceMark, documents: pa.Table, sentences: pa.Table, last_seen: pa.Table) -> None:
        """Add rows (`DOCUMENT_ROWS`, `sentence_rows`, `LAST_SEEN`) and the mark's progress, all or nothing."""

    @abstractmethod
    def settle(self) -> dict[str, int]:
        """End the reading: number repeated ids, drop unchanged documents, replace changed ones.

        Counts of documents `repeated` (an id for the second time), `unchanged` and `replaced`.
        """

    @abstractmethod
    def unfinished(self) -> bool:
        """Whether a reading has begun and not been settled."""

    # -- scanning -------------------------------------------------------------------------------------------

    @abstractmethod
    def signatures(self, across: str) -> pa.RecordBatchReader:
        """One row a sentence, of `esdedup.pairs.collider.signatures_schema`."""

    @abstractmethod
    def texts(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        """Rows (hash, text) for a table with column `hash`: each once, in any order."""

    @abstractmethod
    def replace_results(self, pairs: Iterator[pa.RecordBatch], clusters: Clusters, summary: dict[str, Any]) -> None:
        """Put the results of a scan in the place of the old ones, all or nothing.

        Pairs have columns a, b (content hashes), jaccard, word_edit_distance, shared_tokens.
        """

    # -- reading --------------------------------------------------------------------------------------------

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Counts of documents, sentences_read, sentences_kept and distinct_sentences."""

    @abstractmethod
    def last_scan(self) -> dict[str, Any] | None:
        """What `replace_results` was told of the results that are valid now; None without any."""

    @abstractmethod
    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        """The pairs as the contract names them: a, b (sentence ids, a < b), jaccard, …, by (a, b)."""

    @abstractmethod
    def cluster_rows(
        self,
        *,
        min_size: int = 2,
        document: str | None = None,
        text: str | None = None,
        limit: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Clusters with their members, in the contract's order and fields."""

    @abstractmethod
    def cluster_sizes(self) -> dict[int, int]:
        """How many clusters there are of each size."""

    @abstractmethod
    def disk_bytes(self) -> int:
        """What the store takes on disk."""

    # -- ending ---------------------------------------------------------------------------------------------

    @abstractmethod
    def drop(self) -> None:
        """Delete what esdedup made here, and nothing else."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
