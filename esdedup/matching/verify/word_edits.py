"""Verification by word edit distance only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esdedup.errors import SettingsError
from esdedup.matching.verify.protocol import Verifier


@dataclass(frozen=True)
class WordEdits(Verifier):
    """A pair differs in at most as many words as the scan's limit."""

    name = "words"
    summary = "by words that differ"
    compares = True
    asks_closeness = False

    def check_with(self, word_edit_distance: int | None) -> None:
        """Require a limit."""
        if word_edit_distance is None:
            raise SettingsError("verify words needs word-edit-distance, which is not set")

    def least(self, jaccard: float) -> float:
        """Return 0: pairs may have any Jaccard."""
        return 0.0

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Explain by the distance."""
        return f"{found['word_edit_distance']} words differ"
