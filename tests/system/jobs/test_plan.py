"""`plan`: on sources, on stores of both kinds, in theory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import EsdedupError, StoreError, UsageError
from esdedup.jobs import trials
from tests.support.commands import esdedup as command
from tests.support.corpus import true_pairs
from tests.support.full import FULL
from tests.support.records import RECORDS, records, table
from tests.support.stores import Stores


def test_on_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_PROBE", 500)
    rows = records(91, 500)
    source = table(tmp_path / "a.tsv", rows)
    answer = esdedup.plan(source, schemes="10x4,2x10,10x10/20", out=tmp_path / "out", **{**RECORDS, "jaccard": 0.7})
    texts = sorted({text for _, text in rows})
    truth = true_pairs(texts, 0.7)
    assert answer["sample"] == {"texts": len(texts), "true_pairs": len(truth)}
    assert (tmp_path / "out" / "s-curve.png").stat().st_size > 10_000
    by_name = {row["scheme"]: row for row in answer["schemes"]}
    for name, options in {
        "10x4": {"bands": 10, "rows": 4},
        "2x10": {"bands": 2, "rows": 10},
        "10x10/20": {"hashes": 20, "draw": 10, "draws": 10},
    }.items():
        found = esdedup.cluster_texts(texts, jaccard=0.7, shingle="char:12", normalize="none", **options)
        assert by_name[name]["recall"] == round(len(found.a) / len(truth), 6)
        assert by_name[name]["candidates"] == found.candidates
        assert by_name[name]["false_candidates"] == found.candidates - len(found.a)
    assert by_name["10x4"]["recall"] > by_name["2x10"]["recall"]
    assert answer["forecast"] == {}
    if FULL:
        assert esdedup.plan(source, schemes="10x4", limit=50, **RECORDS)["sample"]["texts"] <= 50


@pytest.mark.full
def test_a_folder_is_read_as_one_source_would_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit is one of each file; a forecast needs two sizes of all of them."""
    monkeypatch.setattr(trials, "TRIAL", 400)
    rows = records(94, 1000)
    (tmp_path / "parts").mkdir()
    for number in range(10):
        table(tmp_path / "parts" / f"{number}.tsv", rows[100 * number : 100 * number + 100])
    answer = esdedup.plan(tmp_path / "parts", schemes="10x4", sentences=10_000, **RECORDS)
    small, large = (run["sentences"] for run in answer["forecast"]["embedded"]["runs"])
    assert 0 < small < large <= 440


@pytest.mark.both_stores
def test_on_a_store(tmp_path: Path, address: str) -> None:
    rows = records(92, 400)
    esdedup.index(table(tmp_path / "a.tsv", rows), store=address, **RECORDS)
    everything = esdedup.plan(store=address, schemes="10x4")
    assert everything["sample"]["texts"] == len({text for _, text in rows})
    some = esdedup.plan(store=address, schemes="10x4", sample=100)
    assert some["sample"]["texts"] == 100
    again = esdedup.plan(store=address, schemes="10x4", sample=100)
    assert some.to_dict() == again.to_dict() | {key: some[key] for key in ("schemes", "exact")}


@pytest.mark.full
def test_a_forecast_for_each_store(tmp_path: Path, address: str, stores: Stores) -> None:
    rows = records(93, 600)
    esdedup.index(table(tmp_path / "a.tsv", rows), store=address, **RECORDS)
    reading = {"format": "tsv", "header": False, "text_column": "2"}  # which does not concern texts of a store
    answer = esdedup.plan(store=address, schemes="10x4", sentences=10_000, **reading)
    assert set(answer["forecast"]) == {"embedded", *(["server"] if stores.on_server else [])}
    for took in answer["forecast"].values():
        assert took["sentences"] == 10_000
        assert took["seconds"] >= took["runs"][-1]["seconds"] > 0
        assert took["disk_bytes"] >= took["runs"][-1]["disk_bytes"] > 0
        assert 50 * 2**20 < took["memory_bytes"] <= 2**30
        assert [run["sentences"] for run in took["runs"]] == sorted(run["sentences"] for run in took["runs"])
    assert esdedup.status(store=address)["counts"]["documents"] == 600  # the trials have stores of their own


def test_all_with_all_where_no_scheme_finds_enough(tmp_path: Path, address: str) -> None:
    esdedup.index(table(tmp_path / "a.tsv", records(97, 200)), store=address, **RECORDS)
    answer = esdedup.plan(store=address, schemes="2x12", jaccard=0.6)
    assert (answer["recommended"], answer["cheapest"], answer["reached"]) == ("exact", "2x12", True)


def test_in_theory() -> None:
    answer = esdedup.plan(jaccard=0.9)
    assert answer["sample"] is None
    assert answer["schemes"]
    assert all(row["recall"] is None and row["candidates"] is None for row in answer["schemes"])
    assert answer["reached"]
    assert "/" not in answer["recommended"]


def test_a_scheme_of_ones_own_is_compared_too() -> None:
    answer = esdedup.plan(hashes=20, draw=10, draws=10, schemes="10x4")
    assert [row["scheme"] for row in answer["schemes"]] == ["10x10/20", "10x4"]
    assert [row["scheme"] for row in esdedup.plan(bands=10, rows=4, schemes="10x4")["schemes"]] == ["10x4"]


def test_what_cannot_be_planned(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="needs a sample"):
        esdedup.plan(sentences=1000)
    with pytest.raises(UsageError, match="standard input"):
        esdedup.plan("-")
    with pytest.raises(UsageError, match="sample is 0"):
        esdedup.plan(sample=0)
    with pytest.raises(UsageError, match="recall is 2"):
        esdedup.plan(recall=2)
    with pytest.raises(UsageError, match="tokens is 0"):
        esdedup.plan(tokens=0)
    with pytest.raises(StoreError):
        esdedup.plan(store=address)
    with pytest.raises(EsdedupError, match=r"missing\.tsv"):
        esdedup.plan(tmp_path / "missing.tsv")
    (tmp_path / "empty.tsv").write_text("1\t \n")
    with pytest.raises(EsdedupError, match="none of 1 records was compared: 1 without text"):
        esdedup.plan(tmp_path / "empty.tsv")


def test_on_the_command_line(tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", records(94, 300))
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "json.py").write_text("raise SystemExit('a file beside was run as a module')")
    options = ["--preset", "weissman", "--tokens", "4", "--unit", "record"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "esdedup", "plan", source, *options], cwd=beside, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "10x10/20" in done.stdout
    assert "Recommended: --bands" in done.stdout
    wrong = command("plan", "--schemes", "ten", cwd=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
