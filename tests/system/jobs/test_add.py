"""Documents that come and go after the first run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.engines.local.group_scan import GroupScan
from esdedup.errors import SourceError, StoreError, StoreSourcesError
from esdedup.store.registry import address_of
from tests.support.killed import KilledError
from tests.support.records import records, table
from tests.support.stores import RunJob, Stores, on_opensearch_too
from tests.support.written import lines, results

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0}


@on_opensearch_too
@pytest.mark.both_stores
def test_add_says_what_the_new_ones_match(tmp_path: Path, address: str, run: RunJob) -> None:
    rows = records(51, 300)
    store = address
    esdedup.index(table(tmp_path / "old.tsv", rows[:250]), store=store, **RECORDS)
    esdedup.scan(store=store, jaccard=0.7)
    done = esdedup.add(table(tmp_path / "new.tsv", rows[250:]), store=store, out=tmp_path / "grown", matches=1000)
    assert done["added"] == {
        "new": 50,
        "unchanged": 0,
        "replaced": 0,
        "repeated": 0,
        "gone": 0,
        "matched": len(done["matches"]),
    }
    run(tmp_path / "old.tsv", tmp_path / "new.tsv", out=tmp_path / "once", jaccard=0.7, **RECORDS)
    # one run over both qualifies all names, as old/r0; what is added has names of its own, as new/r289
    grown, once = (
        [
            {member["document"].split("/")[-1] for member in one["members"]}
            for one in lines(tmp_path / name / "clusters.jsonl")
        ]
        for name in ("grown", "once")
    )
    assert grown == once
    texts = dict(rows)
    new = {f"new/{key}" for key, _ in rows[250:]}
    partners = {pair[end]: pair for pair in lines(tmp_path / "grown" / "pairs.jsonl") for end in ("a", "b")}
    clustered = {key for one in grown for key in one}
    assert {match["id"] for match in done["matches"]} == {key for key in new if key.split("/")[1] in clustered}
    for match in done["matches"]:
        named = [match[end].split("/")[-1] for end in ("id", "match")]
        assert [match["text"], match["match_text"]] == [texts[key] for key in named]
        if match["jaccard"] == 1:
            assert match["text"] == match["match_text"]
        else:
            assert match["text"] in {texts[key.split("/")[-1]] for key in partners}
    assert esdedup.add(tmp_path / "new.tsv", store=store)["added"]["unchanged"] == 50


def test_add_to_nothing_is_a_run(tmp_path: Path, address: str, run: RunJob) -> None:
    source = table(tmp_path / "a.tsv", records(52))
    esdedup.add(source, store=address, out=tmp_path / "added", **RECORDS)
    run(source, out=tmp_path / "run", **RECORDS)
    assert results(tmp_path / "added") == results(tmp_path / "run")


def test_other_options_mean_a_whole_scan(tmp_path: Path, address: str) -> None:
    rows = records(53)
    store = address
    esdedup.index(table(tmp_path / "a.tsv", rows[:390]), store=store, **RECORDS)
    esdedup.scan(store=store)
    esdedup.add(table(tmp_path / "b.tsv", rows[390:]), store=store, jaccard=0.6, linkage="star")
    last = esdedup.status(store=store)["last_scan"]
    assert (last["scanning"]["jaccard"], last["scanning"]["linkage"], last["current"]) == (0.6, "star", True)


@pytest.mark.both_stores
def test_remove_names_what_is_unknown(tmp_path: Path, address: str) -> None:
    rows = records(54, 100)
    store = address
    esdedup.index(table(tmp_path / "a.tsv", rows), store=store, **RECORDS)
    done = esdedup.remove("r3", "nobody", "r4", "r3", store=store)
    assert (done["removed"], done["unknown"], done["counts"]["documents"]) == (2, ["nobody"], 98)
    esdedup.scan(store=store)
    esdedup.remove(*(key for key, _ in rows[5:]), store=store)
    counts = esdedup.status(store=store)["counts"]
    assert (counts["documents"], counts["distinct_sentences"]) == (3, len({text for _, text in rows[:3]}))
    assert esdedup.similar(rows[50][1], store=store) == []
    assert esdedup.suggest(rows[50][1], store=store) == []
    # what was removed comes back with its source
    esdedup.index(tmp_path / "a.tsv", store=store)
    assert esdedup.status(store=store)["counts"]["documents"] == 100


@pytest.mark.both_stores
def test_a_new_generation_takes_the_old_ones_place_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, stores: Stores
) -> None:
    old, new = table(tmp_path / "old.tsv", records(55)), table(tmp_path / "new.tsv", records(56, 1000))
    store = address
    esdedup.run(old, out=tmp_path / "out", store=store, **RECORDS)
    before = esdedup.status(store=store)
    monkeypatch.setattr("esdedup.jobs.steps.scan_if_needed", _killed)
    with pytest.raises(KilledError):
        esdedup.run(new, out=tmp_path / "out", store=store, fresh=True, seed=5, **RECORDS)
    monkeypatch.undo()
    during = esdedup.status(store=store)
    assert "--fresh" in (during.unfinished or "")
    names = set(before.keys()) - {"unfinished", "disk_bytes"}
    assert {name: during[name] for name in names} == {name: before[name] for name in names}
    beside = tmp_path / ".store.duckdb.fresh"
    assert stores.on_server or beside.exists()
    # the same job goes on with it, another does not
    monkeypatch.setattr("esdedup.jobs.indexing.index_sources", _killed)
    monkeypatch.setattr("esdedup.jobs.source_reading.index_sources", _killed)
    esdedup.run(new, out=tmp_path / "out", store=store, fresh=True, seed=5, **RECORDS)
    assert not beside.exists()
    monkeypatch.undo()
    after = esdedup.status(store=store)
    assert (after["counts"]["documents"], after["settings"]["seed"], after["unfinished"]) == (1000, 5, None)
    esdedup.run(old, out=tmp_path / "out", store=store, fresh=True, **RECORDS)
    assert esdedup.status(store=store)["counts"] == before["counts"]


def _killed(*_: Any, **__: Any) -> Any:
    raise KilledError


def test_fresh_spares_what_others_keep_in_the_file(tmp_path: Path) -> None:
    import duckdb

    source = table(tmp_path / "a.tsv", records(57))
    esdedup.index(source, store=tmp_path / "s.duckdb", **RECORDS)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS one")
    with pytest.raises(StoreError, match="did not make \\(mine\\)"):
        esdedup.index(source, store=tmp_path / "s.duckdb", fresh=True, **RECORDS)


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.full
def test_a_large_scan_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, address: str, run: RunJob
) -> None:
    source = table(tmp_path / "a.tsv", records(58, 1500))
    run(source, out=tmp_path / "whole", **RECORDS)
    monkeypatch.setattr("esdedup.jobs.scratch.KEPT_FROM", 0)
    monkeypatch.setattr("esdedup.engines._SHARE", 4000)  # a few ranges
    compare, calls = GroupScan._compare_range, 0

    def killed(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KilledError
        return compare(*arguments)

    monkeypatch.setattr(GroupScan, "_compare_range", killed)
    store = address
    with pytest.raises(KilledError):
        run(source, out=tmp_path / "killed", store=store, **RECORDS)
    assert "esdedup run" in esdedup.status(store=store)["unfinished"]
    ranges: list[int] = []

    def counted(self: GroupScan, which: int) -> Any:
        ranges.append(which)
        return compare(self, which)

    monkeypatch.setattr(GroupScan, "_compare_range", counted)
    run(source, out=tmp_path / "killed", store=store, **RECORDS)
    assert ranges[0] == after
    assert results(tmp_path / "killed") == results(tmp_path / "whole")
    assert not address_of(store).scan_folders()
    assert esdedup.status(store=store)["unfinished"] is None


def test_what_is_known_and_wanted_is_left_out(tmp_path: Path, address: str, run: RunJob, stores: Stores) -> None:
    source = table(tmp_path / "a.tsv", records(59))
    full = run(source, out=tmp_path / "full", **RECORDS)
    clusters = lines(tmp_path / "full" / "clusters.jsonl")
    by_id, by_text = clusters[0], clusters[2]
    wanted = tmp_path / "wanted.txt"
    text = by_text["members"][-1]["text"].replace(" ", "  ")
    wanted.write_text(f"{by_id['id']}\n\n  {text}\nthis stands nowhere\n")
    summary = run(source, out=tmp_path / "rest", ignore=wanted, **RECORDS)
    rest = lines(tmp_path / "rest" / "clusters.jsonl")
    assert rest == [one for one in clusters if one["id"] not in (by_id["id"], by_text["id"])]
    assert summary["skipped"]["ignored_cluster"] == 2
    assert summary["counts"]["clusters"] == len(rest) == sum(summary["cluster_sizes"].values())
    assert summary["counts"]["clustered_sentences"] == sum(one["size"] for one in rest)
    gone = {member["id"] for one in (by_id, by_text) for member in one["members"]}
    pairs = lines(tmp_path / "rest" / "pairs.jsonl")
    assert pairs == [pair for pair in lines(tmp_path / "full" / "pairs.jsonl") if pair["a"] not in gone]
    assert len(pairs) == summary["counts"]["pairs"] < full["counts"]["pairs"]
    # and what comes later belongs to them, too
    store = stores.at(tmp_path / "rest")
    esdedup.add(table(tmp_path / "b.tsv", [("new", by_text["members"][0]["text"])]), store=store)
    assert len(list(esdedup.clusters(store=store))) == len(rest)


@pytest.mark.both_stores
def test_an_unfinished_reading_comes_first(tmp_path: Path, address: str) -> None:
    broken = tmp_path / "broken.xml"
    broken.write_text("<mediawiki><page><title>A</title><id>1</id>")
    store = address
    esdedup.index(table(tmp_path / "a.tsv", records(60)), store=store)
    with pytest.raises(SourceError):
        esdedup.add(broken, store=store)
    assert "broken.xml" in esdedup.status(store=store)["unfinished"]
    with pytest.raises(StoreError, match="a run is not finished"):
        esdedup.remove("r1", store=store)
    with pytest.raises(StoreSourcesError, match="was not read to the end"):
        esdedup.add(table(tmp_path / "c.tsv", records(61)), store=store)
    assert esdedup.add(broken, store=store, keep_going=True)["damaged"]
    assert esdedup.status(store=store)["unfinished"] is None
