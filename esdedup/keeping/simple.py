"""Policies that look at the input order, the source or the length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from esdedup.keeping.protocol import Policy, TextPolicy

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.arrays import Numbers
    from esdedup.keeping.protocol import Keys


class First(Policy):
    """The copy that is read first."""

    name = "first"
    summary = "the first in reading order"

    def shown(self, key: float) -> Any:
        del key


class Nothing(First):
    """No copy."""

    name = "none"
    summary = "no copy"


class SourceOrder(First):
    """The copy of the source that is named first."""

    name = "source-order"
    summary = "from the source that is named first"
    reads = "source"


class Longest(TextPolicy):
    """The longest text, in characters."""

    name = "longest"
    summary = "the longest text"

    @property
    def measure(self) -> str:
        return "length"

    def text_keys(self, texts: pa.LargeStringArray, groups: Numbers) -> Keys:
        """Return lengths below 0."""
        del groups
        keys: Keys = -pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.float64)
        return keys

    def shown(self, key: float) -> Any:
        return int(-key)
