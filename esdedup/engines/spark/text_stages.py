"""Distinct texts: identical sentences meet in the bucket of their hash, and texts travel to where they are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers, first_of_each, run_starts
from esdedup.columns.hashing import Hashes
from esdedup.engines.spark.exchange import Arrived, Sent, in_order, ranges
from esdedup.engines.spark.work_folder import WorkFolder, read_rows, write_rows
from esdedup.matching.engine import FetchTexts

SIGNED, TEXTS, STALE, WANTED, BODIES = "signed", "texts", "stale", "wanted", "bodies"
"""Kinds of files: signatures as the store hands them over; distinct texts by the range of their hash; the hashes of
stale texts, and of those that are compared; and these (hash, text), by the range of their hash."""

REQUESTS, POSTED, RUNS, ASKED, ATTACHED = range(5)
"""Kinds of what is sent: requests for a text (hash, home, token), postings (token, hash), runs of hot groups, pairs
that are listed, and texts (hash, group_id, stale, text, tokens)."""


@dataclass(frozen=True)
class Places:
    """Where the texts of a scan are."""

    work: WorkFolder
    text_bits: int  # texts are in 2^text_bits files
    all_stale: bool
    with_texts: bool = True  # whether what is compared needs the texts themselves

    def are_stale(self, hashes: Hashes) -> Flags:
        """Return which texts are stale, shape (n,)."""
        if self.all_stale:
            return np.ones(len(hashes), np.bool_)
        return is_in(hashes, read_rows(self.work.file(STALE, 0))["hash"].to_numpy())


def is_in(values: Hashes, known: Hashes) -> Flags:
    """Return which values are in a sorted array without gaps in its order, shape (n,)."""
    if len(known) == 0:
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[at] == values)


def by_hash(pairs: pa.Table, hashes: Hashes, numbers: Numbers) -> pa.Table:
    """Return pairs of numbers as pairs of hashes: those of `numbers`, which are in order."""
    for name in ("a", "b"):
        column = pa.array(hashes[np.searchsorted(numbers, pairs[name].to_numpy())])
        pairs = pairs.set_column(pairs.schema.get_field_index(name), name, column)
    return pairs


def keep_signed(given: tuple[str, Callable[[], pa.Table]]) -> dict[str, Any]:
    """Write a slice of signatures to a file. Return its path, and how much there is in it."""
    path, read = given
    rows = read()
    write_rows(path, rows)
    length, tokens = int(rows["length"].to_numpy().sum()), len(rows["tokens"].combine_chunks().flatten())
    return {"file": path, "rows": len(rows), "length": length, "tokens": tokens}


def keep_bodies(places: Places, fetch: FetchTexts, path: str) -> int:
    """Write the texts whose hashes a file has to files, by the range of their hash. Return their number."""
    batches = list(fetch(read_rows(path)))
    hashes = np.concatenate([np.empty(0, np.uint64), *(batch["hash"].to_numpy() for batch in batches)])
    text = pa.chunked_array([batch["text"].cast(pa.large_string()) for batch in batches], pa.large_string())
    order = np.argsort(hashes)
    rows = pa.table({"hash": hashes[order], "text": text.take(pa.array(order))})
    for bucket, held in in_order(ranges(rows["hash"].to_numpy(), places.text_bits), rows):
        write_rows(places.work.file(BODIES, bucket), held)
    return len(rows)


def emit_bodies(places: Places, wanted: Sequence[str], read: Callable[[], Iterator[pa.RecordBatch]]) -> Iterator[Sent]:
    """Send the texts of a part of all sentences to their buckets: those whose hashes are in the files `wanted`."""
    known = [read_rows(path)["hash"].to_numpy() for path in wanted]
    for batch in read():
        hashes = batch["hash"].to_numpy()
        found = batch.filter(pa.array(np.any([is_in(hashes, some) for some in known], axis=0)))
        rows = first_of_each(pa.Table.from_batches([found]))
        for bucket, held in in_order(ranges(rows["hash"].to_numpy(), places.text_bits), rows):
            yield Sent(bucket, 0, held)


def write_bodies(places: Places, bucket: int, arrived: Arrived) -> int:
    """Write the texts of a bucket to a file. Return their number."""
    rows = first_of_each(arrived[0])
    write_rows(places.work.file(BODIES, bucket), rows)
    return len(rows)


def emit_texts(places: Places, path: str) -> Iterator[Sent]:
    """Send the distinct texts of a slice of signatures to their buckets."""
    rows = read_rows(path).select(["hash", "group_id", "length"])
    rows = _combined(rows.append_column("copies", pa.array(np.ones(len(rows), np.int64))))
    for bucket, part in in_order(ranges(rows["hash"].to_numpy(), places.text_bits), rows):
        yield Sent(bucket, 0, part)


def keep_texts(places: Places, bucket: int, arrived: Arrived) -> int:
    """Write the distinct texts of a bucket to a file. Return their number."""
    rows = _combined(arrived[0])
    stale = pa.array(places.are_stale(rows["hash"].to_numpy()))
    write_rows(places.work.file(TEXTS, bucket), rows.append_column("stale", stale))
    return len(rows)


def _combined(rows: pa.Table) -> pa.Table:
    """Return one row (hash, copies, length, group_id) for each hash, in order. A group of -1: copies differ in it."""
    hashes = rows["hash"].to_numpy()
    order = np.argsort(hashes, kind="stable")
    starts = run_starts(hashes[order])
    copies, length, group = (rows[name].to_numpy()[order] for name in ("copies", "length", "group_id"))
    if len(starts) < len(order):
        copies, length = np.add.reduceat(copies, starts), np.minimum.reduceat(length, starts)
        low, high = np.minimum.reduceat(group, starts), np.maximum.reduceat(group, starts)
        group = np.where(low == high, low, -1)
    return pa.table({"hash": hashes[order][starts], "copies": copies, "length": length, "group_id": group})


def attach_texts(places: Places, bucket: int, arrived: Arrived) -> Iterator[Sent]:
    """Send texts to the homes that request them. A text has those tokens that it shares with others: all requests
    together have them.
    """
    hashes, which = np.unique(arrived[REQUESTS]["hash"].to_numpy(), return_inverse=True)
    homes, tokens = (arrived[REQUESTS][name].to_numpy() for name in ("home", "token"))
    known = read_rows(places.work.file(TEXTS, bucket))
    at = pa.array(np.searchsorted(known["hash"].to_numpy(), hashes))
    text = pa.nulls(len(hashes), pa.large_string()).fill_null("")
    if places.with_texts:
        bodies = read_rows(places.work.file(BODIES, bucket))
        text = bodies["text"].take(pa.array(np.searchsorted(bodies["hash"].to_numpy(), hashes)))
    columns = {"hash": hashes, **{name: known[name].take(at) for name in ("group_id", "stale")}, "text": text}
    rows = pa.table({**columns, "tokens": _lists(which, tokens, len(hashes))})
    wanted = np.unique(homes.astype(np.int64) * len(hashes) + which)
    home, row = np.divmod(wanted, len(hashes))
    for target, chosen in in_order(home, pa.table({"row": row})):
        yield Sent(target, ATTACHED, rows.take(chosen["row"]))


def _lists(which: Numbers, tokens: Numbers, texts: int) -> pa.ListArray:
    """Return the list of tokens of each text."""
    order = np.lexsort((tokens, which))
    kept = order[run_starts(which[order], tokens[order])]
    ends = np.concatenate(([0], np.cumsum(np.bincount(which[kept], minlength=texts))))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(tokens[kept]))
