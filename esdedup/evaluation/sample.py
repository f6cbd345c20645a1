"""A sample of the user's texts with all true pairs, on which signing schemes are measured; and what a store shows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines import make_engine
from esdedup.evaluation.schemes import Scheme, Shares
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.groups import token_lists
from esdedup.matching.lsh.collide import shared_tokens
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.protocol import Signer
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing, freeze
from esdedup.resources import Resources


class TruePairs(NamedTuple):
    """Pairs as indices into the column of texts, a < b, and their Jaccard; each of shape (pairs,)."""

    a: Numbers
    b: Numbers
    jaccard: npt.NDArray[np.float64]


def true_pairs(texts: pa.LargeStringArray, signer: TextSigner, jaccard: float, resources: Resources) -> TruePairs:
    """Return all pairs of distinct texts at or above `jaccard`, sorted by (a, b). They are compared on this machine."""
    hashes = content_hashes(*text_buffers(texts))
    order = np.argsort(hashes, kind="stable")
    tokens = signer.signing.tokens
    lengths = np.diff(text_buffers(texts)[1])
    columns = [
        pa.array(hashes),
        pa.array(np.full(len(texts), -1)),
        pa.array(lengths, pa.int32()),
        # all texts are compared, so tokens are not used
        token_lists(np.zeros((len(texts), tokens), np.int64)),
    ]

    def fetch(requested: pa.Table) -> Iterator[pa.RecordBatch]:
        places = order[np.searchsorted(hashes[order], requested["hash"].to_numpy())]
        yield pa.record_batch({"hash": requested["hash"].combine_chunks(), "text": texts.take(pa.array(places))})

    with (
        tempfile.TemporaryDirectory(prefix="esdedup-") as spill,
        Database(memory=resources.memory * 2 // 5, threads=resources.processes, spill=Path(spill)) as db,
    ):
        scanning = Scanning.of(jaccard=jaccard, candidates="exact")
        sentences = Sentences(tokens, lambda _: [(0, pa.table(columns, SIGNATURES))], fetch)
        engine = make_engine(replace(resources, engine="local"), db, sentences)
        scanning.matcher.find(engine, MatchContext(signer.signing, scanning.rule, resources.processes))
        found = db.arrays(
            "SELECT one.hash AS one, two.hash AS two, jaccard FROM pairs p "
            "JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
        )
    ends = [order[np.searchsorted(hashes[order], found[name])] for name in ("one", "two")]
    a, b = np.minimum(*ends), np.maximum(*ends)
    by_index = np.lexsort((b, a))
    return TruePairs(a[by_index], b[by_index], found["jaccard"][by_index])


LEAST = 0.5
"""Pairs are searched from this similarity. Below it there are very many, and they are not useful."""

BINS = 20
"""Number of ranges of similarity between 0 and 1."""

MOST_PAIRS = 2_000_000
"""Most pairs of a sample. If texts are very similar, the sample has fewer texts."""

_FIRST = 1250


S = TypeVar("S", Scheme, Signer)


class Curve(NamedTuple, Generic[S]):
    """What a scheme finds at each similarity: `jaccard` (the middle of a range), `expected`, `pairs`, and `recall` (NaN
    if the sample has no pair).
    """

    scheme: S
    jaccard: Shares
    expected: Shares
    pairs: npt.NDArray[np.int64]
    recall: Shares


@dataclass(frozen=True)
class Sample:
    """Distinct texts, their shingle settings, the threshold, and every pair at or above `LEAST`, or at or above the
    threshold if that is lower.
    """

    texts: pa.LargeStringArray
    signing: Signing
    threshold: float
    resources: Resources
    pairs: TruePairs

    @classmethod
    def of(cls, texts: pa.LargeStringArray, signing: Signing, threshold: float, resources: Resources) -> Sample:
        """Take as many of the texts (sorted by hash) as have at most `MOST_PAIRS` pairs.

        The size grows in steps: four times the texts have at most about sixteen times the pairs.
        """
        signer, size = TextSigner(signing), min(_FIRST, len(texts))
        while True:
            pairs = true_pairs(texts.slice(0, size), signer, min(LEAST, threshold), resources)
            if size == len(texts) or 16 * len(pairs.a) > MOST_PAIRS:
                return cls(texts.slice(0, size), signing, threshold, resources, pairs)
            size = min(4 * size, len(texts))

    @cached_property
    def similarities(self) -> Shares:
        """The similarities of the pairs at or above the threshold."""
        return self.pairs.jaccard[self.pairs.jaccard >= self.threshold]

    def curve(self, scheme: Scheme) -> Curve[Scheme]:
        """Return what the scheme finds of the pairs of each similarity."""
        low = min(LEAST, self.threshold)
        edges = np.arange(np.floor(low * BINS + 1e-9), BINS + 1) / BINS
        middles = (edges[:-1] + edges[1:]) / 2
        signer = TextSigner(freeze(self.signing, scheme.options()))
        used, places = np.unique(np.concatenate([self.pairs.a, self.pairs.b]), return_inverse=True)
        views = signer.views(self.texts.take(pa.array(used)))
        half = len(self.pairs.a)
        found = shared_tokens(signer.tokens(views), views.kind, scheme.tokens, places[:half], places[half:]) > 0
        which = np.clip(np.searchsorted(edges, self.pairs.jaccard, side="right") - 1, 0, len(middles) - 1)
        pairs = np.bincount(which, minlength=len(middles))
        hits = np.bincount(which, weights=found, minlength=len(middles))
        recall = np.where(pairs > 0, hits / np.maximum(pairs, 1), np.nan)
        return Curve(scheme, middles, scheme.chance(middles), pairs, recall)


def expected_curve(scheme: Scheme, threshold: float) -> Curve[Scheme]:
    """Return the curve in theory."""
    middles = (np.arange(np.floor(min(LEAST, threshold) * BINS + 1e-9), BINS) + 0.5) / BINS
    return Curve(
        scheme, middles, scheme.chance(middles), np.zeros(len(middles), np.int64), np.full(len(middles), np.nan)
    )


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
