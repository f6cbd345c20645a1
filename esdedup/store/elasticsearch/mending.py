"""Find what others have changed in the corpus since esdedup last wrote it, and make it good.

What others have written is found by its sequence number, shard by shard: only what came since our last write is read.
If an index was made again or restored, all of it is read once. Each of these sentences is signed from its text, and is
written again if anything of it differs.

The document of a sentence with another text counts as changed, so that reading its source again brings back the
source's text. The same holds for documents of which sentences were deleted. A document that was deleted is made again
from its sentences.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa

from esdedup.columns.arrays import table_of_rows
from esdedup.errors import StoreError
from esdedup.store.elasticsearch.bulk import Bulk, delete, put
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.ledger import ServerLedger
from esdedup.store.elasticsearch.reading import Fields, Hits, integers
from esdedup.store.elasticsearch.rebuilding import remade_documents
from esdedup.store.elasticsearch.resigning import number_of, sign_again
from esdedup.store.elasticsearch.rows import CHANGED, NAMED, OURS, POSITION_BITS

log = logging.getLogger("esdedup")

UNSIGNED = {"bool": {"must_not": [{"exists": {"field": "tokens"}}]}}
STRANGE = {"bool": {"must_not": [OURS]}}


_COUNTED: pa.Schema = pa.schema([("number", pa.int64()), ("kept", pa.int64())])


def sentence_counts(opened: OpenGeneration) -> tuple[int, int]:
    """Return how many sentences the documents have, and how many are stored."""
    body = {"size": 0, "track_total_hits": False, "aggs": {"kept": {"sum": {"field": "kept"}}}}
    answer = opened.reader.search(opened.names["documents"], body)
    return int(answer["aggregations"]["kept"]["value"]), opened.reader.count(opened.names["sentences"])


class _Mended(NamedTuple):
    """What was made good: sentences with another text, with the same one, without a comparable one; deleted ones; and
    documents that were made again.
    """

    changed: int = 0
    unsigned: int = 0
    unfit: int = 0
    deleted: int = 0
    remade: int = 0

    def __add__(self, other: Any) -> _Mended:
        return _Mended(*(one + two for one, two in zip(self, other, strict=True)))


class Mender:
    """Watches the indices of the open generation."""

    def __init__(self, opened: OpenGeneration, ledger: ServerLedger) -> None:
        self._open = opened
        self._ledger = ledger

    @property
    def _index(self) -> str:
        return self._open.names["sentences"]

    @property
    def _documents(self) -> str:
        return self._open.names["documents"]

    def remember(self) -> None:
        """Save how far the indices are written, after a write of ours."""
        self._ledger.set(watched=self._watched())

    def _watched(self) -> dict[str, Any]:
        uuids = [self._open.indices.uuid(index) for index in (self._index, self._documents)]
        return {"indices": uuids, "marks": self._open.reader.marks(self._index)}

    def mend(self) -> None:
        """Make good what others have changed before the store was opened for writing."""
        self._open.indices.refresh(self._index, self._documents)
        if self._is_reading():
            _say(self._sign(self._unsigned()), self._open.address)
            return
        before = self._ledger.get("watched")
        if self._mend() or before != self._watched():
            self.remember()

    def mend_if_changed(self) -> None:
        """Make good what others have changed since then."""
        if not self.is_ours():
            self.mend()

    def is_ours(self) -> bool:
        """Whether nobody else has written since our last write, as far as can be known."""
        return not self._is_reading() and self._ledger.get("watched") == self._watched()

    def _is_reading(self) -> bool:
        """Whether a run is not finished: then only what cannot be read at all is made good."""
        return self._ledger.unfinished_reading() is not None

    def _mend(self) -> bool:
        """Make good what others have changed. Return whether there was anything."""
        marks = self._marks()
        again = marks is None
        if again and self._ledger.get("watched") is not None:
            log.warning("%s: indices were made again or restored; reading all of them", self._open.address)
        written = self._open.reader.written_since(self._index, marks, NAMED)
        mended = self._sign(chain(self._unsigned(), written))
        kept, stored = sentence_counts(self._open)
        if again or kept != stored:
            missing, remade = self._compare()
            mended = mended._replace(deleted=max(0, missing - mended.unfit), remade=remade)
        _say(mended, self._open.address)
        return any(mended)

    def sign(self, first: int) -> None:
        """Sign again what others have written during a run, whose documents are numbered from `first`."""
        marks = (self._ledger.get("watched") or {}).get("marks")
        older = {"range": {"number": {"lt": first << POSITION_BITS}}}
        pages = self._open.reader.written_since(self._index, marks, NAMED, older) if first else iter(())
        _say(self._sign(chain(self._unsigned(), pages)), self._open.address)

    def unsigned(self) -> int:
        """Return the number of sentences that were written again outside esdedup.

        Raise `StoreError` if there are documents that are no sentences.
        """
        body = {
            "size": 1,
            "query": STRANGE,
            "aggs": {"all": {"global": {}, "aggs": {"unsigned": {"filter": UNSIGNED}}}},
        }
        answer = self._open.reader.search(self._index, body)
        others = self._open.reader.search(self._documents, {"size": 1, "query": STRANGE})
        for index, found in ((self._index, answer), (self._documents, others)):
            for hit in found["hits"]["hits"]:
                raise self._strange(index, hit)
        return int(answer["aggregations"]["all"]["unsigned"]["doc_count"])

    # -- finding --------------------------------------------------------------------------------------------

    def _unsigned(self) -> Iterator[Hits]:
        if self.unsigned():
            yield from self._open.reader.read_all(self._index, NAMED, UNSIGNED)

    def of_others(self) -> Iterator[Hits]:
        """Yield what others may have written: what came since our last write, or all if that cannot be told. During a
        run, this would be our own, and nothing is read.
        """
        if not self._is_reading():
            yield from self._open.reader.written_since(self._index, self._marks(), NAMED)

    def _marks(self) -> list[int] | None:
        """Return the sequence numbers of our last write, shard by shard; None if the indices are others since."""
        before = self._ledger.get("watched")
        return None if before is None or _is_another(before, self._watched()) else before["marks"]

    # -- signing --------------------------------------------------------------------------------------------

    def _sign(self, pages: Iterator[Hits]) -> _Mended:
        mended = _Mended()
        for hits in pages:
            if hits:
                mended += self._sign_page(hits)
        return mended

    def _sign_page(self, hits: Hits) -> _Mended:
        """Write sentences again that are not stored as they must be, and delete those without a comparable text."""
        for hit in hits:
            if number_of(hit) is None:
                raise self._strange(self._index, hit)
        again = sign_again(hits, self._open.signing)
        wrong = np.setdiff1d(np.flatnonzero(again.wrong), again.unfit)
        if not len(wrong) and not len(again.unfit):
            return _Mended()
        self._open.require_current()
        names = [hit["_id"] for hit in hits]
        self._mark_changed(int(names[at]) >> POSITION_BITS for at in (*again.changed, *again.unfit))
        with Bulk(self._open.connection, self._index) as bulk:
            bulk.add(delete(names[at]) for at in again.unfit)
        with Bulk(self._open.connection, self._index) as bulk:
            bulk.add(put(names[at], again.documents[at]) for at in wrong)
        self._open.indices.refresh(self._index)
        return _Mended(len(again.changed), len(wrong) - len(again.changed), len(again.unfit))

    def _strange(self, index: str, hit: dict[str, Any]) -> StoreError:
        return StoreError(
            f"{self._open.address}: {index} has a document that esdedup did not write "
            f"(id {hit['_id'][:80]!r}); delete it, or run esdedup doctor --repair "
            f"--store {self._open.address}"
        )

    # -- documents ------------------------------------------------------------------------------------------

    def _compare(self) -> tuple[int, int]:
        """Mark documents with fewer sentences than they had as changed, and make those that are gone again.

        Return how many sentences are missing, and how many documents were made.
        """
        with self._open.private() as db:  # there may be very many documents
            db.execute("CREATE TABLE held (number BIGINT); CREATE TABLE counted (number BIGINT, kept BIGINT)")
            for hits in self._open.reader.read_all(self._index, Fields(columns=("document_number",))):
                db.insert("held", pa.table({"number": integers(hits, "document_number")}))
            for hits in self._open.reader.read_all(self._documents, Fields(columns=("number", "kept"))):
                rows = [(hit["fields"]["number"][0], hit["fields"].get("kept", [0])[0]) for hit in hits]
                db.insert("counted", table_of_rows(rows, _COUNTED))
            db.execute("CREATE TABLE stored AS SELECT number, count(*) AS sentences FROM held GROUP BY number")
            other = db.rows(
                "SELECT number, kept, coalesce(sentences, 0) FROM counted LEFT JOIN stored USING (number) "
                "WHERE kept <> coalesce(sentences, 0)"
            )
            lost = db.arrays("SELECT number FROM stored ANTI JOIN counted USING (number) ORDER BY number")["number"]
        self._make_again(lost.tolist())
        self._mark_changed((number for number, _, _ in other), {number: stored for number, _, stored in other})
        return sum(max(0, kept - stored) for _, kept, stored in other), len(lost)

    def _make_again(self, numbers: list[int]) -> None:
        if not numbers:
            return
        made = remade_documents(self._open.reader, self._index, numbers, self._open.signing.unit)
        sources: set[int] = set()
        with Bulk(self._open.connection, self._documents) as bulk:
            for row in made:
                sources.add(row["source_number"])
                bulk.add([put(str(row["number"]), orjson.dumps(row))])
        self._ledger.reopen(sources)
        self._open.indices.refresh(self._documents)

    def _mark_changed(self, numbers: Iterable[int], held: Mapping[int, int] | None = None) -> None:
        """Make documents differ from what is read next of their sources, and have these read again."""
        asked = sorted(set(numbers))
        if not asked:
            return
        pages = list(self._open.reader.look_up(self._documents, "number", asked, Fields(source=True)))
        rows = [hit["_source"] for hits in pages for hit in hits]
        kept = {} if held is None else {number: {"kept": held.get(number, 0)} for number in asked}
        sources = {row["source_number"] for row in rows}
        # first, because the changes are not found again once their sentences are signed
        self._ledger.reopen(sources)
        with Bulk(self._open.connection, self._documents) as bulk:
            bulk.add(
                put(str(row["number"]), orjson.dumps(row | {"content": CHANGED} | kept.get(row["number"], {})))
                for row in rows
            )
        self._open.indices.refresh(self._documents)


def _say(mended: _Mended, address: str) -> None:
    signed_again = mended.changed + mended.unsigned
    if signed_again:
        log.warning("%s: re-signed %s sentences changed outside esdedup", address, f"{signed_again:,}")
    if mended.changed:
        log.warning(
            "%s: %s of them have another text; index their source again to bring back its text", address,
            f"{mended.changed:,}",
        )  # fmt: skip
    if mended.unfit:
        log.warning(
            "%s: removed %s sentences whose text was changed outside esdedup and has a length that is not compared",
            address, f"{mended.unfit:,}",
        )  # fmt: skip
    if mended.remade:
        log.warning(
            "%s: %s documents were deleted outside esdedup and made again from their sentences; index their source "
            "again to compare them with it", address, f"{mended.remade:,}",
        )  # fmt: skip
    if mended.deleted:
        log.warning(
            "%s: %s sentences were deleted outside esdedup; index their source again to bring them back", address,
            f"{mended.deleted:,}",
        )  # fmt: skip


def _is_another(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether indices were made again or restored since they were watched."""
    then, marks = before["marks"], now["marks"]
    if before["indices"] != now["indices"]:
        return True
    return len(then) != len(marks) or any(last < mark for mark, last in zip(then, marks, strict=True))
