"""Candidates by queries on both stores: the same pairs from a server's queries as from joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import SettingsError, StoreError
from tests.support.commands import esdedup as command
from tests.support.full import few
from tests.support.records import records, table
from tests.support.stores import RunJob, Stores
from tests.support.written import lines, results

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0, "normalize": "words", "shingle": "word:2"}
QUERIES: dict[str, Any] = {**RECORDS, "candidates": "queries", "verify": "words", "word_edit_distance": 3}


@pytest.mark.parametrize(
    "options",
    few(
        [
            {"same_first_word": True, "top": 2},
            {"query_by": "signature", "signature": 8},
            {"verify": "cosine", "cosine": 0.5, "word_edit_distance": None, "reciprocal": True},
        ],
        0,
    ),
)
def test_both_stores_find_the_same(tmp_path: Path, run: RunJob, options: dict[str, Any]) -> None:
    source = table(tmp_path / "a.tsv", records(111, 300))
    summary = run(source, out=tmp_path / "out", **{**QUERIES, **options})
    esdedup.run(source, out=tmp_path / "file", **{**QUERIES, **options})
    assert results(tmp_path / "out") == results(tmp_path / "file")
    assert summary["counts"]["pairs"] > 20
    assert summary["settings"]["candidates"] == "queries"
    assert summary["counts"]["collisions"] is None


@pytest.mark.both_stores
def test_nothing_is_left_behind(tmp_path: Path, address: str, run: RunJob, stores: Stores) -> None:
    rows = records(112, 100)
    run(table(tmp_path / "a.tsv", rows), out=tmp_path / "out", store=address, **QUERIES)
    pair = lines(tmp_path / "out" / "pairs.jsonl")[0]
    assert "3 words differ" in (verdict := esdedup.explain(pair["a"], pair["b"], store=address)["verdict"]) or (
        "words differ" in verdict and verdict.startswith("a pair")
    )
    if stores.on_server:
        with esdedup.open_store(address) as store:
            assert not store._open.indices.generations("records")  # type: ignore[attr-defined]
    esdedup.add(table(tmp_path / "b.tsv", [("new", rows[0][1] + " indeed")]), store=address)
    assert esdedup.status(store=address)["last_scan"]["scanning"]["candidates"] == "queries"


def test_a_record_of_too_many_terms(tmp_path: Path, address: str, stores: Stores) -> None:
    long = " ".join(f"w{number}" for number in range(1500))
    source = table(tmp_path / "a.tsv", [("one", long), ("two", long + " more")])
    esdedup.index(source, store=address, max_chars=100_000, **RECORDS)
    options = {name: value for name, value in QUERIES.items() if name not in RECORDS}
    if not stores.on_server:
        assert esdedup.scan(store=address, **options)["counts"]["pairs"] == 1
        return
    with pytest.raises(StoreError, match="--query-by signature"):
        esdedup.scan(store=address, **options)
    assert esdedup.scan(store=address, query_by="signature", **options)["counts"]["pairs"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"candidates": "queries", "verify": "words"}, "needs word-edit-distance"),
        ({"verify": "words", "word_edit_distance": 2}, "needs candidates queries"),
        ({"verify": "cosine"}, "needs candidates projection or queries"),
        ({"candidates": "queries", "top": 0}, "top is 0"),
        ({"candidates": "queries", "query_by": "words"}, "query-by is 'words'"),
        ({"candidates": "queries", "reciprocal": 1}, "reciprocal is 1"),
    ],
)
def test_impossible_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        esdedup.Settings.of(**options)


def test_the_presets(tmp_path: Path, data_folder: Path) -> None:
    sources = [data_folder / "restaurant" / name for name in ("fodors.csv", "zagats.csv")]
    true = (data_folder / "restaurant" / "matches.csv").read_text("utf-8").split()[1:]
    truth = tmp_path / "truth.tsv"
    truth.write_text("".join("fodors/{}\tzagats/{}\n".format(*line.split(",")) for line in true))
    found = {}
    for preset in ("solr", "records-cosine"):
        done = command(
            "run", *sources, "--preset", preset, "--text-column", "name,addr,city", "--out", preset, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        found[preset] = esdedup.evaluate(store=tmp_path / preset / "store.duckdb", truth=truth)["truth"]
    assert {scores["same_text"] for scores in found.values()} == {24}
    assert found["solr"]["right_pairs"] + 24 >= 65  # as the article has it
    assert found["records-cosine"]["right_pairs"] + 24 >= 105
    wrong = found["records-cosine"]["found_pairs"] - found["records-cosine"]["right_pairs"]
    assert wrong <= 0.05 * (found["records-cosine"]["found_pairs"] + 24)
