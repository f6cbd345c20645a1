"""What every store can do. Nothing outside this room asks which store it has.

Texts are named by their content hashes, documents by numbers that the caller gives out in the order of
reading. Tables cross as Arrow columns.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias

import pyarrow as pa

from esdedup.clustering.clusters import Clusters
from esdedup.columns.database import Database
from esdedup.columns.records import Skips
from esdedup.formats.reading_options import Part
from esdedup.matching.signing import Signing
from esdedup.store.classifying import Judge
from esdedup.store.ranking_joins import rank_by_joins

DOCUMENT_ROWS: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.int32()),
        ("key", pa.string()),
        ("title", pa.string()),
        ("content", pa.uint64()),  # hash of the text as read
        ("sentences", pa.int32()),  # units before any filter
        ("place", pa.int64()),  # record, row or page of the source, from 1
    ]
)

_DATES = [
    ("revision", pa.int64()),  # the first in time that has the sentence, and the last
    ("timestamp", pa.string()),
    ("contributor", pa.string()),
    ("last_revision", pa.int64()),
    ("last_timestamp", pa.string()),
    ("last_contributor", pa.string()),
]
DATES = [name for name, _ in _DATES]
"""What is told of the revisions that have a sentence."""

SEEN: pa.Schema = pa.schema([("document", pa.int32()), ("position", pa.int32()), *_DATES])
"""What of a sentence is known only where its page ends."""


def sentence_rows(tokens: int) -> pa.Schema:
    """One row a sentence that is kept."""
    return pa.schema(
        [
            ("document", pa.int32()),
            ("position", pa.int32()),
            ("hash", pa.uint64()),
            ("text", pa.large_string()),
            ("tokens", pa.list_(pa.int64(), tokens)),
            *_DATES,
        ]
    )


SENTENCES: pa.Schema = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("document", pa.string()),
        ("title", pa.string()),
        ("position", pa.int32()),
        ("text", pa.large_string()),
        ("revision", pa.int64()),
        ("timestamp", pa.string()),
        ("hash", pa.uint64()),
    ]
)

MEMBERSHIPS: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),
        ("cluster", pa.uint64()),  # null for a text that has pairs, all of whose partners are in other stars
        ("kind", pa.string()),  # of the cluster
        ("source", pa.int32()),  # number: sources of one name share one
        ("mark", pa.int32()),  # number of the source's mark: one file
        ("document", pa.int32()),
        ("place", pa.int64()),
        ("position", pa.int32()),
        ("id", pa.string()),
        ("length", pa.int32()),  # characters
    ]
)


@dataclass(frozen=True, slots=True)
class ClusterQuery:
    """Which clusters are asked for."""

    min_size: int = 2
    kind: str | None = None
    document: str | None = None  # with a sentence of the document with this id
    text: str | None = None  # in whose texts all these words stand
    having: str | None = None  # `contradictions` or `copies`: with at least one
    sort: str = "size"  # one of `ORDERS`
    limit: int | None = None
    after: str | None = None  # the id of the cluster behind which to go on
    article: str | None = None  # with a sentence of a document with this id or title
    ids: tuple[str, ...] | None = None  # those with these ids
    brief: bool = False  # of the members, only the first two of the representative's text and of the weakest edge's;
    # beside these: frame, contradictions, contradiction, copies


ALL_CLUSTERS = ClusterQuery()

ORDERS = {
    "size": ("size", "desc"),
    "jaccard": ("min_jaccard", "asc"),
    "confidence": ("kind_confidence", "desc"),
    "contradiction": ("contradiction", "desc"),
    "copies": ("copies", "desc"),
}
"""The field by which each order goes, and its direction; then by id. So: largest first, weakest edge first, surest
kind first, surest contradiction first, most copies first."""

Signatures: TypeAlias = pa.Table | pa.RecordBatchReader

ALL = Part(1, 1)
"""The only part of a reading."""

STANDARD_INPUT = "-"
"""The path of the source that can only be read once: a reading of it is never gone on with, but begun anew."""


@dataclass(slots=True)
class SourceMark:
    """One source in a store: what it is, and how far it has been read."""

    name: str
    path: str
    fingerprint: str
    qualified: bool
    history: bool = False  # read with all revisions
    number: int = -1
    documents: int = 0
    finished: bool = False
    skips: Skips = field(default_factory=Skips)

    def same_as(self, other: SourceMark) -> bool:
        """Whether both name the same file in the same state, read the same way."""
        return (self.name, self.path, self.fingerprint) == (other.name, other.path, other.fingerprint)

    @property
    def timeless(self) -> str:
        """The fingerprint without the time of the file, which differs between copies on several machines."""
        return re.sub(r", changed at [0-9]+", "", self.fingerprint)


@dataclass(frozen=True, slots=True)
class ReadingMark:
    """A reading of sources: their numbers, and that of the first document that it may have brought.

    Of a reading by several machines, also the parts that are still to come to their end, as `--part` names them.
    """

    sources: list[int]
    first: int
    missing: Sequence[str] = ()


class Store(ABC):
    """Where sentences, tokens, pairs and clusters live. Closing is the caller's business (`with`)."""

    address: str
    signing: Signing

    @property
    @abstractmethod
    def generation(self) -> str:
        """The name of what is open here among all generations at this address; empty where there is no other."""

    # -- loading --------------------------------------------------------------------------------------------

    @abstractmethod
    def sources(self) -> list[SourceMark]:
        """Every source ever read into the store, in that order."""

    @abstractmethod
    def begin(self, marks: list[SourceMark], part: Part = ALL) -> int:
        """Start (or go on with) reading `marks`: fills in their numbers; the next document number.

        Of several machines that read them together, each names its part, and counts its numbers in steps of how
        many parts there are.
        """

    @abstractmethod
    def append(self, mark: SourceMark, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        """Add rows (`DOCUMENT_ROWS`, `sentence_rows`, `SEEN`) and the mark's progress, all or nothing."""

    def give_up(self) -> None:  # noqa: B027  (a file has nothing to wait for)
        """Fail soon in whatever another thread is doing here, rather than wait: the caller goes."""

    @abstractmethod
    def settle(self) -> dict[str, int]:
        """End the reading: number repeated ids, drop unchanged documents, replace changed ones.

        Counts of documents `new`, `replaced`, `unchanged`, and `repeated` (an id for the second time); nothing while
        other parts of the reading have not come to their end.
        """

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        """Delete documents, by the ids that results show, with all that hangs on them: how many; and unknown ids."""

    @abstractmethod
    def unfinished_reading(self) -> ReadingMark | None:
        """The reading that has begun and is not settled."""

    @abstractmethod
    def begin_job(self, verb: str, names: Sequence[str] = ()) -> list[str]:
        """Note that a command has begun; the names that the same command, if it was killed, had begun with."""

    @abstractmethod
    def end_job(self) -> None:
        """The command is done."""

    @abstractmethod
    def unfinished_job(self) -> str | None:
        """The command that has begun and is not done."""

    @abstractmethod
    def last_reading(self) -> ReadingMark | None:
        """The reading that was settled last, if nothing was begun or removed since."""

    @abstractmethod
    def publish(self, keep: int = 0) -> None:
        """End the making of a new generation (`fresh`): it takes the place of the old one. The store is closed.

        On a server, the newest `keep` of the older ones stay, under no alias.
        """

    # -- scanning -------------------------------------------------------------------------------------------

    @abstractmethod
    def signatures(self, across: str, done: Collection[int] = ()) -> Iterator[tuple[int, Signatures]]:
        """One row a sentence, of `esdedup.matching.scan.signatures_schema`, in numbered slices but those `done`.

        The slices are the same as long as what is stored is.
        """

    @abstractmethod
    def signatures_of(self, across: str, hashes: pa.Table) -> pa.Table:
        """The rows of `signatures` for the texts in column `hash`."""

    @abstractmethod
    def texts(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        """Rows (hash, text) for a table with column `hash`: each once, in any order."""

    def rank(self, scratch: Database, top: int) -> None:
        """Fill the table `ranked` of `scratch` from its table `records`, as `esdedup.store.ranking_joins` says."""
        rank_by_joins(scratch, top)

    @abstractmethod
    def replace_results(
        self, pairs: Iterator[pa.RecordBatch], clusters: Clusters, summary: dict[str, Any], judge: Judge | None = None
    ) -> None:
        """Put the results of a scan in the place of the old ones, all or nothing.

        Pairs have columns a, b (content hashes), jaccard, word_edit_distance, shared_tokens. Without a judge, clusters
        have no kind.
        """

    @abstractmethod
    def state(self) -> str:
        """A name for what is stored now, which changes with every document that comes or goes."""

    # -- bringing results up to date ------------------------------------------------------------------------

    @abstractmethod
    def changed_texts(self) -> pa.Table | None:
        """Texts whose sentences have changed since the last scan: hash, existed (then), exists (now), tokens.

        None where there was no scan, or where so much has changed that scanning again is quicker.
        """

    @abstractmethod
    def sharing(self, tokens: pa.Table) -> pa.Table:
        """Who holds the tokens of a table with column `token`: rows (token, hash), each once."""

    @abstractmethod
    def hanging_together(self, hashes: pa.Table) -> tuple[pa.Table, pa.Table]:
        """All texts that pairs and clusters tie to those in column `hash`, themselves included, and their pairs."""

    @abstractmethod
    def merge_results(
        self,
        outdated: pa.Table,
        pairs: pa.Table,
        affected: pa.Table,
        clusters: Clusters,
        summary: dict[str, Any],
        judge: Judge | None = None,
    ) -> None:
        """Replace the pairs of the texts `outdated` and the clusters of the texts `affected`, all or nothing.

        `affected` holds all texts of each cluster that it touches.
        """

    @abstractmethod
    def first_rows(self, hashes: pa.Table) -> pa.Table:
        """Of each text, its first sentence in the order of reading: hash, document, position, length (characters)."""

    # -- reading --------------------------------------------------------------------------------------------

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Counts of documents, sentences_read, sentences_kept and, where that is known, distinct_sentences."""

    @abstractmethod
    def last_scan(self) -> dict[str, Any] | None:
        """What was told of the last scan, and its counts of pairs and clusters; None without one.

        `current` says whether nothing has changed since.
        """

    @abstractmethod
    def last_scanning(self) -> dict[str, Any] | None:
        """The options of the last scan, as told with its results; quicker than `last_scan`."""

    @abstractmethod
    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        """The pairs as the contract names them: a, b (sentence ids, a < b), jaccard, …, by (a, b)."""

    @abstractmethod
    def cluster_rows(self, wanted: ClusterQuery = ALL_CLUSTERS) -> Iterator[dict[str, Any]]:
        """Clusters with their members, in the contract's fields and the order that is wanted."""

    @abstractmethod
    def kinds(self) -> dict[str, int]:
        """How many clusters there are of each kind, without what is ignored."""

    @abstractmethod
    def cluster_sizes(self, kind: str | None = None) -> dict[int, int]:
        """How many clusters there are of each size, or of one kind only, without what is ignored; by size."""

    # -- questions ------------------------------------------------------------------------------------------

    @abstractmethod
    def sentences_sharing(self, tokens: Sequence[int], most: int | None = None) -> pa.Table:
        """Sentences that hold one of the tokens, of `SENTENCES`: all, or the `most` that hold most of them."""

    @abstractmethod
    def sentences_starting(self, prefix: str, limit: int) -> pa.Table:
        """Sentences that begin with `prefix`, which is case-folded: the first `limit` by (text, id), of `SENTENCES`."""

    @abstractmethod
    def sentences_named(self, ids: Sequence[str]) -> pa.Table:
        """The sentences with these ids, of `SENTENCES`, in any order; ids that nothing has are passed over."""

    def sentence(self, identity: str) -> dict[str, Any] | None:
        """The sentence with this id, as a row of `SENTENCES`."""
        rows: list[dict[str, Any]] = self.sentences_named([identity]).to_pylist()
        return rows[0] if rows else None

    @abstractmethod
    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """Sentences of documents from number `first` on that match another one: how many, and the first `limit`.

        Rows id, text, match (an identical sentence, else the most similar one), match_text, jaccard; by document
        and position.
        """

    @abstractmethod
    def memberships(self) -> Iterator[pa.RecordBatch]:
        """Every sentence of a text that has pairs or copies, unless its cluster is ignored, of `MEMBERSHIPS`."""

    @abstractmethod
    def pair_hashes(self, among: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
        """Rows (a, b, jaccard, shared_tokens): the texts of each pair, or only `among` the few in column `hash`."""

    @abstractmethod
    def trees(self, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        """Clusters with a copy from page to page: `cluster` (id), `copies` and `members` in the order of time.

        Members that have a time: id, title, text, timestamp, contributor, parent (id of the most similar sentence
        that is known to have stood before, or null), jaccard, edits (words that differ from it), copied (whether that
        stands in another page).
        """

    @abstractmethod
    def copiers(self) -> tuple[dict[str | None, int], int]:
        """How many copies from page to page each contributor has added; and sentences of clusters without a time."""

    @abstractmethod
    def homes(self, by: str) -> Iterator[pa.RecordBatch]:
        """Rows (home, id, title, sentences): each of the `documents` or `sources`, and the sentences that it has."""

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
