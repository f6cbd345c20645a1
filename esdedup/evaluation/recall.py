"""Recall and precision of pairs, by similarity."""

from __future__ import annotations

from typing import Any

from esdedup.columns.database import Database

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
