"""A few random trees of sources, changed and killed at random moments; `scripts/torture` tries thousands."""

from __future__ import annotations

import pytest

from tests.support.full import few
from tests.support.trees import try_tree


@pytest.mark.parametrize("seed", few(range(1, 13), *range(0, 12, 2)))
def test_what_is_written_of_a_tree_comes_from_it(seed: int) -> None:
    try_tree(seed)
