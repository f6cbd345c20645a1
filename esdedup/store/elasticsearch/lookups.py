"""Lookups that bringing results up to date is made of: what has changed, who shares tokens, what hangs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers, table_of_rows
from esdedup.columns.hashing import Hashes
from esdedup.store.elasticsearch.reading import Hits, Reader, Wanted, hashes, integers, signed
from esdedup.store.elasticsearch.rows import HASH_MASK, POSITION_BITS, hash_column, in_columns
from esdedup.store.protocol import SourceMark

_HASH = Wanted(fields=("hash",))

_PAIRS: pa.Schema = pa.schema(
    [
        ("a", pa.uint64()),
        ("b", pa.uint64()),
        ("jaccard", pa.float64()),
        ("word_edit_distance", pa.int32()),
        ("shared_tokens", pa.int32()),
    ]
)
_FIRST: pa.Schema = pa.schema(
    [("hash", pa.uint64()), ("document", pa.int64()), ("position", pa.int32()), ("length", pa.int32())]
)

PAIR = Wanted(source=("a_hash", "b_hash", "jaccard", "word_edit_distance", "shared_tokens"))
"""What `pair_table` needs of a hit."""


def pair_table(hits: Hits) -> pa.Table:
    """Pairs by the hashes of their texts."""
    rows = [hit["_source"] for hit in hits]
    columns = [hashes(np.array([row[end] for row in rows], np.int64)) for end in ("a_hash", "b_hash")]
    columns += [pa.array([row[name] for row in rows], _PAIRS.field(name).type) for name in _PAIRS.names[2:]]
    return pa.table(columns, _PAIRS)


def source_homes(marks: Sequence[SourceMark]) -> Numbers:
    """For each source's number, the smallest number of a source of the same name: files of one folder are one home."""
    homes = np.zeros(1 + max((mark.number for mark in marks), default=0), np.int64)
    for mark in marks:
        homes[mark.number] = min(
            other.number for other in marks if (other.name, other.qualified) == (mark.name, mark.qualified)
        )
    return homes


