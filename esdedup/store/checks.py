"""What a check of a store finds."""

from __future__ import annotations

from typing import NamedTuple


class Check(NamedTuple):
    """One promise of a store, and whether it is kept."""

    name: str
    problem: str | None = None
    """What is wrong, in one sentence; None if nothing is."""
    advice: str | None = None
    """What mends it."""
    repaired: bool = False
    """Whether it was mended just now."""
    made: bool = True
    """Whether the check was made. Some need what others found missing."""
