"""A few random trees of sources, changed and killed at random moments; `scripts/torture` tries thousands."""

from __future__ import annotations

import pytest

from tests.support.trees import try_tree


@pytest.mark.parametrize("seed", range(1, 13))
def test_what_is_written_of_a_tree_comes_from_it(seed: int) -> None:
    try_tree(seed)
