"""Convert prepared batches to rows for the store: numbers, positions, first and last revisions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Hashes
from esdedup.errors import StoreError
from esdedup.jobs.known_documents import Unchanged
from esdedup.jobs.prepare import BatchPlan, Prepared
from esdedup.jobs.revision_deltas import RevisionDelta
from esdedup.matching.groups import token_lists
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DOCUMENT_ROWS, SEEN, SENTENCE_ROWS

_FOLD = 0x9E3779B97F4A7C15
_TOLD_OF_REVISIONS = ("revision", "timestamp", "contributor")

_MOST_NUMBERS = 2**31 - 1


@dataclass(slots=True)
class _Page:
    """The page whose revisions are being read, and what is known of its sentences so far."""

    key: str
    title: str | None
    number: int
    place: int
    content: int = 0
    language: str = ""
    hashes: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))  # sorted
    positions: Numbers = field(default_factory=lambda: np.empty(0, np.int64))  # in the order of `hashes`
    first: Numbers = field(
        default_factory=lambda: np.empty(0, np.int64)
    )  # by position: ordinal of the first in the file
    early: Numbers = field(default_factory=lambda: np.empty(0, np.int64))  # by block: ordinal of the first in time
    late: Numbers = field(default_factory=lambda: np.empty(0, np.int64))  # the same for the last
    times: npt.NDArray[np.str_] = field(default_factory=lambda: np.empty(0, "<U20"))  # by ordinal
    # the sentence at places[i][j] is in block within[i][j]
    places: list[Numbers] = field(default_factory=list)
    within: list[Numbers] = field(default_factory=list)
    unparsable: dict[int, str] = field(default_factory=dict)  # blocks, with the reason
    kept: list[Numbers] = field(default_factory=list)  # positions that the store has already
    revisions: list[int | None] = field(default_factory=list)
    timestamps: list[str | None] = field(default_factory=list)
    contributors: list[str | None] = field(default_factory=list)
    short: int = 0
    long: int = 0
    links: bytes | None = None

    @property
    def newest(self) -> int | None:
        """The id of the newest revision: of several at one time, the last in the file."""
        order = np.argsort(self.times, kind="stable")
        return self.revisions[int(order[-1])] if len(order) else None

    def begin(
        self, revisions: Sequence[int | None], timestamps: Sequence[str | None], who: Sequence[str | None]
    ) -> None:
        """Add the columns of the following revisions. Revisions without a time get that of the previous one."""
        self.revisions += revisions
        self.timestamps += timestamps
        self.contributors += who
        before = str(self.times[-1]) if len(self.times) else ""
        times = [before := stamp or before for stamp in timestamps]
        self.times = np.concatenate([self.times, np.array(times, "<U20")])

    def see(self, blocks: Numbers, ordinals: Numbers) -> None:
        """Record that revisions have these blocks. Revisions come in file order, which may not be chronological."""
        room = np.full(max(int(blocks.max(initial=-1)) + 1 - len(self.late), 0), -1)
        self.early, self.late = np.concatenate([self.early, room]), np.concatenate([self.late, room])
        order = np.argsort(self.times[ordinals], kind="stable")
        # if a block is listed more than once, the last assignment stays
        for known, rows, sooner in ((self.early, order[::-1], True), (self.late, order, False)):
            found = np.full(len(known), -1)
            found[blocks[rows]] = ordinals[rows]
            met = np.flatnonzero(found >= 0)
            new, old = found[met], known[met]
            beyond = self.times[new] < self.times[old] if sooner else self.times[new] >= self.times[old]
            taken = (old < 0) | beyond
            known[met[taken]] = new[taken]

    def ends(self) -> tuple[Numbers, Numbers]:
        """Return, by position, the ordinals of the first and last revision in time that have the sentence."""
        order = np.argsort(self.times, kind="stable")
        rank = np.argsort(order)
        first, last = np.full(len(self.first), len(rank) - 1), np.zeros(len(self.first), np.int64)
        if self.places:
            places, within = np.concatenate(self.places), np.concatenate(self.within)
            np.minimum.at(first, places, rank[self.early[within]])
            np.maximum.at(last, places, rank[self.late[within]])
        return order[first], order[last]

    def revision_columns(self, ordinals: Numbers) -> list[pa.Array]:
        """Return revisions, timestamps and contributors by the ordinals of revisions."""
        return [
            pa.array([self.revisions[ordinal] for ordinal in ordinals], pa.int64()),
            pa.array([self.timestamps[ordinal] for ordinal in ordinals], pa.string()),
            pa.array([self.contributors[ordinal] for ordinal in ordinals], pa.string()),
        ]


Rows = tuple[pa.Table, pa.Table, pa.Table]
"""Of `DOCUMENT_ROWS`, `SENTENCE_ROWS` and `SEEN`."""


class _Boundary(NamedTuple):
    """The state after a batch: the number of rows, and how far the source has been read."""

    documents: int
    sentences: int
    seen: int
    checkpoint: SourceCheckpoint


class Assembler:
    """Collects the rows of one source. `take` returns them for the store. Document numbers grow by a fixed step."""

    def __init__(self, checkpoint: SourceCheckpoint, plan: BatchPlan, first_number: int, step: int = 1) -> None:
        self._checkpoint = checkpoint
        self._plan = plan
        self._next = first_number
        self._step = step
        self._page: _Page | None = None
        self._documents: list[pa.RecordBatch] = []
        self._sentences: list[pa.RecordBatch] = []
        self._seen: list[pa.RecordBatch] = []
        self._boundaries = [_Boundary(0, 0, 0, deepcopy(checkpoint))]
        self.pending_bytes = self.pending_rows = self.pending_documents = 0
        self.sentences = 0

    def add(self, batch: pa.RecordBatch, delta: RevisionDelta, prepared: Prepared) -> None:
        """Add a batch, its revision delta, and the prepared units, in reading order."""
        self.pending_bytes += prepared.texts.nbytes + prepared.tokens.nbytes
        self.pending_rows += len(prepared.texts)
        self.pending_documents += batch.num_rows
        if self._next + self._step * batch.num_rows > _MOST_NUMBERS:
            raise StoreError(
                "the store has no numbers left for documents: each one that is read takes one of two billion, also if "
                "it is known; index all sources again with --fresh"
            )
        self.sentences += len(prepared.texts)
        if self._plan.merge_revisions:
            self._add_revisions(batch, delta, prepared)
        else:
            self._add_documents(batch, delta, prepared)
        self._boundaries.append(
            _Boundary(_rows(self._documents), _rows(self._sentences), _rows(self._seen), deepcopy(self._checkpoint))
        )

    def finish(self) -> None:
        """End the source, and with it its last page."""
        if self._page is not None:
            self._end_page(self._page)
            self._page = None

    @property
    def next_number(self) -> int:
        """Return the number of the next document."""
        return self._next

    def take(self, row_group: int | None = None) -> tuple[SourceCheckpoint, Rows]:
        """Return rows that were not returned before: documents, sentences, last seen; and the matching checkpoint.

        With `row_group`, return a multiple of this many sentences, and of the other rows those of whole batches.
        Sentences may be returned before their documents; then the checkpoint does not count them yet.
        """
        rows = (
            pa.Table.from_batches(self._documents, DOCUMENT_ROWS),
            pa.Table.from_batches(self._sentences, SENTENCE_ROWS),
            pa.Table.from_batches(self._seen, SEEN),
        )
        if row_group is None:
            end = _Boundary(rows[0].num_rows, rows[1].num_rows, rows[2].num_rows, self._checkpoint)
            sentences = end.sentences
        else:
            sentences = self.pending_rows // row_group * row_group
            end = [boundary for boundary in self._boundaries if boundary.sentences <= sentences][-1]
        cuts = (end.documents, sentences, end.seen)
        taken = tuple(table.slice(0, cut) for table, cut in zip(rows, cuts, strict=True))
        rest = [table.slice(cut) for table, cut in zip(rows, cuts, strict=True)]
        self._documents, self._sentences, self._seen = (table.to_batches() for table in rest)
        self.pending_bytes, self.pending_rows, self.pending_documents = (
            rest[1].nbytes,
            rest[1].num_rows,
            rest[0].num_rows,
        )
        later = [boundary for boundary in self._boundaries if boundary.sentences > sentences]
        self._boundaries = [_Boundary(0, 0, 0, deepcopy(end.checkpoint))] + [
            _Boundary(
                batch_end.documents - cuts[0],
                batch_end.sentences - cuts[1],
                batch_end.seen - cuts[2],
                batch_end.checkpoint,
            )
            for batch_end in later
        ]
        return end.checkpoint, (taken[0], taken[1], taken[2])

    # -- documents with one text ----------------------------------------------------------------------------

    def _add_documents(self, batch: pa.RecordBatch, delta: RevisionDelta, prepared: Prepared) -> None:
        for row, reason in prepared.unparsable:
            self._skip_unparsable(batch, row, reason)
        rows = batch.num_rows
        numbers = self._next + self._step * np.arange(rows)
        self._next += self._step * rows
        self._checkpoint.documents += rows
        units = np.bincount(prepared.text, minlength=rows)
        short = np.bincount(prepared.text[prepared.short], minlength=rows)
        languages = pa.array(prepared.languages, pa.string())
        if delta.unchanged is not None:
            self._add_unchanged(batch, numbers, delta.unchanged, units, short)
        self._documents.append(
            self._document_rows(
                numbers,
                batch["id"],
                batch["title"],
                delta.contents,
                units.astype(np.int32),
                batch["place"],
                languages,
                short.astype(np.int32),
                batch["revision"],
                delta.links,
            )
        )
        self._count(int(prepared.short.sum()), int(prepared.long.sum()))
        at = prepared.text[prepared.kept]
        taken = pa.array(at)
        when = [batch[name].take(taken) for name in _TOLD_OF_REVISIONS]
        self._append_sentences(
            numbers[at], prepared.positions[prepared.kept], prepared, np.ones(len(at), np.bool_), when
        )

    def _add_unchanged(
        self, batch: pa.RecordBatch, numbers: Numbers, known: Unchanged, units: Numbers, short: Numbers
    ) -> None:
        """Count the units of rows that the store has. Their revision stands at a place where no sentence is."""
        units[known.rows], short[known.rows] = known.units, known.short
        self._count(int(known.short.sum()), int(known.long.sum()))
        own = batch.filter(pa.array(known.rows))
        when = [own[name] for name in _TOLD_OF_REVISIONS]
        places = [numbers[known.rows].astype(np.int32), np.full(own.num_rows, -1, np.int32)]
        self._seen.append(pa.record_batch([*map(pa.array, places), *when, *when], SEEN))

    def _document_rows(
        self, numbers: Numbers, keys: pa.Array, titles: pa.Array, contents: Hashes, units: Numbers, places: pa.Array,
        languages: pa.Array, short: Numbers, revisions: pa.Array, links: pa.Array,
    ) -> pa.RecordBatch:  # fmt: skip
        source = np.full(len(numbers), self._checkpoint.number, np.int32)
        columns = [numbers, source, keys, titles, contents, units, places, languages, short, revisions, links]
        arrays = [
            column if isinstance(column, pa.Array) else pa.array(column, kind)
            for column, kind in zip(columns, DOCUMENT_ROWS.types, strict=True)
        ]
        return pa.record_batch(arrays, DOCUMENT_ROWS)

    def _append_sentences(
        self, documents: Numbers, positions: Numbers, prepared: Prepared, chosen: Flags, when: Sequence[pa.Array]
    ) -> None:
        """Append rows for the kept units that `chosen` marks. The other columns have only the chosen units.

        `when` has their revisions, timestamps and contributors.
        """
        mask = pa.array(chosen)
        arrays = [
            pa.array(documents, pa.int32()),
            pa.array(positions, pa.int32()),
            pa.array(prepared.hash[prepared.kept][chosen]),
            prepared.texts.filter(mask),
            pa.array(prepared.languages, pa.string()).take(pa.array(prepared.text[prepared.kept][chosen])),
            token_lists(prepared.tokens[chosen]),
            *when,
            *when,
        ]
        self._sentences.append(pa.record_batch(arrays, SENTENCE_ROWS))

    def _skip_unparsable(self, batch: pa.RecordBatch, row: int, reason: str) -> None:
        page = batch["title"][row].as_py() or batch["id"][row].as_py()
        self._checkpoint.skips.add("unparsable_page", f"{page}: {reason}")

    def _count(self, short: int, long: int) -> None:
        for reason, count in (("too_short", short), ("too_long", long)):
            if count:
                self._checkpoint.skips.add(reason, count=count)

    # -- pages with many revisions --------------------------------------------------------------------------

    def _add_revisions(self, batch: pa.RecordBatch, delta: RevisionDelta, prepared: Prepared) -> None:
        keys = batch["id"].to_pylist()
        revisions, timestamps, contributors = (batch[name].to_pylist() for name in _TOLD_OF_REVISIONS)
        kept_before = np.concatenate(([0], np.cumsum(prepared.kept)))
        begin = 0
        while begin < len(keys):
            end = begin + 1
            while end < len(keys) and keys[end] == keys[begin]:
                end += 1
            page = self._page
            if page is None or page.key != keys[begin]:
                if page is not None:
                    self._end_page(page)
                place = batch["place"][begin].as_py()
                page = self._page = _Page(keys[begin], batch["title"][begin].as_py(), self._next, place)
                self._next += self._step
            shift = len(page.revisions) - begin  # from a batch row to the ordinal of the page's revision
            page.begin(revisions[begin:end], timestamps[begin:end], contributors[begin:end])
            page.links = delta.links[end - 1].as_py()
            for content in delta.contents[begin:end]:
                page.content = (page.content * _FOLD + int(content)) % 2**64
            texts = np.searchsorted(delta.row, [begin, end])
            for text, reason in prepared.unparsable:
                if texts[0] <= text < texts[1]:
                    page.unparsable[int(delta.number[text])] = reason
            if not page.language and texts[0] < texts[1]:
                page.language = prepared.languages[texts[0]]
            self._see(page, batch, delta, slice(*np.searchsorted(delta.seen_row, [begin, end])), shift)
            self._meet(page, delta, prepared, texts, shift, kept_before)
            begin = end

    def _see(self, page: _Page, batch: pa.RecordBatch, delta: RevisionDelta, part: slice, shift: int) -> None:
        """Record that the following revisions have the blocks in `part` of what was seen."""
        blocks, rows = delta.seen[part], delta.seen_row[part]
        page.see(blocks, rows + shift)
        if page.unparsable:
            for block, row in zip(blocks.tolist(), rows.tolist(), strict=True):
                if block in page.unparsable:
                    self._skip_unparsable(batch, row, page.unparsable[block])

    def _meet(
        self, page: _Page, delta: RevisionDelta, prepared: Prepared, texts: Numbers, shift: int, kept_before: Numbers
    ) -> None:
        """Record which units of the delta between two `texts` are new for `page`, and where each occurs."""
        first, last = np.searchsorted(prepared.text, texts)
        hashes = prepared.hash[first:last]
        at = np.searchsorted(page.hashes, hashes)
        known = np.zeros(len(hashes), np.bool_)
        inside = at < len(page.hashes)
        known[inside] = page.hashes[at[inside]] == hashes[inside]
        new = ~known
        positions = np.empty(len(hashes), np.int64)
        positions[known] = page.positions[at[known]]
        positions[new] = np.arange(len(page.first), len(page.first) + new.sum())
        again = slice(*np.searchsorted(prepared.again_text, texts))
        page.places += [positions, positions[prepared.again_unit[again] - first]]
        page.within += [delta.number[prepared.text[first:last]], delta.number[prepared.again_text[again]]]
        page.first = np.concatenate([page.first, delta.row[prepared.text[first:last][new]] + shift])
        merged = np.concatenate([page.hashes, hashes[new]])
        order = np.argsort(merged, kind="stable")
        page.positions = np.concatenate([page.positions, positions[new]])[order]
        page.hashes = merged[order]
        kept = prepared.kept[first:last]
        page.short += int((prepared.short[first:last] & new).sum())
        page.long += int((prepared.long[first:last] & new).sum())
        chosen = np.zeros(len(prepared.texts), np.bool_)
        chosen[kept_before[first] : kept_before[last]] = new[kept]
        stored = positions[kept & new]
        if len(stored):
            page.kept.append(stored)
            numbers = np.full(len(stored), page.number)
            self._append_sentences(numbers, stored, prepared, chosen, page.revision_columns(page.first[stored]))

    def _end_page(self, page: _Page) -> None:
        self._checkpoint.documents += 1
        self._count(page.short, page.long)
        self._documents.append(
            self._document_rows(
                np.array([page.number], np.int32),
                pa.array([page.key], pa.string()),
                pa.array([page.title], pa.string()),
                np.array([page.content], np.uint64),
                np.array([len(page.first)], np.int32),
                pa.array([page.place], pa.int64()),
                pa.array([page.language or None], pa.string()),
                np.array([page.short], np.int32),
                pa.array([page.newest], pa.int64()),
                pa.array([page.links], pa.binary()),
            )
        )
        kept = np.concatenate(page.kept) if page.kept else np.empty(0, np.int64)
        first, last = page.ends()
        # the dates of the others are already correct
        misdated = kept[(first[kept] != page.first[kept]) | (last[kept] != page.first[kept])]
        rows = [
            pa.array(np.full(len(misdated), page.number, np.int32)),
            pa.array(misdated, pa.int32()),
            *page.revision_columns(first[misdated]),
            *page.revision_columns(last[misdated]),
        ]
        self._seen.append(pa.record_batch(rows, SEEN))


def _rows(batches: Sequence[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in batches)
