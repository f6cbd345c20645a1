"""What a store holds: documents, their sentences, and the tokens of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.formats.reading_options import Part
from esdedup.matching.signing import Signing
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.ranking_joins import rank_by_joins

Signatures: TypeAlias = pa.Table | pa.RecordBatchReader

ALL = Part(1, 1)
"""The only part of a reading."""

DUMPS: pa.Schema = pa.schema([("source", pa.int32()), ("as_of", pa.string())])
"""Sources whose sentences have times, and the time of the last edit in each."""

PAGES: pa.Schema = pa.schema([("source", pa.int32()), ("title", pa.string())])
"""Which sources have a page with a title."""


@dataclass(frozen=True, slots=True)
class SentenceQuery:
    """Which sentences are asked for, by one of the first three."""

    ids: Sequence[str] | None = None  # in any order; ids that no sentence has are passed over
    tokens: Sequence[int] | None = None  # those that hold one of them
    start: str | None = None  # those that begin so, in case-folded text; by (text, id)
    limit: int | None = None  # of those with tokens, the ones that hold most of them; of those with a start, the first


class Corpus(ABC):
    """Documents, sentences and tokens of one store. Tables cross as Arrow columns."""

    signing: Signing

    # -- loading --------------------------------------------------------------------------------------------

    @abstractmethod
    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        """Start (or go on with) reading `checkpoints`: fills in their numbers and progress; the next document number.

        Of several machines that read them together, each names its part, and counts its numbers in steps of how
        many parts there are.
        """

    @abstractmethod
    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        """Add rows (`DOCUMENT_ROWS`, `sentence_rows`, `SEEN`) and the checkpoint's progress, all or nothing."""

    def give_up(self) -> None:  # noqa: B027  (a file has nothing to wait for)
        """Fail soon in whatever another thread is doing here, rather than wait: the caller goes."""

    @abstractmethod
    def commit(self) -> dict[str, int]:
        """End the reading: number repeated ids, drop unchanged documents, replace changed ones.

        Counts of documents `new`, `replaced`, `unchanged`, and `repeated` (an id for the second time); nothing while
        other parts of the reading have not come to their end.
        """

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        """Delete documents, by the ids that results show, with all that hangs on them: how many; and unknown ids."""

    # -- scanning -------------------------------------------------------------------------------------------

    @abstractmethod
    def signatures(
        self, across: str, done: Collection[int] = (), of: pa.Table | None = None
    ) -> Iterator[tuple[int, Signatures]]:
        """One row a sentence, of `esdedup.matching.scan.signatures_schema`, in numbered slices but those `done`.

        The slices are the same as long as what is stored is. Or only the sentences `of` the texts in column `hash`.
        """

    def signatures_of(self, across: str, hashes: pa.Table) -> pa.Table:
        """The rows of `signatures` for the texts in column `hash`, as one table."""
        slices = (rows for _, rows in self.signatures(across, of=hashes))
        return pa.concat_tables(rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows for rows in slices)

    @abstractmethod
    def texts(self, hashes: pa.Table, *, first: bool = False) -> Iterator[pa.RecordBatch]:
        """Rows (hash, text) for a table with column `hash`: each once, in any order.

        With `first`, also the document and position of the text's first sentence in the order of reading.
        """

    def rank(self, scratch: Database, top: int) -> None:
        """Fill the table `ranked` of `scratch` from its table `records`, as `esdedup.store.ranking_joins` says."""
        rank_by_joins(scratch, top)

    # -- bringing results up to date ------------------------------------------------------------------------

    @abstractmethod
    def changes(self) -> int:
        """How many texts are known to have changed since the last scan."""

    @abstractmethod
    def changed_texts(self) -> pa.Table | None:
        """Texts whose sentences have changed since the last scan: hash, existed (then), exists (now), tokens.

        None where there was no scan, or where so much has changed that scanning again is quicker.
        """

    @abstractmethod
    def holders(self, tokens: pa.Table) -> pa.Table:
        """Who holds the tokens of a table with column `token`: rows (token, hash), each once."""

    # -- questions ------------------------------------------------------------------------------------------

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Counts of documents, sentences_read, sentences_kept and, where that is known, distinct_sentences."""

    @abstractmethod
    def sentences(self, query: SentenceQuery) -> pa.Table:
        """The sentences that are asked for, of `SENTENCES`."""

    def sentence(self, identity: str) -> dict[str, Any] | None:
        """The sentence with this id, as a row of `SENTENCES`."""
        rows: list[dict[str, Any]] = self.sentences(SentenceQuery(ids=[identity])).to_pylist()
        return rows[0] if rows else None

    @abstractmethod
    def groups(self, by: str) -> Iterator[pa.RecordBatch]:
        """Rows (group_id, id, title, sentences): each of the `documents` or `sources`, with its number of sentences."""

    @abstractmethod
    def dumps(self) -> pa.Table:
        """All sources with times, of `DUMPS`."""

    @abstractmethod
    def pages(self, titles: pa.Table) -> pa.Table:
        """Which sources have pages with the titles in column `title`, of `PAGES`."""
