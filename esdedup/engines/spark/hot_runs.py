"""Hot groups, which are never whole in one place: each of their two orders is cut into runs.

The last texts of a run are compared with the first ones of the next run, which are there a second time. The order by
hash needs no sorting: texts are in ranges of hashes already. The order by other tokens is sorted by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers, first_of_each
from esdedup.engines.spark.exchange import Arrived, Sent, in_order, ranges, spread
from esdedup.engines.spark.group_stages import GroupPlan
from esdedup.engines.spark.work_folder import read_rows, write_rows
from esdedup.matching.groups import among, columns_of, other_tokens, token_lists, token_matrix
from esdedup.matching.lsh.collide import HOT_WINDOW
from esdedup.matching.signers.minhash_kernels import Tokens

MEMBERS, ALIKE, HOT_RUNS = "hot", "alike", "runs"
"""Kinds of files: texts with a hot token (hash, tokens), by the range of their hash; members of hot groups (token,
hash, place), in their second order; and runs."""

RUN = 10_000
"""The number of texts of a hot group that are compared in one place."""

SORTED = "sorted binary, token long, hash long, place long"


@dataclass(frozen=True)
class HotPlan:
    """Hot groups, and how they are cut."""

    groups: GroupPlan
    tokens: Tokens  # the hot ones, sorted
    columns: int  # of tokens
    run: int


def emit_members(plan: HotPlan, path: str) -> Iterator[Sent]:
    """Send the texts with hot tokens to the buckets of texts, with all of their tokens."""
    rows = read_rows(path).select(["hash", "tokens"])
    matrix = token_matrix(rows["tokens"], plan.columns)
    has = among(matrix, plan.tokens).any(axis=1)
    hashes, first = np.unique(rows["hash"].to_numpy()[has], return_index=True)
    rows = pa.table({"hash": hashes, "tokens": token_lists(matrix[has][first])})
    yield from (Sent(bucket, 0, part) for bucket, part in in_order(ranges(hashes, plan.groups.places.text_bits), rows))


def keep_members(plan: HotPlan, bucket: int, arrived: Arrived) -> list[int]:
    """Write the texts with hot tokens in a bucket to a file. Return the number of texts with each hot token."""
    rows = first_of_each(arrived[0])
    write_rows(plan.groups.places.work.file(MEMBERS, bucket), rows)
    token, _ = _memberships(plan, token_matrix(rows["tokens"], plan.columns))
    return [int(count) for count in np.bincount(np.searchsorted(plan.tokens, token), minlength=len(plan.tokens))]


def _memberships(plan: HotPlan, matrix: Tokens) -> tuple[Numbers, Numbers]:
    """Return the hot tokens of texts, and the rows of these: by row."""
    row, column = np.nonzero(among(matrix, plan.tokens))
    return matrix[row, column], row


def _placed(plan: HotPlan, token: Numbers, before: Sequence[int]) -> Numbers:
    """Return the place in its group of each membership. `before` counts what precedes them, for each hot token."""
    which = np.searchsorted(plan.tokens, token)
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=len(plan.tokens))
    places = np.empty(len(token), np.int64)
    places[order] = np.arange(len(token)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places + np.asarray(before, np.int64)[which]


def cut_by_hash(plan: HotPlan, given: tuple[int, Sequence[int]]) -> int:
    """Write the runs of the first order that a bucket of texts is part of. Return how many rows there are."""
    bucket, before = given
    rows = read_rows(plan.groups.places.work.file(MEMBERS, bucket))
    token, row = _memberships(plan, token_matrix(rows["tokens"], plan.columns))
    places = _placed(plan, token, before)
    return _write_runs(plan, f"hash-{bucket}", 1, token, rows["hash"].to_numpy()[row], places, places)


def sort_keys(
    plan: HotPlan, given: Sequence[tuple[int, Sequence[int]]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the members of hot groups with what the second order sorts them by."""
    for batch in batches:
        for bucket, before in (given[number] for number in batch["id"].to_pylist()):
            rows = read_rows(plan.groups.places.work.file(MEMBERS, bucket))
            matrix = token_matrix(rows["tokens"], plan.columns)
            token, row = _memberships(plan, matrix)
            places = _placed(plan, token, before)
            hashes = rows["hash"].to_numpy()[row]
            keys = np.empty((len(row), plan.columns + 1), ">u8")
            columns = columns_of(token)
            for column in np.unique(columns).tolist():
                here = np.flatnonzero(columns == column)
                keys[here, 1:-1] = (other_tokens(matrix[row[here]], column) + 1).astype(np.uint64)
            keys[:, 0], keys[:, -1] = token.astype(np.uint64), hashes
            width = keys.shape[1] * 8
            data = pa.py_buffer(np.ascontiguousarray(keys))
            ends = pa.py_buffer(np.arange(len(row) + 1, dtype=np.int32) * width)
            yield pa.record_batch(
                [pa.BinaryArray.from_buffers(pa.binary(), len(row), [None, ends, data]), pa.array(token),
                 pa.array(hashes.view(np.int64)), pa.array(places)],
                ["sorted", "token", "hash", "place"],
            )  # fmt: skip


def keep_sorted(plan: HotPlan, partition: int, batches: Iterable[pa.RecordBatch]) -> list[int]:
    """Write the members of one partition, in the second order, to a file. Return the number for each hot token."""
    held = [batch.select(["token", "hash", "place"]) for batch in batches if batch.num_rows]
    if not held:
        return []
    rows = pa.Table.from_batches(held).combine_chunks()
    write_rows(plan.groups.places.work.file(ALIKE, partition), rows)
    which = np.searchsorted(plan.tokens, rows["token"].to_numpy())
    return [int(count) for count in np.bincount(which, minlength=len(plan.tokens))]


def cut_alike(plan: HotPlan, given: tuple[int, Sequence[int]]) -> int:
    """Write the runs of the second order that a sorted partition is part of. Return how many rows there are."""
    partition, before = given
    rows = read_rows(plan.groups.places.work.file(ALIKE, partition))
    token = rows["token"].to_numpy()
    at, hashes = _placed(plan, token, before), rows["hash"].to_numpy().view(np.uint64)
    return _write_runs(plan, f"alike-{partition}", 2, token, hashes, at, rows["place"].to_numpy())


def _write_runs(plan: HotPlan, name: str, order: int, token: Numbers, hashes: Any, at: Numbers, places: Numbers) -> int:
    """Write rows of members to the runs that they belong to, and to those that end just before them."""
    again = np.flatnonzero((at % plan.run < HOT_WINDOW) & (at >= plan.run))
    rows = np.concatenate([np.arange(len(token)), again])
    run = at[rows] // plan.run
    run[len(token) :] -= 1
    mixed = (
        token[rows].astype(np.uint64) * np.uint64(4) + np.uint64(order) + run.astype(np.uint64) * np.uint64(2**40 + 15)
    )
    home = spread(mixed, plan.groups.home_bits)
    sort = np.argsort(home.astype(np.uint16), kind="stable")
    columns = {
        "home": home.astype(np.int32), "token": token[rows], "hash": hashes[rows],
        "order": np.full(len(rows), order, np.int8), "run": run, "at": at[rows], "place": places[rows],
        "leads": np.arange(len(rows)) < len(token),
    }  # fmt: skip
    write_rows(
        plan.groups.places.work.file(HOT_RUNS, name), pa.table({each: column[sort] for each, column in columns.items()})
    )
    return len(rows)
