"""Plans and scores as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from esdedup.output.contents.quality_answers import Evaluation, Plan

_FEW = 20_000
_STORES = {"embedded": "a file of this machine", "server": "the server", "lake": "a lake"}


def plan_text(answer: Plan, recall: float) -> str:
    """The table of schemes, the curve of the recommended one, the forecast."""
    parts = [_schemes(answer), _recommended(answer, recall), _curve(answer)]
    if answer["forecast"]:
        parts.append(_forecast(answer["forecast"]))
    return "\n\n".join(parts)


def _schemes(answer: Plan) -> str:
    sample, threshold = answer["sample"], answer["threshold"]
    head = (
        "In theory, for pairs spread evenly above the threshold; a source or --store would tell more"
        if sample is None
        else f"{sample['texts']:,} distinct {answer['unit']}s, "
        f"{sample['true_pairs']:,} pairs with Jaccard ≥ {threshold}"
    )
    lines = [head, "", "    scheme  hashes  expected   found   candidates        false  seconds"]
    for row in answer["schemes"]:
        mark = "*" if row["scheme"] == answer["recommended"] else " "
        lines.append(
            f"{mark} {row['scheme']:>8}  {row['hashes']:>6}  {_share(row['expected_recall'])}  {_share(row['recall'])}"
            f"  {_count(row['candidates'])}  {_count(row['false_candidates'])}  {_seconds(row['seconds'])}"
        )
    if answer["exact"] is not None:
        mark = "*" if answer["recommended"] == "exact" else " "
        lines.append(
            f"{mark} {'exact':>8}  {'–':>6}  {_share(1.0)}  {_share(1.0)}  {_count(None)}  {_count(None)}"
            f"  {_seconds(answer['exact']['seconds'])}"
        )
    return "\n".join(lines)


def _recommended(answer: Plan, recall: float) -> str:
    recommended = answer["recommended"]
    if recommended == "exact":
        reached = any((row["recall"] or 0) >= recall for row in answer["schemes"])
        why = f"cheaper here than {answer['cheapest']}" if reached else f"no scheme finds {recall:g}"
        return f"Recommended: --exact, which compares all with all ({why})"
    tokens, _, rest = recommended.partition("x")
    rows, _, pool = rest.partition("/")
    options = f"--hashes {pool} --draw {rows} --draws {tokens}" if pool else f"--bands {tokens} --rows {rows}"
    why = f"the cheapest that finds {recall:g}" if answer["reached"] else f"none finds {recall:g}; this finds most"
    return f"Recommended: {options} ({why})"


def _curve(answer: Plan) -> str:
    lines = [f"What {answer['cheapest']} finds:", "", "   Jaccard  expected   found  pairs of the sample"]
    lines += [
        f"{row['jaccard']:>10.3f}  {_share(row['expected'])}  {_share(row['recall'])}  {row['pairs']:,}"
        for row in answer["curve"]
    ]
    return "\n".join(lines)


def _forecast(forecast: dict[str, Any]) -> str:
    lines = []
    for kind, cost in forecast.items():
        runs = " and ".join(f"{run['sentences']:,}" for run in cost["runs"])
        cores = "" if cost["cores"] is None else f" with {cost['cores']:,} cores"
        lines.append(
            f"{cost['sentences']:,} sentences on {_STORES[kind]}{cores}: {_time(cost['seconds'])}, "
            f"{cost['memory_bytes'] / 2**30:.1f} GiB of memory, {cost['disk_bytes'] / 1e9:.1f} GB of disk "
            f"(from runs over {runs})"
        )
        if cost["task_seconds"]:
            lines.append(
                f"  tasks of the cluster: {cost['task_seconds'] / 3600:.1f} core-hours, "
                f"{cost['shuffled_bytes'] / 1e9:.1f} GB through the shuffle"
            )
        if cost["runs"][-1]["sentences"] < _FEW:
            lines.append(
                f"  rough: {cost['runs'][-1]['sentences']:,} sentences are few to tell from, as such a run is mostly "
                f"its start; sample {_FEW:,} or more"
            )
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return f"{'–' if value is None else format(value, '.4f'):>8}"


def _count(value: int | None) -> str:
    return f"{'–' if value is None else format(value, ','):>11}"


def _seconds(value: float | None) -> str:
    return f"{'–' if value is None else format(value, '.2f'):>7}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def golden_text(found: Mapping[str, Any], sentences: int) -> str:
    """The scores of clusters against golden ones, one on each line."""
    lines = [
        (f"{sentences:,}", "sentences"),
        (f"{found['golden_clusters']:,}", "golden clusters of two or more (G)"),
        (f"{found['output_clusters']:,}", "clusters of the store of two or more (O)"),
        (f"{found['golden_not_in_output']:,}", "|G−O|, golden clusters that the store does not have"),
        (f"{found['output_not_in_golden']:,}", "|O−G|, clusters of the store that are not golden"),
        (_rounded(found["precision"]), "precision of the pairs in one cluster"),
        (_rounded(found["recall"]), "recall"),
        (_rounded(found["f1"]), "F1"),
        (_rounded(found["adjusted_rand_index"]), "adjusted Rand index"),
    ]
    return "\n".join(f"{value:>15}  {what}" for value, what in lines)


def _rounded(value: float | None) -> str:
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
        f"{_rounded(scores['recall']):>15}  recall",
        f"{_rounded(scores['precision']):>15}  precision",
    ]
    if scores.get("same_text"):
        lines.append(f"{scores['same_text']:>15,}  pairs of equal texts, which are found anyway and not counted above")
    if scores["by_jaccard"]:
        lines += ["", "        Jaccard      true     found    recall"]
        lines += [
            f"  {row['from']:.2f} to {row['to']:.2f}  {row['true_pairs']:>8,}  {row['right_pairs']:>8,}"
            f"  {_rounded(row['recall'])}"
            for row in scores["by_jaccard"]
        ]
    return "\n".join(lines)
