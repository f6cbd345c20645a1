"""What a module that tells languages has."""

from __future__ import annotations

from typing import Protocol


class Detector(Protocol):
    """A module of this package."""

    def codes(self) -> frozenset[str]:
        """Return the languages that it knows, as it spells them."""
        ...

    def tell(self, text: str, telling: bool) -> str:
        """Return the language of a text without control characters, or nothing if that is not certain. A long text is
        `telling`.
        """
        ...

    def others(self, text: str) -> float:
        """Return how much of such a text is in another language than most of it, in percent; 0 if that is unknown."""
        ...
