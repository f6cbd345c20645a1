"""Tokens are grouped by digits as they would be by comparing them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.matching.groups import NO_TOKEN, POSTING, parted, runs
from esdedup.matching.signers.minhash_kernels import TOKEN_BITS

# tokens that begin alike, and few of them, so that there are groups
TOKENS = st.builds(
    lambda begin, end: begin << 30 | end, st.integers(0, 2 ** (TOKEN_BITS - 30) - 1) | st.just(7), st.integers(0, 3)
)


@given(st.lists(st.one_of(TOKENS, st.integers(-1, 5)), max_size=60))
def test_runs_are_groups_of_equal_tokens(tokens: list[int]) -> None:
    of: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        if token >= 0:
            of.setdefault(token, []).append(place)
    groups = [places for _, places in sorted(of.items()) if len(places) > 1]
    ends, members = runs(np.array(tokens, np.int64))
    assert members.tolist() == [place for places in groups for place in places]
    assert ends.tolist() == np.cumsum([len(places) for places in groups]).astype(int).tolist()


@pytest.mark.parametrize("parts", [1, 2, 16])
def test_postings_are_parted_by_ranges_of_tokens(parts: int) -> None:
    numbers = np.random.default_rng(parts)
    tokens = numbers.integers(0, 1 << TOKEN_BITS, 3_000)
    tokens[numbers.integers(0, 3_000, 500)] = NO_TOKEN
    tokens[:2] = 0, (1 << TOKEN_BITS) - 1
    ends = np.sort(np.append([0, 3_000], numbers.integers(0, 3_000, 999)))
    rows, chosen = numbers.permutation(1_000), numbers.random(1_000) < 0.7
    chosen[rows[:3]] = True
    found, bounds = parted(tokens, ends, rows, chosen, np.empty(3_000, POSTING), parts)
    owners = np.repeat(rows, np.diff(ends))
    kept = chosen[owners] & (tokens >= 0)
    assert sorted(found.tolist()) == sorted(zip(tokens[kept].tolist(), owners[kept].tolist(), strict=True))
    assert [bounds[0], bounds[-1], len(bounds)] == [0, len(found), parts + 1]
    for part, (begin, end) in enumerate(pairwise(bounds)):
        assert (found["token"][begin:end] * parts >> TOKEN_BITS == part).all()
