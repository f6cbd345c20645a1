"""Indexing again and again, revisions, and what a killed job leaves."""

from __future__ import annotations

import bz2
import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import esdedup
from esdedup.errors import SourceError, StoreSourcesError
from esdedup.jobs.prepare import BatchPlan, prepare
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.reading import Fields
from tests.support.corpus import corpus, sentence
from tests.support.dumps import dump
from tests.support.full import FULL, few
from tests.support.killed import KilledError
from tests.support.records import SIGNED, records, table
from tests.support.stores import RunJob, Stores, on_opensearch_if_full
from tests.support.written import lines, results


def test_a_sentence_of_a_history_stands_once_a_page(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    source = random.Random(1)
    kept, gone, late, brief = sentence(source), sentence(source), sentence(source), "Brief."
    pages = {
        "One": [
            ("2001-01-01T00:00:00Z", [kept, brief, gone]),
            ("2002-01-01T00:00:00Z", [gone, kept]),
            ("2003-01-01T00:00:00Z", [brief, kept, late]),
        ],
        "Two": [("2004-01-01T00:00:00Z", [late]), ("2005-01-01T00:00:00Z", [late, gone])],
    }
    summary = run(dump(tmp_path / "wiki.xml", pages), out=tmp_path / "out", revisions="all")
    clusters = lines(tmp_path / "out" / "clusters.jsonl")
    found = {
        member["id"]: (member["text"], member["revision"], member["timestamp"][:4])
        for cluster in clusters
        for member in cluster["members"]
    }
    assert found == {
        "1:2": (gone, 1, "2001"), "1:3": (late, 3, "2003"), "2:0": (late, 4, "2004"), "2:1": (gone, 5, "2005"),
    }  # fmt: skip
    assert summary["counts"]["documents"] == 2
    assert summary["counts"]["sentences_read"] == 6
    assert summary["skipped"] == {"too_short": 1}
    assert spans(stores, tmp_path / "out") == [(0, 1, 3), (2, 1, 2), (3, 3, 3)]


def spans(stores: Stores, out: Path) -> list[tuple[int, ...]]:
    """Position, first and last revision of the sentences of page 1."""
    names = ("position", "revision", "last_revision")
    with esdedup.open_store(stores.at(out), read_only=True) as opened:
        store: Any = opened
        if not stores.on_server:
            return list(store._db.rows(f"SELECT {', '.join(names)} FROM sentences WHERE document = 0 ORDER BY 1"))
        [found] = store._open.reader.look_up(store._open.names["sentences"], "document", ["1"], Fields(source=names))
    return sorted(tuple(hit["_source"][name] for name in names) for hit in found)


@pytest.mark.parametrize("workers", few([1, 2], 1))
def test_batches_do_not_show_in_a_history(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch, run: RunJob
) -> None:
    source = random.Random(2)
    pool = corpus(3, 60)
    pages = {
        f"Page {page}": [
            (f"20{year:02}-01-01T00:00:00Z", source.sample(pool, 8)) for year in range(source.randint(1, 30))
        ]
        for page in range(12)
    }
    wiki = dump(tmp_path / "wiki.xml", pages)
    run(wiki, out=tmp_path / "whole", revisions="all")
    monkeypatch.setattr("esdedup.formats.batches.MAX_BYTES", 3000)
    monkeypatch.setattr("esdedup.jobs.workers._WORTH_WORKERS", 1)
    monkeypatch.setattr("esdedup.jobs.indexing._FLUSH_BYTES", 2000)
    run(wiki, out=tmp_path / "parts", revisions="all", workers=workers)
    assert results(tmp_path / "whole") == results(tmp_path / "parts")


@on_opensearch_if_full
@pytest.mark.both_stores
def test_indexing_again_skips_replaces_and_adds(tmp_path: Path, address: str, run: RunJob) -> None:
    rows = records(4, 200)
    store = address
    news = tmp_path / "news.tsv"
    esdedup.index(table(news, rows[:150]), store=store, unit="record", min_chars=0)
    changed = [(key, text if int(key[1:]) % 10 else "changed " + text) for key, text in rows]
    esdedup.index(table(news, rows[:150]), store=store)
    esdedup.index(table(news, changed[100:]), store=store)
    esdedup.scan(store=store, out=tmp_path / "grown")
    run(table(news, rows[:100] + changed[100:]), out=tmp_path / "at once", unit="record", min_chars=0)
    assert results(tmp_path / "grown") == results(tmp_path / "at once")


def test_scan_results_are_those_of_the_last_scan(tmp_path: Path, address: str) -> None:
    store = address
    esdedup.index(table(tmp_path / "a.tsv", records(5)), store=store, **SIGNED)
    first = esdedup.scan(store=store)
    assert first["counts"]["clusters"] > 0
    assert esdedup.scan(store=store, jaccard=1)["counts"]["pairs"] == 0
    assert esdedup.status(store=store)["last_scan"]["scanning"]["jaccard"] == 1
    clusters = list(esdedup.clusters(store=store))
    assert clusters
    assert all(one["distinct"] == 1 for one in clusters)


def test_clusters_are_filtered(tmp_path: Path, address: str) -> None:
    store = address
    esdedup.index(table(tmp_path / "a.tsv", records(6)), store=store, unit="record", min_chars=0)
    esdedup.scan(store=store)
    everything = list(esdedup.clusters(store=store))
    some = everything[3]
    member = some["members"][0]
    words = " ".join(member["text"].upper().split()[:3])
    assert some in list(esdedup.clusters(store=store, text=words))
    assert list(esdedup.clusters(store=store, document=member["document"])) == [some]
    assert list(esdedup.clusters(store=store, limit=2)) == everything[:2]
    assert list(esdedup.clusters(store=store, min_size=3)) == [one for one in everything if one["size"] >= 3]
    assert list(esdedup.clusters(store=store, text="nowhere")) == []


@pytest.mark.both_stores
def test_a_damaged_source_keeps_what_stood_before(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    good = table(tmp_path / "good.tsv", records(7, 50))
    wiki = dump(tmp_path / "wiki.xml", {"A": [("2001", corpus(8, 20))]})
    broken = tmp_path / "broken.xml"
    broken.write_text(wiki.read_text("utf-8").replace("</mediawiki>", "<page><title>B</title><id>9"), "utf-8")
    out = tmp_path / "out"
    for _ in range(2):
        with pytest.raises(SourceError, match=r"broken\.xml.*--keep-going"):
            run(broken, good, out=out, unit="record")
    assert esdedup.status(store=stores.at(out))["counts"]["documents"] == 1
    for _ in range(2):
        done = run(broken, tmp_path / "missing.tsv", good, out=out, unit="record", keep_going=True)
        assert [bad.split(":")[0].split("/")[-1] for bad in done["damaged"]] == ["missing.tsv", "broken.xml"]
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["counts"]["documents"] == 51
    assert summary["skipped"]["damaged_source"] == 1


@pytest.mark.full
def test_a_killed_run_is_finished_by_the_same_command(tmp_path: Path) -> None:
    pages = {f"Page {n}": [("2001", corpus(n, 40))] for n in range(300)}
    wiki = tmp_path / "wiki.xml.bz2"
    wiki.write_bytes(bz2.compress(dump(tmp_path / "wiki.xml", pages).read_bytes()))
    esdedup.run(wiki, out=tmp_path / "whole")
    code = (
        "import sys, time, esdedup\n"
        "import esdedup.jobs.indexing as indexing, esdedup.formats.batches as batches\n"
        "from esdedup.store.duckdb.corpus import FileCorpus\n"
        "if __name__ == '__main__':\n"
        "    indexing._FLUSH_BYTES = 50_000\n"
        "    batches.MAX_BYTES = 30_000\n"
        "    append = FileCorpus.append\n"
        "    def slow(*arguments):\n"
        "        append(*arguments)\n"
        "        print('flushed', flush=True)\n"
        "        time.sleep(0.05)\n"
        "    FileCorpus.append = slow\n"
        "    esdedup.run(sys.argv[1], out=sys.argv[2], workers=1)\n"
    )
    out = tmp_path / "killed"
    child = subprocess.Popen([sys.executable, "-c", code, wiki, out], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(5):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    state = esdedup.status(store=out / "store.duckdb")
    assert state["unfinished"]
    assert 0 < state["sources"][0]["documents"] < 300
    with pytest.raises(StoreSourcesError):
        esdedup.index(table(tmp_path / "other.tsv", records()), store=out / "store.duckdb")
    esdedup.run(wiki, out=out)
    assert results(out) == results(tmp_path / "whole")
    assert (
        esdedup.status(store=out / "store.duckdb")["counts"]
        == esdedup.status(store=tmp_path / "whole" / "store.duckdb")["counts"]
    )


def doubled_ids(folder: Path) -> list[Path]:
    return [table(folder / "a.tsv", [(f"id{n // 2}", text) for n, text in enumerate(corpus(21, 120))])]


def one_long_history(folder: Path) -> list[Path]:
    source = random.Random(22)
    pool = corpus(23, 40)
    pages = {"A": [(f"20{n:02}", source.sample(pool, 9)) for n in range(20)], "B": [("2001", pool[:20])]}
    return [dump(folder / "wiki.xml", pages)]


def a_folder_of_texts(folder: Path) -> list[Path]:
    (folder / "texts").mkdir()
    for n in range(6):
        (folder / "texts" / f"{n}.txt").write_text("\n\n".join(corpus(24 + n % 2, 10)))
    return [folder / "texts"]


@pytest.mark.parametrize("after", few([0, 2], 1))
@pytest.mark.parametrize("make", few([doubled_ids, one_long_history, a_folder_of_texts], 0, 1))
def test_a_reading_killed_anywhere_is_finished(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], list[Path]],
    after: int,
    run: RunJob,
    stores: Stores,
) -> None:
    sources = make(tmp_path)
    options: dict[str, Any] = {"revisions": "all", "min_chars": 10, "workers": 1}
    whole = run(*sources, out=tmp_path / "whole", **options)
    monkeypatch.setattr("esdedup.formats.batches.MAX_BYTES", 2000)
    monkeypatch.setattr("esdedup.jobs.indexing._FLUSH_ROWS", 7)
    opened = stores.corpus_class()
    append, calls = opened.append, 0

    def killed(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KilledError
        append(*arguments)

    monkeypatch.setattr(opened, "append", killed)
    with pytest.raises(KilledError):
        run(*sources, out=tmp_path / "killed", **options)
    monkeypatch.setattr(opened, "append", append)
    resumed = run(*sources, out=tmp_path / "killed", **options)
    assert results(tmp_path / "killed") == results(tmp_path / "whole")
    assert resumed["counts"] == whole["counts"]
    assert resumed["skipped"] == whole["skipped"]


@pytest.mark.both_stores
def test_a_folder_indexed_again_is_the_same_documents(tmp_path: Path, address: str) -> None:
    store = address
    [folder] = a_folder_of_texts(tmp_path)
    first = esdedup.index(folder, store=store)
    assert first["counts"]["documents"] == 6
    (folder / "0.txt").write_text(corpus(30, 1)[0])
    again = esdedup.index(folder, store=store)
    assert (again["counts"]["documents"], again["counts"]["unchanged"], again["counts"]["replaced"]) == (6, 5, 1)
    esdedup.scan(store=store)
    documents = {member["document"] for cluster in esdedup.clusters(store=store) for member in cluster["members"]}
    assert documents <= {f"{n}.txt" for n in range(1, 6)}


def test_standard_input_is_read_anew(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "esdedup", "run", "-", "--format", "tsv", "--out", "out", "--json"]
    for seed in (1, 1, 2) if FULL else (1, 2):
        text = "".join(f"{key}\t{text}\n" for key, text in records(seed, 50))
        done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["counts"]["documents"] == 50


def test_preparing_is_the_same_for_any_cut() -> None:
    texts = [" ".join(corpus(seed, 12)) for seed in range(6)]
    recipe = BatchPlan(Signing.of(min_chars=0), None)
    column = pa.array(texts, pa.large_string())
    pages = np.arange(6)
    whole = prepare(column, pages, recipe)
    parts = [prepare(column.slice(at, 1), pages[at : at + 1], recipe) for at in range(6)]
    assert whole.texts.to_pylist() == [text for part in parts for text in part.texts.to_pylist()]
    assert whole.tokens.tolist() == [row for part in parts for row in part.tokens.tolist()]


def test_a_store_is_dropped_whole(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    esdedup.index(table(tmp_path / "a.tsv", records(9)), store=store)
    esdedup.drop(store=store)
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


def test_an_engine_elsewhere_is_said_not_to_be_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = table(tmp_path / "a.tsv", records(3, 20))
    esdedup.index(source, store=tmp_path / "s.duckdb", engine="local[2]", quiet=True)
    assert caplog.messages[0] == "esdedup index reads on this machine; --engine local[2] is not used"
