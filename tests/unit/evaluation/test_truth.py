"""Samples: all true pairs among them, and what of them a scheme finds."""

from __future__ import annotations

import numpy as np
import pytest

from esdedup.columns.arrays import text_column
from esdedup.evaluation import sample
from esdedup.evaluation.sample import Sample, expected_curve, true_pairs
from esdedup.evaluation.schemes import Scheme
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.resources import Resources
from tests.support.corpus import corpus, template
from tests.support.corpus import true_pairs as by_definition
from tests.support.minhash import banded, tokens_of_text


def test_all_true_pairs_by_place() -> None:
    texts = sorted(set(corpus(81, 300)))
    found = true_pairs(text_column(texts), TextSigner(Signing()), 0.6, Resources(workers=2))
    named = {(texts[a], texts[b]): jaccard for a, b, jaccard in zip(*found, strict=True)}
    assert named == by_definition(texts, 0.6)
    assert (found.a < found.b).all()
    assert list(zip(found.a, found.b, strict=True)) == sorted(zip(found.a, found.b, strict=True))


def test_a_curve_counts_the_pairs_of_each_class() -> None:
    texts = sorted(set(corpus(82, 500)))
    found = Sample.of(text_column(texts), Signing(), 0.8, Resources(workers=2))
    assert len(found.texts) == len(texts)
    curve = found.curve(Scheme(10, 4))
    pairs = by_definition(texts, 0.5)
    truth = np.array(list(pairs.values()))
    assert curve.pairs.sum() == len(truth)
    assert curve.pairs[(curve.jaccard > 0.8)].sum() == (truth >= 0.8).sum() == len(found.similarities)
    choices, seed = banded(10, 4), Signing().seed
    shared = sum(bool(tokens_of_text(a, choices, seed) & tokens_of_text(b, choices, seed)) for a, b in pairs)
    assert 0 < shared < len(pairs)
    assert np.nansum(curve.pairs * curve.recall) == shared


def test_in_theory_alone() -> None:
    curve = expected_curve(Scheme(10, 4), 0.3)
    assert curve.jaccard[0] == 0.325
    assert not curve.pairs.any()
    assert np.isnan(curve.recall).all()


def test_texts_that_are_all_alike_are_taken_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a tenth of the texts with a hundredth of the pairs."""
    assert sample.MOST_PAIRS < 16 * 1250 * 1249 // 2
    assert sample._FIRST == 1250
    monkeypatch.setattr(sample, "_FIRST", 125)
    monkeypatch.setattr(sample, "MOST_PAIRS", sample.MOST_PAIRS // 100)
    texts = template(83, 150)
    found = Sample.of(text_column(texts), Signing(), 0.8, Resources(workers=2))
    assert len(found.texts) == 125
    assert len(found.pairs.a) == 125 * 124 // 2
    assert found.curve(Scheme(10, 4)).pairs.sum() == len(found.pairs.a)
