"""The check of a run against the truth: what it must notice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from esdedup.demo.checking import Found, check

BASE = "The grey mill of Corvand ground the barley of nine villages until the river took its wheel away"
NEAR = BASE + "."
FAR = "Nobody in the valley remembers when the bridge was built, or which of the brothers paid for its stones"


def truth_file(folder: Path, *plants: tuple[str, list[str]]) -> Path:
    path = folder / "demo.truth.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number, (kind, texts) in enumerate(plants):
            members = [{"document": str(place), "text": text} for place, text in enumerate(texts)]
            out.write(json.dumps({"plant": number, "kind": kind, "members": members}) + "\n")
    return path


def clusters(*held: list[str]) -> list[dict[str, Any]]:
    return [{"members": [{"text": text} for text in texts]} for texts in held]


def counts(found: Found, kind: str) -> tuple[int, int, int, int]:
    row = next(row for row in found.kinds if row.kind == kind)
    return row.plants, row.pairs, row.found, row.missed


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return truth_file(tmp_path, ("drift", [BASE, NEAR, BASE[:40]]), ("identical", [FAR, FAR]))


def test_all_found(truth: Path) -> None:
    found = check(truth, clusters([BASE, NEAR], [FAR, FAR]))
    assert counts(found, "drift") == (1, 1, 1, 0)
    assert counts(found, "identical") == (1, 1, 1, 0)
    assert found.complete
    assert (found.mixed, found.unplanted, found.strangers) == (0, 0, 0)


def test_missed_pair(truth: Path) -> None:
    found = check(truth, clusters([FAR, FAR]))
    assert counts(found, "drift") == (1, 1, 0, 1)
    assert not found.complete


def test_pair_in_two_clusters_is_missed(truth: Path) -> None:
    assert counts(check(truth, clusters([BASE], [NEAR], [FAR, FAR])), "drift") == (1, 1, 0, 1)


def test_copies_that_are_not_all_there_are_missed(truth: Path) -> None:
    assert counts(check(truth, clusters([BASE, NEAR], [FAR])), "identical") == (1, 1, 0, 1)


def test_mixed_plants(truth: Path) -> None:
    found = check(truth, clusters([BASE, NEAR, FAR, FAR]))
    assert found.mixed == 1
    assert not found.complete


def test_what_was_not_planted(truth: Path) -> None:
    found = check(truth, clusters([BASE, NEAR, "another"], [FAR, FAR], ["some", "thing"]))
    assert found.complete
    assert (found.unplanted, found.strangers) == (1, 1)


def test_threshold(truth: Path) -> None:
    assert counts(check(truth, [], jaccard=0.999), "drift") == (1, 0, 0, 0)
    assert counts(check(truth, [], jaccard=0.3), "drift") == (1, 3, 0, 3)
