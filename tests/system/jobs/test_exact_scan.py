"""`scan --exact`, on both stores: complete, gone on with when killed, and told truthfully."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.engines.local.engine import LocalEngine
from esdedup.errors import SettingsError, UsageError
from tests.support.commands import esdedup as command
from tests.support.corpus import true_pairs
from tests.support.full import few
from tests.support.killed import KilledError
from tests.support.records import RECORDS, SIGNED, records, table
from tests.support.stores import RunJob
from tests.support.written import lines, results

FEW: dict[str, Any] = {**SIGNED, "bands": 1, "rows": 30}  # tokens that find next to nothing


def test_it_finds_what_tokens_miss(tmp_path: Path, address: str) -> None:
    rows = records(71, 400)
    esdedup.index(table(tmp_path / "a.tsv", rows), store=address, **FEW)
    by_tokens = esdedup.scan(store=address, jaccard=0.8)
    summary = esdedup.scan(store=address, exact=True, jaccard=0.8, out=tmp_path / "exact")
    texts = dict(rows)
    truth = true_pairs(list(texts.values()), 0.8)
    found = {
        tuple(sorted((texts[pair["a"]], texts[pair["b"]]))): pair["jaccard"]
        for pair in lines(tmp_path / "exact" / "pairs.jsonl")
    }
    assert found == {pair: round(value, 6) for pair, value in truth.items()}
    assert summary["counts"]["pairs"] == len(truth) > by_tokens["counts"]["pairs"]
    assert summary["settings"]["candidates"] == "exact"
    assert (summary["counts"]["collisions"], summary["counts"]["candidates"]) == (None, None)


def test_explain_says_what_counted(tmp_path: Path, address: str, run: RunJob) -> None:
    rows = records(72, 300)
    run(table(tmp_path / "a.tsv", rows), out=tmp_path / "out", store=address, exact=True, jaccard=0.6, **FEW)
    pair = lines(tmp_path / "out" / "pairs.jsonl")[0]
    assert esdedup.explain(pair["a"], pair["b"], store=address)["verdict"].startswith("a pair: Jaccard")
    pairs = {(pair["a"], pair["b"]) for pair in lines(tmp_path / "out" / "pairs.jsonl")}
    texts = dict(rows)
    a, b = next(
        (one, two)
        for one in texts
        for two in texts
        if texts[one] != texts[two] and not {(one, two), (two, one)} & pairs
    )
    assert "is below 0.6" in esdedup.explain(a, b, store=address)["verdict"]


@pytest.mark.both_stores
def test_what_is_added_is_compared_with_all(tmp_path: Path, address: str, run: RunJob) -> None:
    rows = records(73, 300)
    esdedup.index(table(tmp_path / "a.tsv", rows[:290]), store=address, **FEW)
    esdedup.scan(store=address, exact=True, jaccard=0.8)
    esdedup.add(table(tmp_path / "b.tsv", rows[290:]), store=address, out=tmp_path / "grown")
    assert esdedup.status(store=address)["last_scan"]["scanning"]["candidates"] == "exact"
    texts = dict(rows)
    assert len(lines(tmp_path / "grown" / "pairs.jsonl")) == len(true_pairs(list(texts.values()), 0.8))


@pytest.mark.parametrize("stage", few(["bring", "_post", "_meet", "_list", "_compare"], 2, 4))
def test_a_large_scan_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, run: RunJob
) -> None:
    """On a file: wherever the store is, the scan works in a database of this machine."""
    source = table(tmp_path / "a.tsv", records(74, 800))
    options = {**RECORDS, "exact": True, "jaccard": 0.6}
    run(source, out=tmp_path / "whole", **options)
    monkeypatch.setattr("esdedup.jobs.scratch.KEPT_FROM", 0)
    monkeypatch.setattr("esdedup.engines._SHARE", 4000)  # a few slices
    work, calls = getattr(LocalEngine, stage), 0

    def killed(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == (3 if stage == "_compare" else 1):
            raise KilledError
        return work(*arguments)

    monkeypatch.setattr(LocalEngine, stage, killed)
    with pytest.raises(KilledError):
        run(source, out=tmp_path / "killed", store=tmp_path / "s.duckdb", **options)
    run(source, out=tmp_path / "killed", store=tmp_path / "s.duckdb", **options)
    assert results(tmp_path / "killed") == results(tmp_path / "whole")


@pytest.mark.parametrize("mark", few(["load", "bring", "post", "meet", "list"], 3))
def test_killed_as_it_marks_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, run: RunJob
) -> None:
    source = table(tmp_path / "a.tsv", records(76, 300))
    monkeypatch.setattr("esdedup.jobs.scratch.KEPT_FROM", 0)
    finish = LocalEngine.finish

    def killed(scan: LocalEngine, stage: str, result: int) -> None:
        if stage == mark:
            raise KilledError
        finish(scan, stage, result)

    monkeypatch.setattr(LocalEngine, "finish", killed)
    with pytest.raises(KilledError):
        run(source, out=tmp_path / "killed", store=tmp_path / "s.duckdb", exact=True, **RECORDS)
    monkeypatch.setattr(LocalEngine, "finish", finish)
    run(source, out=tmp_path / "killed", store=tmp_path / "s.duckdb", exact=True, **RECORDS)
    run(source, out=tmp_path / "whole", exact=True, **RECORDS)
    assert results(tmp_path / "killed") == results(tmp_path / "whole")


def test_impossible_settings(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="exact needs verify exact"):
        esdedup.Settings.of(exact=True, verify="none")
    with pytest.raises(SettingsError, match="exclude each other"):
        esdedup.Settings.of(exact=True, candidates="tokens")
    with pytest.raises(UsageError, match="needs a store"):
        esdedup.cluster_texts(["a", "b"], exact=True)


def test_on_the_command_line(tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", records(75, 200))
    done = command("run", source, "--out", "out", "--unit", "record", "--exact", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "–  candidates" in done.stdout
    assert command("scan", "--store", "out/store.duckdb", "--exact", "--jaccard", "0.7", cwd=tmp_path).returncode == 0
    wrong = command("scan", "--store", "out/store.duckdb", "--exact", "--verify", "none", cwd=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