class Lookups:
    """Looks up in the indices `names`."""

    def __init__(self, reader: Reader, names: dict[str, str]) -> None:
        self._reader = reader
        self._names = names

    def changed(self, columns: int) -> pa.Table:
        """Texts whose copies have changed since the last scan, as `Store.changed_texts` has them."""
        wanted = Wanted(fields=("tokens",), source=("hash", "existed"))
        touched = [
            hit
            for hits in self._reader.read_all(self._names["touched"], wanted, {"term": {"renamed": False}})
            for hit in hits
        ]
        held = np.array([hit["fields"]["tokens"] for hit in touched], np.int64).reshape(-1, columns)
        texts = np.array([hit["_source"]["hash"] for hit in touched], np.int64)
        there = self._existing(texts)
        table = pa.table(
            {
                "hash": hashes(texts),
                "existed": pa.array([hit["_source"]["existed"] for hit in touched], pa.bool_()),
                "exists": pa.array(np.isin(texts, there)),
                "tokens": pa.FixedSizeListArray.from_arrays(pa.array(in_columns(held).reshape(-1)), columns),
            }
        )
        return table.sort_by("hash")

    def _existing(self, texts: Numbers) -> Numbers:
        pages = self._reader.first_of_each(self._names["sentences"], "hash", texts, _HASH)
        return np.concatenate([np.empty(0, np.int64), *(integers(hits, "hash") for hits in pages)])

    def sharing(self, tokens: Numbers) -> pa.Table:
        """Rows (token, hash) of all texts that hold one of the tokens."""
        asked = np.unique(tokens)
        wanted = Wanted(fields=("hash", "tokens"))
        found: list[Numbers] = []
        for hits in self._reader.look_up(self._names["sentences"], "tokens", asked, wanted):
            if hits:
                texts, first = np.unique(integers(hits, "hash"), return_index=True)
                held = np.array([hits[at]["fields"]["tokens"] for at in first], np.int64)
                found.append(np.stack([held.reshape(-1), np.repeat(texts, held.shape[1])], axis=1))
        rows = np.concatenate([np.empty((0, 2), np.int64), *found])
        rows = np.unique(rows[np.isin(rows[:, 0], asked)], axis=0)
        return pa.table({"token": rows[:, 0], "hash": hashes(np.ascontiguousarray(rows[:, 1]))})

    def hanging_together(self, texts: Hashes) -> tuple[pa.Table, pa.Table]:
        """All texts that pairs and clusters tie to these, themselves included, and their pairs."""
        net: Hashes = np.unique(texts)
        new = net
        pairs: list[pa.Table] = []
        while len(new):
            found = [*self._cluster_mates(new)]
            for end, other in (("a_hash", "b"), ("b_hash", "a")):
                for hits in self._reader.look_up(self._names["pairs"], end, signed(new), PAIR):
                    pairs.append(pair_table(hits))
                    found.append(pairs[-1][other].to_numpy())
            reached = np.unique(np.concatenate([np.empty(0, np.uint64), *found]))
            new = np.setdiff1d(reached, net)
            net = np.union1d(net, new)
        table = pa.concat_tables([_PAIRS.empty_table(), *pairs])
        return hash_column(net), table.group_by(["a", "b"]).aggregate(
            [(name, "min") for name in _PAIRS.names[2:]]
        ).rename_columns(_PAIRS.names).cast(_PAIRS)

    def pairs(self, among: Hashes | None) -> Iterator[pa.Table]:
        """All pairs, or those of two of the texts `among`."""
        if among is None:
            pages = self._reader.read_all(self._names["pairs"], PAIR)
        else:
            both = {"terms": {"b_hash": signed(among).tolist()}}
            pages = self._reader.look_up(self._names["pairs"], "a_hash", signed(among), PAIR, both)
        return (pair_table(hits) for hits in pages if hits)

    def _cluster_mates(self, texts: Hashes) -> Iterator[Hashes]:
        index, wanted = self._names["members"], Wanted(fields=("cluster_hash",))
        pages = self._reader.first_of_each(index, "hash", signed(texts), wanted)
        clusters = np.unique(
            np.concatenate([np.empty(0, np.int64), *(integers(hits, "cluster_hash") for hits in pages)])
        )
        for hits in self._reader.look_up(index, "cluster_hash", clusters, _HASH):
            yield hashes(integers(hits, "hash"))

    def first_rows(self, texts: Hashes) -> pa.Table:
        """Of each text, its first sentence in the order of reading."""
        wanted = Wanted(fields=("hash", "number"), source=("text", "position"))
        rows: list[tuple[int, int, int, int]] = []
        pages = self._reader.first_of_each(self._names["sentences"], "hash", signed(texts), wanted, sort=["number"])
        for hits in pages:
            for hit in hits:
                number, told = hit["fields"]["number"][0], hit["_source"]
                rows.append(
                    (hit["fields"]["hash"][0] & HASH_MASK, number >> POSITION_BITS, told["position"], len(told["text"]))
                )
        return table_of_rows(rows, _FIRST)

    def of_source(self, number: int, documents: Sequence[int]) -> list[int]:
        """Which of these documents, or at least sentences of theirs, stand there as read from a source."""
        theirs, found = {"term": {"source_number": number}}, np.empty(0, np.int64)
        for kind, field in (("sentences", "document_number"), ("documents", "number")):
            wanted = Wanted(fields=(field,))
            for hits in self._reader.look_up(self._names[kind], field, documents, wanted, theirs):
                found = np.union1d(found, integers(hits, field))
        return found.tolist()

    def copiers(self) -> tuple[dict[str | None, int], int]:
        """As `Store.copiers`."""
        heeded, index = {"term": {"ignored": False}}, self._names["members"]
        copies = {"bool": {"filter": [heeded, {"term": {"copied": True}}]}}
        pages = self._reader.read_all(index, Wanted(source=("contributor",)), copies)
        counts = Counter(hit["_source"]["contributor"] for hits in pages for hit in hits)
        undated = {"bool": {"filter": [heeded], "must_not": [{"exists": {"field": "timestamp"}}]}}
        return counts, self._reader.count(index, undated)

    def documents(self) -> Iterator[pa.RecordBatch]:
        """Rows (home, id, title, sentences) of all documents that have sentences."""
        counts: dict[str, Numbers] = {"home": np.empty(0, np.int64), "sentences": np.empty(0, np.int64)}
        field = Wanted(fields=("document_number",))
        for hits in self._reader.read_all(self._names["sentences"], field):
            numbers, held = np.unique(integers(hits, "document_number"), return_counts=True)
            homes, where = np.unique(np.concatenate([counts["home"], numbers]), return_inverse=True)
            total = np.bincount(where, np.concatenate([counts["sentences"], held])).astype(np.int64)
            counts = {"home": homes, "sentences": total}
        wanted = Wanted(source=("number", "id", "title"))
        for hits in self._reader.read_all(self._names["documents"], wanted):
            numbers = np.array([hit["_source"]["number"] for hit in hits], np.int64)
            at = np.searchsorted(counts["home"], numbers)
            has = np.isin(numbers, counts["home"])
            yield _homes(
                numbers[has],
                [hit["_source"]["id"] for hit, kept in zip(hits, has, strict=True) if kept],
                [hit["_source"]["title"] for hit, kept in zip(hits, has, strict=True) if kept],
                counts["sentences"][at[has]],
            )

    def sources(self, marks: Sequence[SourceMark]) -> Iterator[pa.RecordBatch]:
        """Rows (home, id, title, sentences) of all sources that have sentences."""
        homes = source_homes(marks)
        held = {
            mark.number: self._reader.count(self._names["sentences"], {"term": {"source_number": mark.number}})
            for mark in marks
        }
        names = {int(homes[mark.number]): mark.name for mark in marks}
        totals = {home: sum(count for number, count in held.items() if homes[number] == home) for home in names}
        found = [home for home in sorted(names) if totals[home]]
        yield _homes(
            np.array(found, np.int64),
            [names[home] for home in found],
            [None] * len(found),
            np.array([totals[home] for home in found], np.int64),
        )


def _homes(numbers: Numbers, ids: list[str], titles: list[str | None], sentences: Numbers) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "home": numbers,
            "id": pa.array(ids, pa.string()),
            "title": pa.array(titles, pa.string()),
            "sentences": sentences,
        }
    )
