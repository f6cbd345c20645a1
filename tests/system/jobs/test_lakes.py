"""Lakes: made by a run that reads its sources in tasks, read as a store, and loaded into one."""

from __future__ import annotations

import bz2
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.engines.local.engine import LocalEngine
from esdedup.errors import EngineError, SourceError, StoreError, StoreSourcesError, UsageError
from esdedup.jobs import lakes
from tests.support.corpus import corpus
from tests.support.dumps import dump
from tests.support.killed import KilledError
from tests.support.records import records, table
from tests.support.stores import Stores
from tests.support.written import results

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0, "report": False, "quiet": True}


@pytest.fixture(autouse=True)
def _lakes_are_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local engine reads one source after the other; what it makes is what a cluster makes."""
    monkeypatch.setattr(LocalEngine, "makes_lakes", True)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sources")
    rows = records(7, 300)
    twice = [*rows[:90], ("broken", ""), rows[3]]
    return [
        table(folder / "one.tsv", rows[:150]),
        table(folder / "two.tsv", twice),
        table(folder / "three.tsv", rows[150:]),
    ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sources: list[Path]) -> Path:
    out = tmp_path_factory.mktemp("expected")
    esdedup.run(*sources, out=out, store=out / "store.duckdb", **RECORDS)
    return out


def summary(out: Path) -> dict[str, Any]:
    found = json.loads((out / "summary.json").read_text("utf-8"))
    return {name: value for name, value in found.items() if name not in ("seconds", "peak_memory_mb", "stages")}


def test_a_lake_has_what_a_store_has(tmp_path: Path, sources: list[Path], expected: Path, stores: Stores) -> None:
    esdedup.run(*sources, out=tmp_path / "out", **RECORDS)
    lake = tmp_path / "out" / "lake"
    assert results(tmp_path / "out") == results(expected)
    assert summary(tmp_path / "out") == summary(expected)
    for options in ({"jaccard": 0.6}, {"across": "sources"}):
        for store in (lake, expected / "store.duckdb"):
            esdedup.scan(store=store, out=tmp_path / store.name, report=False, quiet=True, **options)
        assert results(tmp_path / "lake") == results(tmp_path / "store.duckdb")
    assert results(tmp_path / "lake") != results(expected)
    with esdedup.open_store(lake) as opened:  # a scan changes nothing there
        [cluster, *_] = opened.results.cluster_rows()
        assert opened.corpus.sentence(cluster["representative"]) is not None
    loaded = stores.at(tmp_path / "out")
    done = esdedup.index(lake, store=loaded, quiet=True)
    assert done["counts"]["new"] == done["counts"]["documents"] == 391
    assert esdedup.index(lake, store=loaded, quiet=True)["counts"]["documents"] == 391
    with esdedup.open_store(loaded, read_only=True) as opened:  # with its results
        assert next(iter(opened.results.cluster_rows())) == cluster
    assert esdedup.similar(cluster["members"][0]["text"], store=loaded)
    with pytest.raises(StoreSourcesError, match="new --store"):
        esdedup.index(lake, store=other(tmp_path, stores), quiet=True)
    with pytest.raises(UsageError, match="keeps only the results of its first scan; give --out DIR"):
        esdedup.scan(store=lake, quiet=True)


@pytest.mark.both_stores
def test_a_lake_is_loaded_with_what_it_has_now(tmp_path: Path, sources: list[Path], stores: Stores) -> None:
    store = stores.at(tmp_path / "out")
    for jaccard in (0.8, 0.6):
        esdedup.run(*sources, out=tmp_path / "out", jaccard=jaccard, **RECORDS)
        esdedup.index(tmp_path / "out" / "lake", store=store, quiet=True)
        status = esdedup.status(store=store)
        assert status["last_scan"]["scanning"]["jaccard"] == jaccard
        assert status["renamed"] == summary(tmp_path / "out")["renamed"] > 0


def other(folder: Path, stores: Stores) -> str:
    store = stores.at(folder / "other")
    (folder / "other").mkdir()
    esdedup.index(table(folder / "other.tsv", records(8, 20)), store=store, unit="record", quiet=True)
    return store


def test_histories_keep_their_dates(tmp_path: Path) -> None:
    texts = corpus(3, 60)
    pages = {
        f"Page {page}": [(f"20{year:02}-01-01T00:00:00Z", texts[page + year : page + year + 6]) for year in range(1, 9)]
        for page in range(20)
    }
    source = dump(tmp_path / "wiki.xml", pages)
    for name, store in {"lake": None, "file": tmp_path / "store.duckdb"}.items():
        esdedup.run(
            source, out=tmp_path / name, store=store, revisions="all", unit="sentence", report=False, quiet=True
        )
    assert results(tmp_path / "lake") == results(tmp_path / "file")
    dates = [pq.read_table(path)["last_timestamp"] for path in (tmp_path / "lake" / "lake" / "sentences").iterdir()]
    with esdedup.open_store(tmp_path / "store.duckdb", read_only=True) as opened:
        wanted = opened.database.table("SELECT last_timestamp FROM sentences")  # type: ignore[attr-defined]
    assert sorted(dates[0].to_pylist()) == sorted(wanted["last_timestamp"].to_pylist())


def test_a_killed_run_reads_no_source_twice(
    tmp_path: Path, sources: list[Path], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, seen = lakes._read_part, []

    def killed(*given: Any) -> None:
        if len(seen) == 2:
            raise KilledError
        seen.append(given[-1][1].name)
        read(*given)

    monkeypatch.setattr(lakes, "_read_part", killed)
    with pytest.raises(KilledError):
        esdedup.run(*sources, out=tmp_path / "out", **RECORDS)
    with pytest.raises(StoreError, match="has not been read to the end; run the same command again"):
        esdedup.scan(store=tmp_path / "out" / "lake", out=tmp_path / "again", quiet=True)
    with pytest.raises(StoreSourcesError, match="another run was begun here"):
        esdedup.run(sources[0], out=tmp_path / "out", **RECORDS)
    seen.clear()
    esdedup.run(*sources, out=tmp_path / "out", **RECORDS)
    assert seen == ["three"]
    assert results(tmp_path / "out") == results(expected)
    with pytest.raises(StoreSourcesError, match="another run, over"):
        esdedup.run(sources[0], out=tmp_path / "out", **RECORDS)


def test_a_new_lake_replaces_the_old_one_when_it_is_complete(
    tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    esdedup.run(*sources, out=out, **RECORDS)
    before = results(out)
    with monkeypatch.context() as patch:
        patch.setattr("esdedup.jobs.steps.scan_if_needed", killed_at_once)
        with pytest.raises(KilledError):
            esdedup.run(sources[0], out=out, fresh=True, **RECORDS)
    assert esdedup.status(store=out / "lake")["unfinished"]
    assert esdedup.status(store=out / "lake")["counts"]["documents"] == 391
    esdedup.run(sources[1], out=out, fresh=True, **RECORDS)
    assert esdedup.status(store=out / "lake")["counts"]["documents"] == 91
    assert results(out) != before
    assert not list(out.glob(".*"))


def killed_at_once(*_: Any, **__: Any) -> None:
    raise KilledError


@pytest.fixture
def streams(tmp_path: Path) -> tuple[Path, list[int]]:
    """A dump of many streams, as large wikis have, and where they begin."""
    texts = corpus(4, 900)
    pages = {f"Page {page}": [("2001-01-01T00:00:00Z", texts[page::120])] for page in range(120)}
    pages["Page 30"] = [("2001-01-01T00:00:00Z", ["#REDIRECT [[Page 1]]"])]
    whole = dump(tmp_path / "wiki.xml", pages).read_text("utf-8")
    head, *rest = whole.split("<page>")
    *rest, last = ["<page>" + page for page in rest]
    last, foot = last.split("</mediawiki>")
    rest.append(last)
    pieces = [head, *("".join(rest[first : first + 10]) for first in range(0, 120, 10)), "</mediawiki>" + foot]
    begins, data = [], b""
    for piece in pieces:
        begins.append(len(data))
        data += bz2.compress(piece.encode())
    path = tmp_path / "wiki.xml.bz2"
    path.write_bytes(data)
    return path, begins


def test_a_dump_of_many_streams_is_read_in_spans(
    tmp_path: Path, sources: list[Path], streams: tuple[Path, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, begins = streams
    monkeypatch.setattr("esdedup.formats.locations.SPAN_BYTES", 1 + path.stat().st_size // 4)
    how = {**RECORDS, "unit": "sentence"}
    esdedup.run(path, sources[0], out=tmp_path / "out", **how)
    esdedup.run(path, sources[0], out=tmp_path / "file", store=tmp_path / "s.duckdb", **how)
    parts = json.loads((tmp_path / "out" / "lake" / "lake.json").read_text("utf-8"))["parts"]
    assert [part["source"] for part in parts] == [0, 0, 0, 1]
    assert sum(part["records"] for part in parts[:3]) == 120
    assert results(tmp_path / "out") == results(tmp_path / "file")
    assert summary(tmp_path / "out") == summary(tmp_path / "file")
    for out, store in {"a": None, "b": tmp_path / "b.duckdb"}.items():
        esdedup.dedupe(path, out=tmp_path / out, store=store, unit="sentence", quiet=True)
    for name in ("wiki.jsonl.bz2", "drops.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    damaged = bytearray(path.read_bytes())
    damaged[begins[5] + 40 : begins[5] + 60] = bytes(20)
    path.write_bytes(damaged)
    lake, file = (
        esdedup.run(path, sources[0], out=tmp_path / f"x{store}", store=store, keep_going=True, **how)
        for store in (None, tmp_path / "x.duckdb")
    )
    assert lake["counts"] == file["counts"]
    assert len(lake["damaged"]) == len(file["damaged"]) == 1


def test_damage(tmp_path: Path, sources: list[Path]) -> None:
    texts = corpus(2, 400)
    whole = dump(
        tmp_path / "wiki.xml", {f"Page {page}": [("2001-01-01T00:00:00Z", texts[page::40])] for page in range(40)}
    )
    whole.write_bytes(whole.read_bytes()[:9000])
    how = {**RECORDS, "unit": "sentence"}
    with pytest.raises(SourceError, match=r"wiki.xml: damaged .* use --keep-going"):
        esdedup.run(whole, sources[0], out=tmp_path / "out", **how)
    found = esdedup.run(whole, sources[0], out=tmp_path / "out", keep_going=True, **how)
    local = esdedup.run(whole, sources[0], out=tmp_path / "a", store=tmp_path / "a.duckdb", keep_going=True, **how)
    assert (found["counts"], found["damaged"]) == (local["counts"], local["damaged"])
    assert len(found["damaged"]) == 1
    with pytest.raises(UsageError, match="standard input cannot be read by local; give --store"):
        esdedup.run("-", out=tmp_path / "b", format="jsonl", **RECORDS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, sources: list[Path]) -> Path:
    out = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "makes_lakes", True)
        esdedup.run(*sources, out=out, **RECORDS)
    return out / "lake"


@pytest.mark.parametrize(
    "change",
    [
        lambda store, source: esdedup.add(source, store=store, quiet=True),
        lambda store, source: esdedup.index(source, store=store, quiet=True),
        lambda store, _: esdedup.remove("1", store=store, quiet=True),
        lambda store, _: esdedup.similar("a text that is long enough", store=store),
        lambda store, _: esdedup.suggest("a text", store=store),
    ],
)
def test_a_lake_is_only_read(made: Path, tmp_path: Path, change: Callable[[Path, Path], object]) -> None:
    source = table(tmp_path / "more.tsv", records(8, 20))
    with pytest.raises(StoreError, match=r"a lake is (only read|not searched); load .* esdedup index .*lake --store"):
        change(made, source)


def test_a_lake_that_is_read_already_is_only_read(made: Path, sources: list[Path]) -> None:
    with pytest.raises(StoreError, match=r"a lake is only read; .* and add to that"):
        esdedup.index(*sources, store=made, quiet=True)


def test_a_folder_that_is_no_lake(made: Path, tmp_path: Path) -> None:
    for given, words in {
        tmp_path / "lake": "lake: there is no lake here; use --store PATH.duckdb",
        tmp_path: "this is not a lake: it has no lake.json; use --store",
        made.parent: f"has one; use --store {made}$",
    }.items():
        with pytest.raises(UsageError, match=words):
            esdedup.status(store=given)


def test_a_report_names_the_lake(made: Path, tmp_path: Path) -> None:
    esdedup.report(store=made, out=tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "--engine spark --out found" in page
    assert "esdedup report --store found/lake --out found" in page
    assert "store.duckdb" not in page


def test_a_run_that_has_read_nothing_leaves_nothing(
    tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise EngineError("nobody answers")

    for name in ("check_place", "each"):
        with monkeypatch.context() as patch:
            patch.setattr(LocalEngine, name, fail)
            with pytest.raises(EngineError, match="nobody answers"):
                esdedup.run(*sources, out=tmp_path / "new" / "out", **RECORDS)
        assert not (tmp_path / "new").exists()
    kept = tmp_path / "kept"
    kept.mkdir()
    with pytest.raises(SourceError):
        esdedup.run(tmp_path / "missing.tsv", out=kept, **RECORDS)
    assert list(kept.iterdir()) == []


def test_a_lake_is_no_source(made: Path, tmp_path: Path) -> None:
    more = table(tmp_path / "more.tsv", records(8, 5))
    for given in ([made], [more, made]):
        with pytest.raises(UsageError, match="is a lake; read it with --store"):
            esdedup.run(*given, out=tmp_path / "out", **RECORDS)
    with pytest.raises(UsageError, match="is a lake"):
        esdedup.index(made, more, store=tmp_path / "store.duckdb", quiet=True)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda lake: (lake / "sentences" / "part-00001.parquet").unlink(), "part-00001.parquet is missing"),
        (lambda lake: (lake / "documents" / "part-00000.parquet").write_text("PAR1"), "cannot be read"),
        (lambda lake: shutil.copy(lake / "pairs.parquet", lake / "clusters.parquet"), "has other columns"),
        (lambda lake: (lake / "lake.json").write_text("{}"), "has not the form"),
        (lambda lake: (lake / "lake.json").write_text("{"), "lake.json cannot be read"),
        (lambda lake: change(lake, "about", "read", {"sources": "/etc/passwd", "first": 0}), "damaged"),
        (lambda lake: change(lake, "about", "signing", {"unit": 3}), "damaged"),
        (lambda lake: change(lake, "about", "schema", 99), "upgrade esdedup"),
        (lambda lake: change(lake, "parts", 0, {"source": -1, "documents": 1, "sentences": 1}), "has not the form"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(made: Path, tmp_path: Path, spoil: Callable[[Path], object], words: str) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(made, lake)
    spoil(lake)
    with pytest.raises(StoreError, match=words) as raised, esdedup.open_store(lake) as opened:
        opened.ledger.last_reading()
    assert "\n" not in str(raised.value)
    assert esdedup.doctor(store=lake)["checks"][0]["problem"] is not None


def change(lake: Path, *where: Any) -> None:
    path = lake / "lake.json"
    described = json.loads(path.read_text("utf-8"))
    *names, last, value = where
    place = described
    for name in names:
        place = place[name]
    place[last] = value
    path.write_text(json.dumps(described), "utf-8")


def test_the_names_of_folders_are_no_patterns(made: Path, tmp_path: Path) -> None:
    lake = tmp_path / "it's [a-z]*? {x}"
    shutil.copytree(made, lake)
    (tmp_path / "it's a").mkdir()
    assert esdedup.status(store=lake)["counts"]["documents"] == 391


def test_drop_leaves_what_others_made(made: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(made, lake)
    (lake / "sentences" / "mine.parquet").write_text("")
    esdedup.drop(store=lake)
    assert [path.name for path in lake.rglob("*") if path.is_file()] == ["mine.parquet"]


def test_tables_may_be_left_out(tmp_path: Path, sources: list[Path]) -> None:
    esdedup.run(*sources, out=tmp_path, **RECORDS)
    esdedup.run(*sources, out=tmp_path, table="none", **RECORDS)
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "summary.json", "cluster-sizes.png"}


def test_dedupe_writes_from_a_lake(tmp_path: Path, sources: list[Path], made: Path) -> None:
    how = {"unit": "record", "min_chars": 0, "quiet": True}
    for out, store in {"a": None, "b": made, "c": tmp_path / "c.duckdb"}.items():
        esdedup.dedupe(*sources, out=tmp_path / out, store=store, **how)
    files = ("one.tsv", "two.tsv", "three.tsv", "drops.jsonl")
    wanted = [(tmp_path / "c" / name).read_bytes() for name in files]
    for out in "ab":
        assert [(tmp_path / out / name).read_bytes() for name in files] == wanted
    assert {path.name for path in (tmp_path / "a").iterdir()} == {*files, ".esdedup.json", "lake"}


def test_a_lake_is_a_reference(tmp_path: Path, expected: Path, made: Path) -> None:
    source = table(tmp_path / "new.tsv", records(7, 300)[100:160] + records(9, 40))
    how = {"unit": "record", "min_chars": 0, "quiet": True}
    for out, reference in {"lake": made, "file": expected / "store.duckdb"}.items():
        esdedup.dedupe(source, out=tmp_path / out, store=tmp_path / f"{out}.duckdb", against=[reference], **how)
    drops = [(tmp_path / out / "drops.jsonl").read_bytes() for out in ("lake", "file")]
    assert drops[0] == drops[1]
    assert drops[0].count(b"in_reference") >= 60
