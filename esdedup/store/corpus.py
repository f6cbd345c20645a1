"""The contents of a store: documents, their sentences, and the tokens of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from esdedup.formats.reading_options import Part

if TYPE_CHECKING:
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes
    from esdedup.lookup.grams import Grams
    from esdedup.lookup.search import Found
    from esdedup.matching.engine import Elsewhere
    from esdedup.matching.signing import Signing
    from esdedup.store.ledger import SourceCheckpoint

Signatures: TypeAlias = pa.Table | pa.RecordBatchReader

ALL = Part(1, 1)
"""The only part of a run."""

DUMPS: pa.Schema = pa.schema([("source", pa.int32()), ("as_of", pa.string())])
"""Sources with dated sentences, and the time of the last edit in each."""

PAGES: pa.Schema = pa.schema([("source", pa.int32()), ("title", pa.string())])
"""Sources that have a page with a given title."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which sentences to look at: of one language, one source, one document. None stands for all."""

    language: str | None = None
    source: str | None = None
    document: str | None = None

    @property
    def chosen(self) -> dict[str, str]:
        """Those that are set, by the name of their column in `SENTENCES`."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}


EVERYTHING = Filters()


@dataclass(frozen=True, slots=True)
class SentenceQuery:
    """A query for sentences, by one of the first two fields."""

    ids: Sequence[str] | None = None  # in any order; unknown ids are ignored
    hashes: Sequence[int] | None = None  # of texts: in this order, and those of one text in reading order
    texts: Mapping[int, str] = field(default_factory=dict)  # by hash, all or none: what who asks has need not be read
    most: int | None = None  # with hashes: of each text at most so many
    filters: Filters = EVERYTHING  # with hashes


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the lookup: which texts are similar to another one, or complete it?

    `form` is its search form. If it is `half` typed, its last word may go on. `text` is the other one itself, if it is
    to be found in any case: where very many texts share as much with it, it could be left out. Texts that are left out
    need not be `counted`, which takes a server longer than to find the others.
    """

    form: str
    half: bool = False
    filters: Filters = EVERYTHING
    text: str | None = None
    counted: bool = True

    @property
    def grams(self) -> Grams:
        """What it is looked up by."""
        from esdedup.columns.arrays import text_column
        from esdedup.lookup.grams import grams_of

        return grams_of(text_column([self.form]), half=self.half)[0]


COPIES: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),
        ("document", pa.int32()),
        ("position", pa.int32()),
        ("file", pa.int32()),  # number of its checkpoint in the ledger
        ("place", pa.int64()),  # number of its record in the file
    ]
)
"""Sentences, and where they stand."""

PLACES: pa.Schema = pa.schema([("hash", pa.uint64()), ("sentences", pa.int64()), ("documents", pa.int64())])
"""Texts, and in how many sentences and documents they stand."""


class Intake(ABC):
    """Takes in what is read from sources. Tables are passed as Arrow tables."""

    signing: Signing
    lookup = True
    """Whether what is read will be searched, so that what the lookup needs is written at once."""

    complete = False
    """Whether what is read are whole exports of wikis, so that pages which are not in them are deleted."""

    @abstractmethod
    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        """Start or continue reading `checkpoints`, and fill in their numbers and progress. Return the next document
        number.

        If several machines read together, each passes its part, and increments its numbers by the number of parts.
        """

    @abstractmethod
    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        """Add rows (`DOCUMENT_ROWS`, `SENTENCE_ROWS`, `SEEN`) and save the checkpoint's progress, all or nothing."""

    def known_documents(self, checkpoint: SourceCheckpoint) -> tuple[Iterator[pa.RecordBatch], pa.Array] | None:
        """Return the documents of a source that were stored before this run, as `KNOWN`, and the keys of those that it
        has read; None if all have to be read as if they were new.
        """
        del checkpoint
        return None

    def room(self) -> tuple[int, int] | None:
        """Return how many bytes the store takes on this machine's disk, and how many are free there; None elsewhere."""
        return None

    def require_current(self) -> None:  # noqa: B027  (a file that an earlier version has made is not opened)
        """Raise `StoreVersionError` if sentences cannot be written beside those of an earlier version."""

    def ended(self, records: int) -> None:  # noqa: B027  (only parts of a source need it)
        """Take the number of raw records of a source that was read to its end."""

    def give_up(self) -> None:  # noqa: B027  (a file has nothing to wait for)
        """Make what another thread is doing here fail soon instead of waiting, because the caller is stopping."""

    @abstractmethod
    def commit(self) -> dict[str, int]:
        """Commit the run: number repeated ids, drop unchanged documents, replace changed ones.

        Of several versions of a page of a wiki, the newest revision stays.

        Return the counts of documents `new`, `replaced`, `unchanged` and `repeated` (a second use of an id), and of
        pages that are `gone`: they were read before, and are not in what was read of their wiki now. Return nothing
        while other parts of the run are not complete.
        """


