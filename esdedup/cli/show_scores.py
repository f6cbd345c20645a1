"""The quality of results, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from esdedup.output.contents.quality_answers import Evaluation


def golden_text(found: Mapping[str, Any], sentences: int) -> str:
    """The scores of clusters against golden ones, one on each line."""
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


def evaluation_text(found: Evaluation) -> str:
    """The result of `evaluate`, clusters and pairs."""
    parts = []
    if "golden" in found:
        parts.append(golden_text(found["golden"], found["sentences"]))
    if "truth" in found:
        parts.append(truth_text(found["truth"]))
    return "\n\n".join(parts)


def truth_text(scores: dict[str, Any]) -> str:
    """How many of the true pairs were found, in total and by similarity."""
    least = f" of Jaccard {scores['threshold']:g} and above" if "threshold" in scores else ""
    lines = [
        f"{scores['true_pairs']:>15,}  true pairs{least}",
        f"{scores['found_pairs']:>15,}  pairs found",
        f"{scores['right_pairs']:>15,}  of them true",
        f"{_share(scores['recall']):>15}  recall",
        f"{_share(scores['precision']):>15}  precision",
    ]
    if scores.get("same_text"):
        lines.append(f"{scores['same_text']:>15,}  pairs of equal texts, which are found anyway and not counted above")
    if scores["by_jaccard"]:
        lines += ["", "        Jaccard      true     found    recall"]
        lines += [
            f"  {row['from']:.2f} to {row['to']:.2f}  {row['true_pairs']:>8,}  {row['right_pairs']:>8,}"
            f"  {_share(row['recall'])}"
            for row in scores["by_jaccard"]
        ]
    return "\n".join(lines)
