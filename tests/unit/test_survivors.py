"""The generator of near-duplicates in which it is known which copy to keep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scripts.survivors import Cluster, Copy, clusters, part
from scripts.survivors.planting import KINDS

COUNT = 5 * len(KINDS)


@pytest.fixture(scope="module")
def made() -> list[Cluster]:
    return clusters(COUNT, 1, None)


def strength(copy: Copy) -> int:
    return sum(int(damage[-1]) for damage in copy.damage)


def test_the_same_seed_makes_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-m", "scripts.survivors", "--clusters", str(len(KINDS)), "--out", str(tmp_path)]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})
        written.append([(tmp_path / name).read_bytes() for name in ("rows.jsonl", "truth.jsonl")])
    assert written[0] == written[1]
    rows, truth = ([json.loads(line) for line in content.split(b"\n")[:-1]] for content in written[0])
    assert {row["id"] for row in rows} == {name for each in truth for name in each["damage"]}
    assert all(set(row) == {"id", "text", "source", "score", "updated"} for row in rows)


def test_another_seed_makes_other_texts_and_a_greater_count_the_same(made: list[Cluster]) -> None:
    assert clusters(30, 1, None) == made[:30]
    assert not {each.original for each in clusters(30, 2, None)} & {each.original for each in made}


def test_the_best_copies_are_the_least_damaged(made: list[Cluster]) -> None:
    for each in made:
        assert 2 <= len(each.copies) <= 6
        assert each.best < {copy.id for copy in each.copies}
        best = [copy for copy in each.copies if copy.id in each.best]
        others = [copy for copy in each.copies if copy.id not in each.best]
        assert len({copy.text for copy in best}) == 1
        assert not {copy.text for copy in best} & {copy.text for copy in others}
        if each.policy == "clean":
            assert max(map(strength, best)) < min(map(strength, others)), each.name
        assert all((copy.text == each.original) >= (not copy.damage) for copy in best), each.name


def test_policies_say_which_copy_is_best(made: list[Cluster]) -> None:
    for each in made:
        values = {copy.id: copy.score for copy in each.copies if copy.score is not None}
        if each.policy == "best:score":
            assert {max(values, key=values.__getitem__)} == each.best
    assert Counter(each.policy for each in made) == {"clean": COUNT - 10, "newest:updated": 5, "best:score": 5}


def test_all_kinds_and_languages_occur_and_a_third_is_for_judging(made: list[Cluster]) -> None:
    assert set(Counter(each.kind for each in made).values()) == {5}
    assert len({each.language for each in made}) >= 6
    assert len({copy.id for each in made for copy in each.copies}) == sum(len(each.copies) for each in made)
    parts = Counter(part(f"{kind}-{number}") for kind in KINDS for number in range(40))
    assert 0.28 < parts["judging"] / parts.total() < 0.38
