"""How good results are, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def golden_text(found: Mapping[str, Any], sentences: int) -> str:
    """The scores of clusters against golden ones, one a line."""
    lines = [
        (f"{sentences:,}", "sentences"),
        (f"{found['golden_clusters']:,}", "golden clusters of two or more (G)"),
        (f"{found['output_clusters']:,}", "clusters of the store of two or more (O)"),
        (f"{found['golden_not_in_output']:,}", "|G−O|, golden clusters that the store does not have"),
        (f"{found['output_not_in_golden']:,}", "|O−G|, clusters of the store that are not golden"),
        (_share(found["precision"]), "precision of the pairs in one cluster"),
        (_share(found["recall"]), "recall"),
        (_share(found["f1"]), "F1"),
        (_share(found["adjusted_rand_index"]), "adjusted Rand index"),
    ]
    return "\n".join(f"{value:>15}  {what}" for value, what in lines)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.6f}"
