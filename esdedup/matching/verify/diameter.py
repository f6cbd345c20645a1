"""How far the members of a cluster are from its representative. It reveals single-linkage chains."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.clustering.clusters import Clusters
from esdedup.matching.lsh.collide import jaccards
from esdedup.matching.signers.text_signer import TextSigner

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
