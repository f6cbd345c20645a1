"""Tokens are grouped by digits as they would be by comparing them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from esdedup.matching.groups import runs
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
