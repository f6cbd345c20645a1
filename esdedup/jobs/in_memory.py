"""Cluster a list of strings in memory, without a store: for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.clustering.clusters import find_roots
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.columns.tables import table_of, texts_of
from esdedup.errors import UsageError
from esdedup.jobs.settings import Settings
from esdedup.matching.groups import Groups, group_tokens, hot_tokens
from esdedup.matching.lsh.block import Block, collide_block
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import USUAL_UNIT, freeze


class TextClusters(NamedTuple):
    """Clusters of a list of texts.

    `label` (n,) is equal for texts of one cluster: the index of its first text. `a`, `b`, `jaccard` are the verified
    pairs of distinct texts, by the indices of their first occurrences, a < b, sorted by these.
    """

    label: npt.NDArray[np.int64]
    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    jaccard: npt.NDArray[np.float64]
    candidates: int


def cluster_texts(texts: Any, options: Mapping[str, Any]) -> TextClusters:
    """Cluster `texts` unchanged: nothing is split, trimmed or dropped. They may also be the column `text` of a table,
    or its only column of strings. `options` as in `Settings.of`.

    Empty texts, and texts that are empty after normalization, match nothing. Memory: about 2 kB for each text of 200
    characters that collides, 200 bytes for the others.
    """
    if isinstance(texts, str):
        raise UsageError("cluster_texts was given one string; give a list of texts, as in ['One text.', 'Another.']")
    column = texts_of(table_of(texts), None).fill_null("").combine_chunks()
    settings = Settings.of(**options)
    if settings.scanning.across != "any":
        raise UsageError("across needs documents or sources, and a list of texts has none; use a store")
    if not settings.scanning.matcher.by_tokens:  # it needs more than the tokens of a text
        raise UsageError(f"candidates {settings.scanning.matcher.name} needs a store: use index and scan, or run")
    signer, threads = TextSigner(freeze(None, {USUAL_UNIT: "record", **settings.frozen})), settings.resources.processes
    rule = settings.scanning_of(signer.signing.unit).rule
    hashes = content_hashes(*text_buffers(column))
    # distinct texts in the order of their hashes, each represented by its first occurrence
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    distinct = column.take(pa.array(first))
    tokens, worded = _sign(signer, distinct, threads)
    groups = group_tokens(tokens)
    active = np.unique(groups.members)
    active = active[worded[active]]
    local = np.full(len(distinct), -1)
    local[active] = np.arange(len(active))
    groups = _without(groups, local)
    nowhere, all_stale = np.full(len(active), -1), np.ones(len(active), np.bool_)
    block = Block(active, distinct.take(pa.array(active)), tokens[active], nowhere, all_stale)
    hot = hot_tokens(groups, block.tokens, HOT_LIMIT)
    pairs, candidates = collide_block(block, groups, hot, signer, rule, threads, edits=False)
    a, b = first[pairs["a"].to_numpy()], first[pairs["b"].to_numpy()]
    a, b = np.minimum(a, b), np.maximum(a, b)
    jaccard = pairs["jaccard"].to_numpy(zero_copy_only=False)
    root = find_roots(len(distinct), pairs["a"].to_numpy(), pairs["b"].to_numpy(), jaccard, settings.scanning.linkage)
    least = np.full(len(distinct), len(column))
    np.minimum.at(least, root, first)
    label = np.where(worded[which], least[root[which]], np.arange(len(column)))
    order = np.lexsort((b, a))
    return TextClusters(label, a[order], b[order], jaccard[order], candidates)


def _sign(signer: TextSigner, texts: pa.LargeStringArray, threads: int) -> tuple[Tokens, npt.NDArray[np.bool_]]:
    """Return the tokens of each text, and whether it has any shingle."""

    def part(begin: int, end: int) -> tuple[Tokens, npt.NDArray[np.bool_]]:
        views = signer.views(texts.slice(begin, end - begin))
        return signer.tokens(views), views.worded

    cuts = np.linspace(0, len(texts), (4 * threads if threads > 1 else 1) + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(part, cuts[:-1], cuts[1:]))
    return np.concatenate([tokens for tokens, _ in parts]), np.concatenate([worded for _, worded in parts])


def _without(groups: Groups, local: npt.NDArray[np.int64]) -> Groups:
    """Return the groups with their members renumbered by `local`. Members with number -1 are dropped."""
    members = local[groups.members]
    kept = np.concatenate(([0], np.cumsum(members >= 0)))
    return Groups(kept[groups.starts], members[members >= 0], groups.columns)
