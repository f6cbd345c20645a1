"""pari: its deduplication with the defaults; pairs are verified by the exact Jaccard of the shingles, as it offers."""

from serving import THRESHOLD, Arrays, serve, shingles, use_cores

use_cores()

import numpy as np  # noqa: E402
from pari import deduplicate  # noqa: E402


def job(texts: list[str]) -> Arrays:
    found = deduplicate(texts, feature=encoded, threshold=THRESHOLD, exact=alike)
    label = np.arange(len(texts))
    for group in found.groups:
        label[list(group.member_indices)] = group.representative_index
    return {"label": label}


def encoded(text: str) -> list[bytes]:
    return [shingle.encode() for shingle in shingles(text)]


def alike(one: str, other: str) -> bool:
    a, b = set(shingles(one)), set(shingles(other))
    return len(a & b) >= THRESHOLD * len(a | b)


serve({"job": job})
