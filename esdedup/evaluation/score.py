"""How well two clusterings of the same items agree: clusters as sets, pairs, and the adjusted Rand index.

Pairs are counted from the sizes of clusters and of their intersections, never enumerated: n items of one cluster make n
(n - 1) / 2 pairs. The adjusted Rand index is that of Hubert and Arabie 1985. The sizes of the two differences of the
sets of clusters are the measure of Ahmed 2022 ("Near Duplicate Detection", section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esdedup.columns.database import Database

Labels = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.int64]

ALONE = -1
"""The label of an item that is in no cluster. Two such items are never together."""


@dataclass(frozen=True, slots=True)
class Score:
    """The golden clusters compared with those of the output. Single items do not count as clusters.

    A share of nothing is None: precision if the output has no pair, recall if the golden clusters have none, and F1 if
    one of them is None.
    """

    golden_clusters: int
    output_clusters: int
    golden_not_in_output: int  # golden clusters that are not exactly a cluster of the output: |G - O|
    output_not_in_golden: int  # |O - G|
    precision: float | None  # share of the output's pairs that are golden pairs
    recall: float | None
    f1: float | None
    adjusted_rand_index: float  # 1 for equal clusterings, about 0 for unrelated ones


def score(golden: Labels, output: Labels, items: int) -> Score:
    """Compare the clusters of `items` items. `golden` and `output` (n,) label n of them; n may be smaller than `items`.

    Labels are any numbers from 0, or `ALONE`. The items beyond the n are alone in both.
    """
    golden_sizes, of_golden = _sizes(golden)
    output_sizes, of_output = _sizes(output)
    both = (golden >= 0) & (output >= 0)
    cells, cell_sizes = np.unique(of_golden[both] * len(output_sizes) + of_output[both], return_counts=True)
    ours, theirs = np.divmod(cells, max(1, len(output_sizes)))
    equal = (cell_sizes == golden_sizes[ours]) & (cell_sizes == output_sizes[theirs]) & (cell_sizes > 1)
    golden_clusters, output_clusters = int((golden_sizes > 1).sum()), int((output_sizes > 1).sum())
    shared_pairs, golden_pairs, found = _pairs(cell_sizes), _pairs(golden_sizes), _pairs(output_sizes)
    precision, recall = shared_pairs / found if found else None, shared_pairs / golden_pairs if golden_pairs else None
    f1 = None if precision is None or recall is None else 2 * shared_pairs / (found + golden_pairs)
    return Score(
        golden_clusters,
        output_clusters,
        golden_clusters - int(equal.sum()),
        output_clusters - int(equal.sum()),
        precision,
        recall,
        f1,
        _adjusted_rand_index(shared_pairs, golden_pairs, found, items * (items - 1) // 2),
    )


def _sizes(labels: Labels) -> tuple[Sizes, Labels]:
    """Return the size of each cluster, and for each item the index of its cluster (meaningless for one that
    is alone).
    """
    names, sizes = np.unique(labels[labels >= 0], return_counts=True)
    return sizes, np.searchsorted(names, labels)


def _pairs(sizes: Sizes) -> int:
    """Return the number of pairs of items in one cluster."""
    return int((sizes * (sizes - 1) // 2).sum())


def _adjusted_rand_index(shared_pairs: int, golden_pairs: int, found: int, everything: int) -> float:
    """Return (shared - expected) / (mean of golden and found - expected), where expected = golden * found / everything.

    If that is 0 / 0, both clusterings put all together or nothing, and are equal: return 1.
    """
    # in whole numbers, because those of large stores have no exact floats
    above = 2 * (shared_pairs * everything - golden_pairs * found)
    below = (golden_pairs + found) * everything - 2 * golden_pairs * found
    return above / below if below else 1.0


STEPS = 20
"""Number of ranges of similarity between 0 and 1."""

_EQUAL = 5e-7
"""Jaccard is written with six decimals."""


def score_pairs(db: Database) -> dict[str, Any]:
    """Compare the tables `truth` and `found` (a, b, jaccard) of `db`. Each pair is there once, with a < b.

    Returns `true_pairs`, `found_pairs`, `right_pairs` (in both; if both have a Jaccard, it must be equal to six
    decimals), `recall`, `precision` (None without a divisor), and `by_jaccard`: rows `from`, `to`, `true_pairs`,
    `right_pairs`, `recall` for each range of similarity that has true pairs.
    """
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE scored AS
        SELECT t.jaccard, f.a IS NOT NULL AND coalesce(abs(f.jaccard - t.jaccard) < {_EQUAL}, true) AS is_right
        FROM truth t LEFT JOIN found f ON f.a = t.a AND f.b = t.b
        """
    )
    true_pairs, right = db.row("SELECT count(*), count(*) FILTER (is_right) FROM scored")
    found = db.count("SELECT count(*) FROM found")
    rows = db.rows(
        f"SELECT least(floor(jaccard * {STEPS} + 1e-9), {STEPS - 1})::INTEGER AS step, count(*), "
        "count(*) FILTER (is_right) FROM scored WHERE jaccard IS NOT NULL GROUP BY step ORDER BY step"
    )
    return {
        "true_pairs": true_pairs,
        "found_pairs": found,
        "right_pairs": right,
        "recall": right / true_pairs if true_pairs else None,
        "precision": right / found if found else None,
        "by_jaccard": [
            {
                "from": step / STEPS,
                "to": (step + 1) / STEPS,
                "true_pairs": count,
                "right_pairs": hits,
                "recall": hits / count,
            }
            for step, count, hits in rows
        ],
    }
