"""Functions on all texts, and pairs that are listed: texts are known by number here, in ranges of their hashes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, first_of_each, run_starts
from esdedup.engines.spark.exchange import Arrived, Sent, by_bucket, in_order, ranges, spread
from esdedup.engines.spark.group_stages import PAIRS
from esdedup.engines.spark.text_stages import ASKED, ATTACHED, BODIES, POSTED, REQUESTS, TEXTS, Places, by_hash
from esdedup.engines.spark.work_folder import read_rows, whole_part, write_rows
from esdedup.matching.engine import ComparePairs, MatchContext, Meet, Post, Survey
from esdedup.matching.signers.text_signer import SET_BYTES

TOKENS, MET = "tokens", "met"
"""Kinds of files: all tokens of texts, by the range of their hash; and candidates (a, b) by number."""


@dataclass(frozen=True)
class ListPlan:
    """Where texts are, and what runs on them."""

    places: Places
    buckets: Sequence[int]  # of texts, those with any
    firsts: Sequence[int]  # the number of the first text of each
    context: MatchContext
    budget: int  # bytes that are compared at once
    token_bits: int = 0

    def texts(self, index: int) -> Iterator[tuple[int, pa.LargeStringArray]]:
        """Yield the texts of a bucket, as many at once as fit in memory, with the number of the first."""
        column = read_rows(self.places.work.file(BODIES, self.buckets[index]))["text"].combine_chunks()
        ends = np.cumsum(SET_BYTES * pc.binary_length(column).to_numpy().astype(np.int64))
        begin = 0
        while begin < len(column):
            spent = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, spent + self.budget)))
            yield self.firsts[index] + begin, column.slice(begin, end - begin)
            begin = end

    def index_of(self, numbers: Numbers) -> Numbers:
        """Return the index of the bucket of each text."""
        return np.searchsorted(np.asarray(self.firsts), numbers, "right") - 1


def saved(path: str, state: Any) -> str:
    """Write a state to a file, for tasks. Return its path."""
    with whole_part(path) as part:
        part.write_bytes(pickle.dumps(state))
    return path


def loaded(path: str) -> Any:
    """Return a state that a task of this scan, or its driver, has written."""
    return pickle.loads(Path(path).read_bytes())


def survey_texts(plan: ListPlan, function: Survey[Any], begin: str, given: tuple[str, Sequence[int]]) -> str:
    """Add some buckets of texts to an empty state. Write the state to a file."""
    path, indices = given
    state = loaded(begin)
    for index in indices:
        for first, texts in plan.texts(index):
            function(plan.context, state, first, texts)
    return saved(path, state)


def unite_states(unite: Callable[[Any, Any], Any], given: tuple[str, str, str]) -> str:
    """Unite two states that tasks have written."""
    path, one, two = given
    return saved(path, unite(loaded(one), loaded(two)))


def emit_post(plan: ListPlan, post: Post[Any], state: str, index: int) -> Iterator[Sent]:
    """Send the postings of a bucket of texts to the buckets of their tokens."""
    known = loaded(state)
    for first, texts in plan.texts(index):
        for rows in post(plan.context, known, first, texts):
            buckets = spread(rows["token"].to_numpy().astype(np.uint64), plan.token_bits)
            yield from (Sent(bucket, POSTED, part) for bucket, part in by_bucket(buckets, rows))


def keep_met(plan: ListPlan, meet: Meet[Any], state: str, bucket: int, arrived: Arrived) -> int:
    """Write the candidates of a bucket of postings to a file. Return their number."""
    order = [(name, "ascending") for name in ("token", "size", "number")]
    rows = arrived[POSTED].sort_by(order).combine_chunks()
    found = list(meet(plan.context, loaded(state), rows))
    ends = ([np.empty(0, np.int64), *(each[name].to_numpy() for each in found)] for name in ("a", "b"))
    one, two = map(np.concatenate, ends)
    a, b = np.minimum(one, two), np.maximum(one, two)
    order_of_pairs = np.lexsort((b, a))
    pairs = _distinct(pa.table({"a": a[order_of_pairs], "b": b[order_of_pairs]}))
    write_rows(plan.places.work.file(MET, bucket), pairs)
    return len(pairs)


def emit_tokens(plan: ListPlan, path: str) -> Iterator[Sent]:
    """Send the tokens of a slice of signatures to the buckets of the texts."""
    rows = first_of_each(read_rows(path).select(["hash", "tokens"]))
    buckets = ranges(rows["hash"].to_numpy(), plan.places.text_bits)
    yield from (Sent(bucket, 0, part) for bucket, part in in_order(buckets, rows))


def keep_tokens(plan: ListPlan, bucket: int, arrived: Arrived) -> int:
    """Write the tokens of a bucket of texts to a file."""
    rows = first_of_each(arrived[0])
    write_rows(plan.places.work.file(TOKENS, bucket), rows)
    return len(rows)


def emit_listed(plan: ListPlan, path: str) -> Iterator[Sent]:
    """Send candidates to the bucket of their first text, which is their home."""
    rows = read_rows(path)
    yield from (Sent(home, ASKED, part) for home, part in by_bucket(plan.index_of(rows["a"].to_numpy()), rows))


def emit_needed(plan: ListPlan, path: str) -> Iterator[Sent]:
    """Send requests for the second texts of candidates."""
    rows = read_rows(path)
    home, b = plan.index_of(rows["a"].to_numpy()), rows["b"].to_numpy()
    wanted = pa.table({"home": home, "number": b})
    yield from (Sent(bucket, REQUESTS, part) for bucket, part in by_bucket(plan.index_of(b), wanted))


def attach_listed(plan: ListPlan, index: int, arrived: Arrived) -> Iterator[Sent]:
    """Send the second texts of candidates to the homes of these."""
    rows = arrived[REQUESTS].sort_by([("home", "ascending"), ("number", "ascending")])
    rows = _distinct(rows)
    held = _rows_of(plan, index, rows["number"].to_numpy())
    yield from (Sent(home, ATTACHED, part) for home, part in in_order(rows["home"].to_numpy(), held))


def compare_listed_home(plan: ListPlan, compare: ComparePairs, home: int, arrived: Arrived) -> dict[str, int]:
    """Compare the candidates of one home. Write the pairs to a file."""
    pairs = _distinct(arrived[ASKED].sort_by([("a", "ascending"), ("b", "ascending")]))
    ours = _rows_of(plan, home, np.unique(pairs["a"].to_numpy()))
    others = arrived[ATTACHED]
    texts = pa.concat_tables([ours, others.filter(pc.invert(pc.is_in(others["number"], ours["number"])))])
    texts = texts.sort_by("number").combine_chunks()
    numbers, group = texts["number"].to_numpy(), texts["group_id"].to_numpy()
    a, b = (np.searchsorted(numbers, pairs[end].to_numpy()) for end in ("a", "b"))
    wanted = (group[a] < 0) | (group[a] != group[b])
    cost = SET_BYTES * pc.binary_length(texts["text"]).to_numpy().astype(np.int64)
    slices = np.cumsum((cost[a] + cost[b])[wanted]) // max(1, plan.budget)
    found = []
    for _, part in in_order(slices, pairs.filter(pa.array(wanted))):
        held = np.unique(np.concatenate([part[end].to_numpy() for end in ("a", "b")]))
        chosen = texts.take(pa.array(np.searchsorted(numbers, held))).select(["number", "text", "tokens"])
        found.append(compare(plan.context, part, chosen))
    if not found:
        return {"pairs": 0}
    rows = by_hash(pa.concat_tables(found), texts["hash"].to_numpy(), numbers)
    write_rows(plan.places.work.file(PAIRS, home), rows)
    return {"pairs": len(rows)}


def _rows_of(plan: ListPlan, index: int, numbers: Numbers) -> pa.Table:
    """Return texts (number, hash, group_id, text, tokens) of a bucket by number."""
    work, bucket = plan.places.work, plan.buckets[index]
    at = pa.array(numbers - plan.firsts[index])
    known = read_rows(work.file(TEXTS, bucket))
    columns = {"number": numbers, "hash": known["hash"].take(at), "group_id": known["group_id"].take(at)}
    columns["text"] = read_rows(work.file(BODIES, bucket))["text"].take(at)
    columns["tokens"] = read_rows(work.file(TOKENS, bucket))["tokens"].take(at)
    return pa.table(columns)


def _distinct(rows: pa.Table) -> pa.Table:
    """Return rows of two integer columns, in order, each once."""
    return rows.take(pa.array(run_starts(*(column.to_numpy() for column in rows.columns))))
