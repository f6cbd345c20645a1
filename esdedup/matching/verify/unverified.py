"""No verification: every candidate is a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esdedup.errors import SettingsError
from esdedup.matching.verify.protocol import Verifier


@dataclass(frozen=True)
class Unverified(Verifier):
    """Nothing is measured."""

    name = "none"
    summary = "every candidate is a pair"
    compares = False
    asks_closeness = False

    def check_with(self, word_edit_distance: int | None) -> None:
        """Reject a limit, because it would have to be measured."""
        if word_edit_distance is not None:
            raise SettingsError("word-edit-distance needs verify exact; now verify is none")

    def least(self, jaccard: float) -> float:
        """Return 0: pairs may have any Jaccard."""
        return 0.0

    def reached(self, found: Mapping[str, Any], jaccard: float, compared: str) -> str:
        """Say that nothing was measured."""
        return "nothing was verified"
