"""Counts with their nouns."""

from __future__ import annotations


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: 1 cluster, 2,000 clusters. `many` is for what is not made with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
