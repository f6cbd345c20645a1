"""Estimate the recall of tokens from the pairs that a scan has found, without those that it missed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.evaluation.sample import BINS, Curve
from esdedup.evaluation.schemes import Shares
from esdedup.matching.signers.protocol import Signer

_HALVINGS = 40


def observed_curve(
    signer: Signer, pairs: Iterable[pa.RecordBatch], threshold: float, *, by_tokens: bool
) -> Curve[Signer]:
    """Estimate the share of pairs that share a token at each similarity, from columns `jaccard` and `shared_tokens`.

    If pairs were not found by tokens, it is counted. If they were (`by_tokens`), pairs without a common token are
    missing. Then the number of tokens that each pair shares (at least one) gives the probability of sharing a single
    token. From that follows the share of pairs with any, as tokens are independent. For draws from one pool, which are
    not independent, the estimate is too high.
    """
    middles = (np.arange(np.floor(threshold * BINS + 1e-9), BINS) + 0.5) / BINS
    first = BINS - len(middles)
    counts, sharing, tokens = (np.zeros(len(middles)) for _ in range(3))
    for batch in pairs:
        known = batch.filter(pc.is_valid(batch["jaccard"]))
        at = np.minimum((known["jaccard"].to_numpy() * BINS + 1e-9).astype(np.int64), BINS - 1) - first
        shared = known["shared_tokens"].to_numpy()
        shared, at = shared[at >= 0], at[at >= 0]
        counts += np.bincount(at, minlength=len(middles))
        sharing += np.bincount(at, weights=shared > 0, minlength=len(middles))
        tokens += np.bincount(at, weights=shared, minlength=len(middles))
    with np.errstate(invalid="ignore"):
        found = _any(tokens / sharing, signer.tokens) if by_tokens else sharing / counts
    return Curve(signer, middles, signer.chance(middles), counts.astype(np.int64), found)


def _any(mean: Shares, tokens: int) -> Shares:
    """Return the probability of sharing any of the tokens, if pairs that share one share `mean` of them; NaN stays."""
    low, high = np.zeros(len(mean)), np.ones(len(mean))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_low = tokens * middle < mean * (1 - (1 - middle) ** tokens)
        low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    found: npt.NDArray[np.float64] = np.where(np.isnan(mean), np.nan, 1 - (1 - high) ** tokens)
    return found
