"""Pairs against true pairs, counted."""

from __future__ import annotations

import pyarrow as pa

from esdedup.columns.database import private_database
from esdedup.evaluation.score import score_pairs

Rows = list[tuple[int, int, float | None]]


def scored(truth: Rows, found: Rows) -> dict[str, object]:
    with private_database() as db:
        for name, rows in (("truth", truth), ("found", found)):
            a, b, jaccard = zip(*rows, strict=True) if rows else ((), (), ())
            columns = {"a": pa.array(a, pa.uint64()), "b": pa.array(b, pa.uint64())}
            db.create(name, pa.table({**columns, "jaccard": pa.array(jaccard, pa.float64())}))
        return score_pairs(db)


def test_counts_shares_and_classes() -> None:
    truth: Rows = [(1, 2, 0.8), (1, 3, 0.849), (2, 3, 0.95), (4, 5, 1.0)]
    found: Rows = [(1, 2, 0.8), (2, 3, 0.95), (7, 8, 0.9)]
    assert scored(truth, found) == {
        "true_pairs": 4,
        "found_pairs": 3,
        "right_pairs": 2,
        "recall": 0.5,
        "precision": 2 / 3,
        "by_jaccard": [
            {"from": 0.8, "to": 0.85, "true_pairs": 2, "right_pairs": 1, "recall": 0.5},
            {"from": 0.95, "to": 1.0, "true_pairs": 2, "right_pairs": 1, "recall": 0.5},
        ],
    }


def test_another_jaccard_is_not_right() -> None:
    assert scored([(1, 2, 0.8)], [(1, 2, 0.81)])["right_pairs"] == 0
    assert scored([(1, 2, 0.8)], [(1, 2, 0.8000001)])["right_pairs"] == 1
    assert scored([(1, 2, None)], [(1, 2, 0.8)])["right_pairs"] == 1
    assert scored([(1, 2, 0.8)], [(1, 2, None)])["right_pairs"] == 1


def test_nothing_to_divide_by() -> None:
    nothing = scored([], [])
    assert (nothing["recall"], nothing["precision"], nothing["by_jaccard"]) == (None, None, [])
