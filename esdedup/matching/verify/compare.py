"""Compare one text with many, and the members of clusters with their representatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.clustering.clusters import Clusters
from esdedup.columns.arrays import Numbers
from esdedup.matching.lsh.collide import jaccards, shared_tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.edits import word_edit_distances

Similarities = npt.NDArray[np.float64]


class Comparison(NamedTuple):
    """The comparison of a text with n others: columns of shape (n,).

    `containment` is the share of the text's shingles that the other text contains.
    """

    shared_tokens: Numbers
    jaccard: Similarities
    containment: Similarities
    word_edit_distance: npt.NDArray[np.int32]


def compare(signer: TextSigner, text: str, others: pa.LargeStringArray) -> Comparison:
    """Compare `text` with each of `others`. A text without shingles has nothing in common with any."""
    texts, first, rows = _beside(text, others)
    flat, bounds, kind = _shingled(signer, texts)
    jaccard = jaccards(flat, bounds, kind, first, rows)
    sizes = np.diff(bounds)
    view = np.minimum(kind[0], kind[1:]) * np.int64(len(texts))
    common = np.rint(jaccard * (sizes[view] + sizes[view + rows]) / (1 + jaccard))
    containment = common / np.maximum(sizes[view], 1)
    tokens = signer.tokens(signer.views(texts))
    shared = shared_tokens(tokens, kind, signer.signing.signer.tokens, first, rows) * (jaccard > 0)
    return Comparison(shared, jaccard, containment, word_edit_distances(texts, first, rows))


def jaccards_with(signer: TextSigner, text: str, others: pa.LargeStringArray) -> Similarities:
    """Return the Jaccard index of `text` and each of `others` alone, which takes a third of the time."""
    return jaccards_of(signer, *_beside(text, others))


def jaccards_of(signer: TextSigner, texts: pa.LargeStringArray, one: Numbers, two: Numbers) -> Similarities:
    """Return the Jaccard index of each two of the texts, which are given by their places."""
    return jaccards(*_shingled(signer, texts), one, two)


def _beside(text: str, others: pa.LargeStringArray) -> tuple[pa.LargeStringArray, Numbers, Numbers]:
    """Return all texts in one column, and the rows to compare."""
    texts = pa.concat_arrays([pa.array([text], pa.large_string()), others])
    return texts, np.zeros(len(others), np.int64), np.arange(1, len(texts))


def _shingled(signer: TextSigner, texts: pa.LargeStringArray) -> tuple[Any, Any, Any]:
    """Return the shingles of texts, each in every view: so any two can be compared."""
    return signer.sets(TextSigner(signer.signing, 0).views(texts))


def diff_words(one: str, two: str, forms: Callable[[list[str]], list[str]] = list[str]) -> list[tuple[str, str]]:
    """Return runs of words (separated by spaces): `=` in both texts, `-` only in `one`, `+` only in `two`.

    Words are equal if their `forms` are; then they are shown as in `two`.
    """
    a, b = one.split(" "), two.split(" ")
    runs: list[tuple[str, str]] = []
    for what, begin, end, first, last in SequenceMatcher(None, forms(a), forms(b), autojunk=False).get_opcodes():
        if what == "equal":
            runs.append(("=", " ".join(b[first:last])))
            continue
        if end > begin:
            runs.append(("-", " ".join(a[begin:end])))
        if last > first:
            runs.append(("+", " ".join(b[first:last])))
    return runs


_BYTES_A_TEXT = 4000


def far_members(
    fetch: Callable[[pa.Table], Iterable[pa.RecordBatch]],
    signer: TextSigner,
    clusters: Clusters,
    limit: float,
    budget: int,
) -> dict[int, float]:
    """Find clusters with a member below `limit`: the id, and the lowest exact Jaccard of a member with its
    representative.

    Texts come from `fetch` (from a table with column `hash` to rows of hash and text), `budget` bytes at a time.
    """
    chained = clusters.clusters.filter(pc.greater(clusters.clusters["distinct_texts"], 2))
    if limit <= 0 or chained.num_rows == 0:
        return {}
    ids = chained["id"].to_numpy()
    order = np.argsort(ids)
    ids, representatives = ids[order], chained["representative"].to_numpy()[order]
    hashes, cluster = clusters.texts["hash"].to_numpy(), clusters.texts["cluster"].to_numpy()
    inside = np.isin(cluster, ids)
    hashes, cluster = hashes[inside], cluster[inside]
    order = np.lexsort((hashes, cluster))
    hashes, cluster = hashes[order], cluster[order]
    owner = np.searchsorted(ids, cluster)
    far: dict[int, float] = {}
    step = max(1000, budget // _BYTES_A_TEXT)
    for begin in range(0, len(hashes), step):
        part, of = hashes[begin : begin + step], owner[begin : begin + step]
        needed = np.unique(np.concatenate([part, representatives[np.unique(of)]]))
        rows = pa.Table.from_batches(list(fetch(pa.table({"hash": needed}))))
        rows = rows.take(pc.sort_indices(rows["hash"]))
        known = rows["hash"].to_numpy()
        texts = rows["text"].cast(pa.large_string()).combine_chunks()
        flat, bounds, kind = signer.sets(signer.views(texts)).trimmed()
        similarity = jaccards(
            flat, bounds, kind, np.searchsorted(known, part), np.searchsorted(known, representatives[of])
        )
        for at in np.flatnonzero(similarity < limit):
            which = int(ids[of[at]])
            far[which] = min(far.get(which, 1.0), float(similarity[at]))
    return far
