"""A block: a set of texts that fits in memory. Its groups are compared and verified on all threads.

If long texts are in so many groups that few of them fit in memory together, only their sketches are held
(`sketch_texts`, `sift_collisions`). The candidates that may be similar are then verified as a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.matching.engine import PAIRS, MatchContext
from esdedup.matching.groups import Groups, Runs, among, groups_of, runs_of_groups, runs_of_postings, token_matrix
from esdedup.matching.lsh.collide import HOT_WINDOW, Colliding, Similarities, collide
from esdedup.matching.lsh.sketches import SketchedSets, sketch_starts, sketched_sets
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.edits import word_edit_distances
from esdedup.matching.verify.protocol import PairRule

_SLICES_A_THREAD = 8
_COMPARED_AT_ONCE = 2**20
"""So many pairs are compared before those that were found are handed on: they take up to 150 bytes each."""


@dataclass(frozen=True, slots=True)
class Block:
    """Texts of one block, in the order of their numbers, with everything that verification needs."""

    numbers: Numbers
    texts: pa.LargeStringArray
    tokens: Tokens
    group_id: Numbers
    stale: Flags  # each pair must contain such a text


def compare_collisions(context: MatchContext, postings: pa.Table, texts: pa.Table) -> Iterator[tuple[pa.Table, int]]:
    """Compare and verify whole groups; an `esdedup.matching.engine.CompareGroups`."""
    block, groups = _read(postings, texts)
    return collide_block(block, groups, context.hot, context.signer, context.rule, context.threads)


def sketch_texts(context: MatchContext, numbers: Numbers, texts: pa.LargeStringArray) -> tuple[pa.Array, pa.Table]:
    """Return the kind of each text, and the sketches of its sets; an `esdedup.matching.engine.SketchTexts`."""
    sets = sketched_sets(context.signer, texts, context.threads, sketches_only=True)
    sizes = np.diff(sets.bounds)
    held = np.flatnonzero(sizes)
    view, place = np.divmod(held, max(1, len(texts)))
    ends = pa.py_buffer(8 * np.append(sets.starts[held], sets.starts[-1]))
    sketch = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(held), [None, ends, pa.py_buffer(sets.sketch)])
    columns = {"view": view.astype(np.int8), "number": numbers[place], "size": sizes[held], "sketch": sketch}
    return pa.array(sets.kind), pa.table(columns)


def sift_collisions(
    context: MatchContext, postings: pa.Table, texts: pa.Table, sketched: pa.Table
) -> Iterator[tuple[pa.Table, int]]:
    """Yield candidates of whole groups that may be similar; an `esdedup.matching.engine.SiftGroups`."""
    block, groups = _read(postings, texts, pa.nulls(len(texts), pa.large_string()))
    kind = texts["kind"].to_numpy()
    sizes = np.zeros((len(context.signer.kinds), len(kind)), np.int64)
    sizes[sketched["view"].to_numpy(), np.searchsorted(block.numbers, sketched["number"].to_numpy())] = sketched["size"]
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    data, ends = text_buffers(sketched["sketch"].cast(pa.large_binary()).combine_chunks())
    sketch = data[ends[0] : ends[-1]].view(np.uint64)
    sets = SketchedSets(np.empty(0, np.uint64), bounds, kind, sketch, sketch_starts(bounds))
    found = _collided(block, groups, context.hot, sets, context.signer, context.rule, context.threads)
    for rows, _, candidates in found:
        yield pa.table({"a": block.numbers[rows[:, 0]], "b": block.numbers[rows[:, 1]]}), candidates


def _read(
    postings: pa.Table, texts: pa.Table, column: pa.LargeStringArray | None = None
) -> tuple[Block, Groups | Runs]:
    numbers = texts["number"].to_numpy().astype(np.int64)
    block = Block(
        numbers,
        texts["text"].cast(pa.large_string()).combine_chunks() if column is None else column,
        token_matrix(texts["tokens"], pc.max(pc.list_value_length(texts["tokens"])).as_py()),
        texts["group_id"].to_numpy(),
        texts["stale"].to_numpy(zero_copy_only=False).astype(np.bool_),
    )
    places = np.searchsorted(numbers, postings["number"].to_numpy())
    if "order" in postings.column_names:
        return block, runs_of_postings(postings, places)
    return block, groups_of(postings["token"].to_numpy(), places)


def collide_block(
    block: Block,
    groups: Groups | Runs,
    hot_tokens: Tokens,
    signer: TextSigner,
    rule: PairRule,
    threads: int,
    *,
    edits: bool = True,
) -> Iterator[tuple[pa.Table, int]]:
    """Yield the pairs (schema `PAIRS`) among the block's texts, and the number of candidates, in parts.

    Without `edits`, word edit distances are measured only if they are limited. `groups` refers to texts by their index
    in the block. `hot_tokens` are those of the whole corpus.
    """
    compared = rule.verifier.compares
    if compared or len(signer.kinds) > 1:
        sets = sketched_sets(signer, block.texts, threads).trimmed()
    else:
        flat, bounds = np.empty(0, np.uint64), np.zeros(len(block.numbers) + 1, np.int64)
        sets = SketchedSets(flat, bounds, np.zeros(len(block.numbers), np.int8), flat, bounds)
    for rows, jaccard, candidates in _collided(block, groups, hot_tokens, sets, signer, rule, threads):
        a, b, shared = rows.T
        distances = None
        if compared and (edits or rule.word_edit_distance is not None):
            distances = word_edit_distances(block.texts, a, b, threads)
            if rule.word_edit_distance is not None:
                near = distances <= rule.word_edit_distance
                a, b, jaccard, shared, distances = a[near], b[near], jaccard[near], shared[near], distances[near]
        columns = {
            "a": block.numbers[a],
            "b": block.numbers[b],
            "jaccard": pa.array(jaccard) if compared else pa.nulls(len(a), pa.float64()),
            "word_edit_distance": pa.nulls(len(a), pa.int32()) if distances is None else distances,
            "shared_tokens": shared,
        }
        yield pa.table(columns).cast(PAIRS), candidates


def _collided(
    block: Block,
    groups: Groups | Runs,
    hot_tokens: Tokens,
    sets: SketchedSets,
    signer: TextSigner,
    rule: PairRule,
    threads: int,
) -> Iterator[tuple[Numbers, Similarities, int]]:
    """Run `collide` on slices of the groups. Yield what it returns, of as many slices together as fit in memory."""
    is_hot = among(block.tokens, np.sort(hot_tokens))
    runs = groups if isinstance(groups, Runs) else runs_of_groups(groups, block.tokens, is_hot, HOT_WINDOW)
    width = signer.signing.signer.tokens
    texts = Colliding(block.tokens, is_hot, block.group_id, block.stale)

    def part(first: int, last: int) -> tuple[Numbers, Similarities, int]:
        return collide(runs, first, last, texts, sets, width, rule.least, HOT_WINDOW)

    slices = threads * _SLICES_A_THREAD
    with ThreadPoolExecutor(threads) as pool:
        for cuts in _cuts(runs, slices):
            parts = list(pool.map(part, cuts[:-1], cuts[1:]))
            rows, similarities = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
            yield rows, similarities, sum(count for _, _, count in parts)


def _cuts(runs: Runs, slices: int) -> Iterator[list[int]]:
    """Yield boundaries that cut the runs into slices with about equal numbers of comparisons. Those of one list have
    `_COMPARED_AT_ONCE` at most, unless one run alone has more.
    """
    if len(runs.columns) == 0:
        yield [0, 0]
        return
    following = np.where(runs.order > 0, HOT_WINDOW, (np.diff(runs.starts) - 1) / 2)
    work = np.cumsum(runs.leading * following)
    ends = np.linspace(0, work[-1], int(work[-1] // _COMPARED_AT_ONCE) + 2)[1:-1]
    bounds = sorted({0, *np.searchsorted(work, ends).tolist(), len(runs.columns)})
    for begin, end in pairwise(bounds):
        at = np.searchsorted(work[begin:end], np.linspace(work[begin], work[end - 1], slices + 1)[1:-1])
        yield sorted({begin, *(begin + at).tolist(), end})
