"""How many of all pairs a scan has found, measured on a sample of its texts, each compared with each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.evaluation.sample import true_pairs
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.resources import Resources
from esdedup.store.store import Store

_TEXTS = 20_000
_Z = 1.96  # of a normal distribution: 95 % lie within so many standard deviations


def measured_recall(store: Store, resources: Resources, apart: Hashes) -> dict[str, Any] | None:
    """Return the pairs in a sample, how many of them were found, and between which shares 95 % lie. None if a scan
    looks for other pairs than those at a Jaccard similarity. Texts set `apart` from the scan are left out.
    """
    scanning = Scanning.from_described(store.ledger.last_scanning() or {})
    by_jaccard = scanning.verifier.compares and scanning.verifier.least(scanning.jaccard) == scanning.jaccard
    if not by_jaccard or scanning.word_edit_distance is not None or scanning.of_sources:
        return None
    hashes = np.setdiff1d(store.corpus.sample(_TEXTS), apart)
    texts = store.corpus.texts_in_order(hashes)
    pairs = true_pairs(texts, TextSigner(store.signing), scanning.jaccard, resources)
    known = [np.empty(0, np.int64)]
    for batch in store.results.pair_hashes(pa.table({"hash": hashes})):
        ends = np.sort([np.searchsorted(hashes, batch[name].to_numpy()) for name in ("a", "b")], axis=0)
        known.append(ends[0] * len(hashes) + ends[1])
    found = int(np.isin(pairs.a * len(hashes) + pairs.b, np.concatenate(known)).sum())
    low, high = wilson(found, len(pairs.a))
    return {"texts": len(hashes), "pairs": len(pairs.a), "found": found, "low": round(low, 4), "high": round(high, 4)}


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Return the interval of a share (E. B. Wilson, Probable inference, 1927): 0 to 1 without trials."""
    if not trials:
        return 0.0, 1.0
    share, square = hits / trials, _Z**2
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = _Z / (1 + square / trials) * np.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))
