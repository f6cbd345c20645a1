"""A block: a set of texts that fits in memory. Its groups are compared and verified on all threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers
from esdedup.matching.engine import PAIRS, MatchContext
from esdedup.matching.groups import Groups, find_hot, groups_of, token_matrix
from esdedup.matching.lsh.collide import HOT_WINDOW, Similarities, collide, sketches
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.edits import word_edit_distances
from esdedup.matching.verify.protocol import PairRule

_SLICES_A_THREAD = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Texts of one block, in the order of their numbers, with everything that verification needs."""

    numbers: Numbers
    texts: pa.LargeStringArray
    tokens: Tokens
    group_id: Numbers
    stale: Flags  # each pair must contain such a text


def compare_collisions(context: MatchContext, postings: pa.Table, texts: pa.Table) -> tuple[pa.Table, int]:
    """Compare and verify whole groups; an `esdedup.matching.engine.CompareGroups`."""
    numbers = texts["number"].to_numpy().astype(np.int64)
    block = Block(
        numbers,
        texts["text"].cast(pa.large_string()).combine_chunks(),
        token_matrix(texts["tokens"], context.signing.tokens),
        texts["group_id"].to_numpy(),
        texts["stale"].to_numpy(zero_copy_only=False).astype(np.bool_),
    )
    places = np.searchsorted(numbers, postings["number"].to_numpy())
    groups = groups_of(postings["token"].to_numpy(), places)
    return collide_block(block, groups, context.hot, context.signer, context.rule, context.threads)


def collide_block(
    block: Block,
    groups: Groups,
    hot_tokens: Tokens,
    signer: TextSigner,
    rule: PairRule,
    threads: int,
    *,
    edits: bool = True,
) -> tuple[pa.Table, int]:
    """Return the pairs (schema `PAIRS`) among the block's texts, and the number of candidates.

    Without `edits`, word edit distances are measured only if they are limited. `groups` refers to texts by their index
    in the block. `hot_tokens` are those of the whole corpus.
    """
    compared = rule.verifier.compares
    if compared or len(signer.kinds) > 1:
        flat, bounds, kind = signer.sets(signer.views(block.texts)).trimmed()
        sketch = sketches(flat, bounds)
    else:
        flat, bounds, kind = np.empty(0, np.uint64), np.zeros(1, np.int64), np.zeros(len(block.numbers), np.int8)
        sketch = np.empty((0, 0), np.uint64)
    hot = find_hot(groups, block.tokens, hot_tokens)

    def part(first: int, last: int) -> tuple[Numbers, Similarities, int]:
        return collide(
            groups.starts,
            groups.members,
            groups.columns,
            first,
            last,
            hot.groups,
            hot.alike,
            block.tokens,
            hot.tokens,
            block.group_id,
            block.stale,
            flat,
            bounds,
            kind,
            signer.signing.signer.tokens,
            sketch,
            rule.least,
            HOT_WINDOW,
        )

    cuts = _even_cuts(groups, hot.groups, threads * _SLICES_A_THREAD)
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(part, cuts[:-1], cuts[1:]))
    rows = np.concatenate([found for found, _, _ in parts])
    jaccard = np.concatenate([similarities for _, similarities, _ in parts])
    candidates = sum(count for _, _, count in parts)
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
    return pa.table(columns).cast(PAIRS), candidates


def _even_cuts(groups: Groups, hot: Flags, slices: int) -> list[int]:
    """Return boundaries that cut the groups into slices with about equal numbers of comparisons."""
    if len(groups) == 0:
        return [0, 0]
    sizes = groups.sizes()
    work = np.cumsum(np.where(hot, sizes * 2 * HOT_WINDOW, sizes * (sizes - 1) // 2))
    at = np.searchsorted(work, np.linspace(0, work[-1], slices + 1)[1:-1])
    return sorted({0, *(int(cut) for cut in at), len(groups)})
