"""Shingle sets against their definition, and the rule for short texts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_column
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing


def sets(texts: list[str], **options: object) -> list[np.ndarray]:
    signer = TextSigner(Signing.of(**options))  # type: ignore[arg-type]
    flat, bounds, _ = signer.sets(signer.views(text_column(texts))).trimmed()
    return [flat[begin:end] for begin, end in pairwise(bounds)]


def shingles(units: list[str] | str, length: int) -> set[tuple[str, ...]]:
    if not units:
        return set()
    size = min(length, len(units))
    return {tuple(units[at : at + size]) for at in range(len(units) - size + 1)}


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2), st.integers(1, 15))
def test_character_shingles_are_sets_of_windows(texts: list[str], length: int) -> None:
    one, two = sets(texts, shingle=f"char:{length}")
    true_one, true_two = (shingles(text, length) for text in texts)
    assert (len(one), len(two)) == (len(true_one), len(true_two))
    assert len(np.intersect1d(one, two)) == len(true_one & true_two)
    assert np.all(np.diff(one.astype(object)) > 0)


WORDS = st.lists(st.sampled_from(["new", "old", "Old", "river", "naïve", "40.4", "世"]), max_size=12)


@given(WORDS, WORDS, st.integers(1, 4))
def test_word_shingles_are_sets_of_word_windows(one: list[str], two: list[str], length: int) -> None:
    first, second = sets([" ".join(one), ", ".join(two)], shingle=f"word:{length}")
    assert len(first) == len(shingles(one, length))
    assert len(np.intersect1d(first, second)) == len(shingles(one, length) & shingles(two, length))


@pytest.mark.parametrize(
    ("normalize", "same"),
    [("none", []), ("lower", ["UP down!", "up DOWN!"]), ("words", ["Up, down!", "up  down"]),
     ("stem", ["Running dogs.", "run dog"])],
)  # fmt: skip
def test_normalisation_makes_equal(normalize: str, same: list[str]) -> None:
    if same:
        one, two = sets(same, normalize=normalize)
        assert one.tolist() == two.tolist()


def test_a_text_shorter_than_a_shingle_is_one_shingle() -> None:
    assert [len(one) for one in sets(["", "a", "ab" * 6, "abc" * 5])] == [0, 1, 1, 3]
