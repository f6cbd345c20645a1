"""Groups of texts with a common token: they meet in the bucket of the token, and are compared at their *home*.

The home of a group follows from the smallest hash among its members. Groups of near-duplicates mostly have the same
smallest member, so they have one home, and a text travels there once, not once for each of its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, first_of_each, run_starts
from esdedup.columns.cuts import Cutter
from esdedup.columns.hashing import Hashes
from esdedup.engines.spark.exchange import Arrived, Sent, by_bucket, in_order, ranges, spread
from esdedup.engines.spark.text_stages import ATTACHED, POSTED, REQUESTS, RUNS, Places, by_hash
from esdedup.engines.spark.work_folder import read_rows, write_rows
from esdedup.matching.engine import CompareGroups, MatchContext
from esdedup.matching.groups import in_columns, runs, token_lists
from esdedup.matching.signers.text_signer import SET_BYTES

GROUPS, PAIRS = "groups", "pairs"
"""Kinds of files: postings (home, token, hash) of groups, by token; pairs, by home."""

_ROW_BYTES = 64
_POSTING_BYTES = 40


@dataclass(frozen=True)
class GroupPlan:
    """How groups are found and compared."""

    places: Places
    token_bits: int  # tokens are in 2^token_bits buckets
    home_bits: int  # there are 2^home_bits homes
    hot_limit: int
    budget: int  # bytes that are compared at once


def emit_postings(plan: GroupPlan, path: str) -> Iterator[Sent]:
    """Send the tokens of a slice of signatures to their buckets, those of identical texts once."""
    rows = read_rows(path)
    rows = first_of_each(rows.select(["hash", "tokens"]))
    hashes, lists = rows["hash"].to_numpy(), rows["tokens"].combine_chunks()
    tokens, of = lists.flatten(), np.repeat(hashes, lists.value_lengths().to_numpy())
    if tokens.null_count:
        of, tokens = of[tokens.is_valid().to_numpy(zero_copy_only=False)], tokens.drop_null()
    token = tokens.to_numpy()
    buckets = spread(token.view(np.uint64), plan.token_bits)
    for bucket, part in by_bucket(buckets, pa.table({"token": token, "hash": of})):
        yield Sent(bucket, POSTED, part)


def keep_groups(plan: GroupPlan, bucket: int, arrived: Arrived) -> dict[str, Any]:
    """Write the groups of a bucket of tokens to a file. Return the number of tokens that two texts share, one of them
    stale; and the hot ones, with the number of their texts. The file does not have these.
    """
    token, key = _groups(*(arrived[POSTED][name].to_numpy() for name in ("token", "hash")))
    starts = run_starts(token)
    sizes = np.diff(np.append(starts, len(token)))
    if not plan.places.all_stale and len(token):
        wanted = np.logical_or.reduceat(plan.places.are_stale(key), starts)
        rows = np.repeat(wanted, sizes)
        token, key, sizes = token[rows], key[rows], sizes[wanted]
        starts = run_starts(token)
    hot = sizes > plan.hot_limit
    found = {
        "tokens": len(sizes),
        "hot": [[int(token[at]), int(size)] for at, size in zip(starts[hot], sizes[hot], strict=True)],
    }
    homes = np.repeat(spread(key[starts], plan.home_bits), sizes)
    kept = np.flatnonzero(np.repeat(~hot, sizes))
    kept = kept[np.argsort(homes[kept].astype(np.uint16), kind="stable")]
    rows = pa.table({"home": homes[kept].astype(np.int32), "token": token[kept], "hash": key[kept]})
    write_rows(plan.places.work.file(GROUPS, bucket), rows)
    return found


def _groups(tokens: Numbers, keys: Hashes) -> tuple[Numbers, Hashes]:
    """Return the postings of groups, in order. One text may have been posted by several slices."""
    _, members = runs(tokens)
    token, key = tokens[members], keys[members]
    order = np.lexsort((key, token))
    token, key = token[order], key[order]
    kept = run_starts(token, key)
    if len(kept) < len(token):
        token, key = token[kept], key[kept]
        _, members = runs(token)
        token, key = token[members], key[members]
    return token, key


def emit_requests(plan: GroupPlan, path: str) -> Iterator[Sent]:
    """Send requests for the texts of groups, or of runs, to where these texts are."""
    rows = read_rows(path).select(["home", "token", "hash"])
    for bucket, part in by_bucket(ranges(rows["hash"].to_numpy(), plan.places.text_bits), rows):
        yield Sent(bucket, REQUESTS, part)


def emit_groups(path: str) -> Iterator[Sent]:
    """Send groups, or runs, to their homes."""
    rows = read_rows(path)
    kind = RUNS if "order" in rows.column_names else POSTED
    for home, part in in_order(rows["home"].to_numpy(), rows.drop_columns("home")):
        yield Sent(home, kind, part)


def compare_home(
    plan: GroupPlan, compare: CompareGroups, context: MatchContext, home: int, arrived: Arrived
) -> dict[str, int]:
    """Compare the groups of one home. Write the pairs to a file, and return how many there are, and of how many
    candidates.
    """
    texts = arrived[ATTACHED].sort_by("hash").combine_chunks()
    hashes = texts["hash"].to_numpy()
    lists = texts["tokens"].combine_chunks()
    lengths = lists.value_lengths().to_numpy()
    matrix = in_columns(lists.flatten().to_numpy(), lengths, context.signing.tokens)
    numbers = np.arange(len(texts), dtype=np.int64)
    texts = texts.drop_columns(["hash", "tokens"]).append_column("tokens", token_lists(matrix))
    texts = texts.add_column(0, "number", pa.array(numbers, pa.int32()))
    postings = _postings(arrived, hashes)
    found, candidates = [], 0
    for part in _ranges(plan, postings, texts):
        held = np.unique(part["number"].to_numpy())
        for pairs, met in compare(context, part, texts.take(pa.array(held))):
            candidates += met
            found.append(pairs)
    pairs = by_hash(pa.concat_tables(found), hashes, numbers)
    write_rows(plan.places.work.file(PAIRS, home), pairs)
    return {"pairs": len(pairs), "candidates": candidates}


def _postings(arrived: Arrived, hashes: Hashes) -> pa.Table:
    """Return the postings of a home in order: groups by token, or runs if there are any."""
    whole = arrived.get(POSTED, pa.table({"token": pa.array([], pa.int64()), "hash": pa.array([], pa.uint64())}))
    number = np.searchsorted(hashes, whole["hash"].to_numpy())
    token = whole["token"].to_numpy()
    order = np.lexsort((number, token))
    rows = pa.table({"token": token[order], "number": pa.array(number[order], pa.int32())})
    if RUNS not in arrived:
        return rows
    cut = arrived[RUNS].sort_by([(name, "ascending") for name in ("token", "order", "run", "at")])
    cut = cut.append_column("number", pa.array(np.searchsorted(hashes, cut["hash"].to_numpy()), pa.int32()))
    none = np.zeros(len(rows), np.int64)
    for name, column in {"order": none.astype(np.int8), "run": none, "place": none, "leads": none == 0}.items():
        rows = rows.append_column(name, pa.array(column))
    return pa.concat_tables([rows, cut.select(rows.column_names)])


def _ranges(plan: GroupPlan, postings: pa.Table, texts: pa.Table) -> Iterator[pa.Table]:
    """Yield the postings in ranges of whole groups whose texts fit in memory together."""
    cost = _ROW_BYTES + SET_BYTES * pc.binary_length(texts["text"]).to_numpy().astype(np.int64)
    if cost.sum() + _POSTING_BYTES * len(postings) <= plan.budget:
        yield postings
        return
    keys = [postings[name].to_numpy() for name in ("token", "order", "run") if name in postings.column_names]
    starts = run_starts(*keys)
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(postings))))
    members = postings["number"].to_numpy().astype(np.int64)
    first = np.full(group[-1] + 1, len(texts))
    np.minimum.at(first, group, members)
    order = np.argsort(first[group], kind="stable")  # groups that share texts are mostly adjacent
    cut = Cutter(len(texts), plan.budget, _POSTING_BYTES)
    cuts = cut.cut(group[order], members[order], cost[members[order]])
    yield from (part for _, part in in_order(cuts.ranges, postings.take(pa.array(order))))
