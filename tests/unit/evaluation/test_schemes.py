"""What schemes are expected to find, and which is taken."""

from __future__ import annotations

import numpy as np
import pytest

from esdedup.errors import SettingsError, UsageError
from esdedup.evaluation.schemes import Scheme, SchemeTrial, expected_recall, recommended, schemes_of


@pytest.mark.parametrize(
    ("name", "scheme", "hashes"),
    [("10x4", Scheme(10, 4), 40), ("10x10/20", Scheme(10, 10, 20), 20), (" 5x20 ", Scheme(5, 20), 100)],
)
def test_names(name: str, scheme: Scheme, hashes: int) -> None:
    assert Scheme.parse(name) == scheme
    assert str(scheme) == name.strip()
    assert scheme.hashes == hashes


@pytest.mark.parametrize("name", ["", "10", "10x", "0x4", "10x4/", "10x4/0", "ten", "10×4", "100x4"])
def test_what_is_no_scheme(name: str) -> None:
    with pytest.raises(UsageError, match="BANDSxROWS"):
        Scheme.parse(name)


@pytest.mark.parametrize("name", ["10x10/5", "65x4", "4x65"])
def test_what_cannot_be_signed_with(name: str) -> None:
    with pytest.raises(SettingsError, match="allowed"):
        Scheme.parse(name)


def test_the_chance_to_be_found() -> None:
    assert Scheme(10, 4).chance(np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 1 - (15 / 16) ** 10, 1])
    assert expected_recall(Scheme(1, 1), np.array([0.8, 1.0]), 0.8) == pytest.approx(0.9)
    assert expected_recall(Scheme(1, 1), np.empty(0), 0.8) == pytest.approx(0.9)


def test_all_that_make_sense_keep_to_the_tokens() -> None:
    for tokens in (1, 2, 7, 64):
        schemes = schemes_of(tokens)
        assert len(set(schemes)) == len(schemes)
        assert max(scheme.tokens for scheme in schemes) == tokens


def test_the_cheapest_that_finds_enough() -> None:
    few, many, loose = Scheme(5, 4), Scheme(10, 4), Scheme(10, 2)
    tried = [
        SchemeTrial(few, 0.9, 1e-9, recall=0.95),
        SchemeTrial(many, 0.9, 1e-9, recall=0.995),
        SchemeTrial(loose, 0.9, 1e-3, recall=1.0),
    ]
    assert recommended(tried, 0.99, 1_000_000).scheme == many
    assert recommended(tried, 0.9, 1_000_000).scheme == few
    assert recommended(tried, 0.999, 1_000_000).scheme == loose
    assert recommended(tried[:2], 0.999, 1_000_000).scheme == many  # none finds enough: the one that finds most
    assert recommended(tried[1:], 0.99, 100).scheme == loose  # among few, false candidates cost nothing


def test_draws_are_not_taken_on_expectation() -> None:
    tried = [SchemeTrial(Scheme(10, 4, 20), 1.0, 0.0), SchemeTrial(Scheme(10, 4), 0.995, 0.0)]
    assert recommended(tried, 0.99, 1000).scheme == Scheme(10, 4)