class Corpus(Intake):
    """Documents, sentences and tokens of one store."""

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        """Delete documents by their shown ids, with their sentences. Return the number, and the unknown ids."""

    # -- scanning -------------------------------------------------------------------------------------------

    @abstractmethod
    def signatures(
        self, across: str, done: Collection[int] = (), of: pa.Table | None = None
    ) -> Iterator[tuple[int, Signatures]]:
        """Yield one row for each sentence, of `esdedup.matching.engine.SIGNATURES`, in numbered slices except
        those in `done`.

        The slices stay the same while the store is unchanged. With `of`, yield only the sentences of the texts in its
        column `hash`.
        """

    def signatures_of(self, across: str, hashes: pa.Table) -> pa.Table:
        """Return the rows of `signatures` for the texts in column `hash`, as one table."""
        slices = (rows for _, rows in self.signatures(across, of=hashes))
        return pa.concat_tables(rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows for rows in slices)

    @abstractmethod
    def texts(self, hashes: pa.Table, *, first: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield rows (hash, text) for a table with column `hash`: each text once, in any order.

        With `first`, also return the document and position of the text's first sentence in reading order.
        """

    def texts_in_order(self, hashes: Hashes) -> pa.LargeStringArray:
        """Return the texts with these hashes, which are sorted and all there, in this order."""
        from esdedup.columns.arrays import text_column

        read = list(self.texts(pa.table({"hash": hashes})))
        if not read:
            return text_column([])
        return pa.Table.from_batches(read).sort_by("hash")["text"].cast(pa.large_string()).combine_chunks()

    def texts_of(self, hashes: Hashes) -> pa.LargeStringArray:
        """Return the texts with these hashes, which may be in any order and repeated, in this order."""
        distinct, places = np.unique(hashes, return_inverse=True)
        return self.texts_in_order(distinct).take(pa.array(places))

    @abstractmethod
    def copies(self, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield every sentence with one of the texts in column `hash`, as `COPIES`, in any order."""

    def sample(self, count: int) -> Hashes:
        """Return the smallest content hashes, which are as good as a random sample."""
        least: Hashes = np.empty(0, np.uint64)
        for _, rows in self.signatures("any"):
            for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
                hashes = batch["hash"].to_numpy()
                low = hashes if len(least) < count else hashes[hashes < least[-1]]
                least = np.union1d(least, low)[:count]
        return least

    def elsewhere(self, across: str) -> Elsewhere | None:
        """Return how other machines read what `signatures` and `texts` return; None if only this process can."""
        del across
        return None

    def rank(self, scratch: Database, top: int) -> None:
        """Fill the table `ranked` of `scratch` from its table `records`; see `esdedup.store.ranking_joins`."""
        from esdedup.store.ranking_joins import rank_by_joins

        rank_by_joins(scratch, top)

    # -- updating results -----------------------------------------------------------------------------------

    @abstractmethod
    def changes(self) -> int:
        """Return how many texts are known to have changed since the last scan."""

    @abstractmethod
    def changed_texts(self) -> pa.Table | None:
        """Return the texts whose sentences changed since the last scan: hash, existed (then), exists (now), tokens.

        Return None if there was no scan, or if so much has changed that a full scan is faster.
        """

    @abstractmethod
    def holders(self, tokens: pa.Table) -> pa.Table:
        """Return the texts with the tokens of a table with column `token`: rows (token, hash), each once."""

    # -- queries --------------------------------------------------------------------------------------------

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Return counts of documents, sentences_read, sentences_kept and, if known, distinct_sentences."""

    @abstractmethod
    def has_lookup(self) -> bool:
        """Whether a lookup was made once, which may be behind."""

    @abstractmethod
    def lookup_behind(self) -> int:
        """Return how many texts the lookup must take in before it can be asked; 0 if it is up to date."""

    @abstractmethod
    def make_lookup(self, threads: int, follow: Callable[[int], None]) -> None:
        """Bring the lookup up to date. `follow` gets the number of texts done."""

    @abstractmethod
    def alike(self, question: Question, most: int, enough: float) -> Found:
        """Return the texts that share most with a question: those with `enough` of its weight, and in any case the
        best ones, but at most `most`; and in addition the text of the question, if it has one. Those that are left out
        need not be counted for a half typed question, and for one that says so: then `left_out` is 1 or more.
        """

    def itself(self, text: str, filters: Filters) -> Found:
        """Return a text if it is stored."""
        from esdedup.columns.arrays import text_buffers, text_column
        from esdedup.columns.hashing import content_hashes
        from esdedup.lookup.search import NOTHING, Found

        column = text_column([text])
        own = content_hashes(*text_buffers(column))
        return Found(own, column) if any(self.places(own, filters)["sentences"].to_pylist()) else NOTHING

    @abstractmethod
    def beginning(self, question: Question, most: int) -> Found:
        """Return the first `most` texts whose search form begins with the question, apart from spaces, in the order of
        these forms.
        """

    @abstractmethod
    def has_document(self, identity: str) -> bool:
        """Whether a document with this id has sentences."""

    @abstractmethod
    def places(self, hashes: Hashes, filters: Filters) -> pa.Table:
        """Return in how many sentences and documents texts stand, as `PLACES`, in any order."""

    @abstractmethod
    def sentences(self, query: SentenceQuery) -> pa.Table:
        """Return the sentences of a query, as `SENTENCES`."""

    def standing(self, query: SentenceQuery) -> tuple[pa.Table, pa.Table]:
        """Return where texts stand, which are given by hash: their sentences, as `sentences`, and `places`."""
        return self.sentences(query), self.places(np.array(query.hashes, np.uint64), query.filters)

    def sentence(self, identity: str) -> dict[str, Any] | None:
        """Return the sentence with this id, as a row of `SENTENCES`."""
        rows: list[dict[str, Any]] = self.sentences(SentenceQuery(ids=[identity])).to_pylist()
        return rows[0] if rows else None

    @abstractmethod
    def groups(self, by: str) -> Iterator[pa.RecordBatch]:
        """Yield rows (group_id, id, title, sentences): the `documents` or `sources` with their number of sentences."""

    @abstractmethod
    def languages(self) -> dict[str, int]:
        """Return the number of sentences in each language, by its code, the most frequent first."""

    @abstractmethod
    def dumps(self) -> pa.Table:
        """Return all sources with times, as `DUMPS`."""

    @abstractmethod
    def pages(self, titles: pa.Table) -> pa.Table:
        """Return the sources that have pages with the titles in column `title`, as `PAGES`."""
