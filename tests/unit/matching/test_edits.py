"""Word edit distance against its definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_column
from esdedup.matching.verify import edits
from esdedup.matching.verify.edits import word_edit_distances


def levenshtein(one: list[str], two: list[str]) -> int:
    row = list(range(len(two) + 1))
    for at, left in enumerate(one, 1):
        before, row = row, [at]
        for to, right in enumerate(two, 1):
            row.append(min(before[to] + 1, row[-1] + 1, before[to - 1] + (left != right)))
    return row[-1]


SENTENCES = st.lists(
    st.lists(st.sampled_from(["river", "Old", "old", "40.4", "don't"]), max_size=8), min_size=2, max_size=5
)


@given(SENTENCES, st.sampled_from([3, edits._CHARACTERS]))
def test_distance_counts_words(sentences: list[list[str]], characters: int) -> None:
    a = np.arange(len(sentences) - 1)
    texts = text_column([", ".join(words) + "." for words in sentences])
    with pytest.MonkeyPatch.context() as patch:
        # with fewer characters than words it has to go on in smaller parts
        patch.setattr(edits, "_CHARACTERS", characters)
        found = word_edit_distances(texts, a, a + 1)
    assert found.tolist() == [levenshtein(*pair) for pair in pairwise(sentences)]


def test_no_pairs() -> None:
    empty = np.empty(0, np.int64)
    assert word_edit_distances(text_column(["a"]), empty, empty).tolist() == []
