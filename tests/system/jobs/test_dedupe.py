"""Collections written again without their duplicates: what goes was verified against what stays."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import NothingCompared, StoreSourcesError, UsageError
from tests.support.corpus import corpus, jaccard
from tests.support.dumps import dump
from tests.support.full import few
from tests.support.killed import KilledError
from tests.support.records import RECORDS, records, table
from tests.support.stores import RunJob, Stores
from tests.support.written import lines

ROWS = records(71, 300)
TEXTS = dict(ROWS)


def rows_of(path: Path) -> list[tuple[str, str]]:
    return [(line.split("\t")[0], line.split("\t")[1]) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def dedupe(stores: Stores) -> RunJob:
    """`esdedup.dedupe`, whose store is that of `out` unless it is named."""

    def dedupe(*sources: Path, out: Path, **options: Any) -> dict[str, Any]:
        return esdedup.dedupe(*sources, out=out, **{"store": stores.at(out), **options})

    return dedupe


@pytest.mark.parametrize("keep", few(["first", "longest"], 1))
def test_what_goes_was_verified_against_what_stays(
    tmp_path: Path, keep: str, dedupe: RunJob, run: RunJob, stores: Stores
) -> None:
    source = table(tmp_path / "news.tsv", ROWS)
    done = dedupe(source, out=tmp_path / "clean", keep=keep, **RECORDS)
    kept = rows_of(tmp_path / "clean" / "news.tsv")
    drops = lines(tmp_path / "clean" / "drops.jsonl")
    stays = dict(kept)
    assert [row for row in ROWS if row[0] in stays] == kept
    assert {drop["id"] for drop in drops} == {key for key, _ in ROWS} - set(stays)
    assert (done["documents"], done["documents_dropped"]) == (len(kept), len(drops))
    order = [key for key, _ in ROWS]
    for drop in drops:
        assert list(drop)[:7] == ["id", "source", "cluster", "kept", "reason", "jaccard", "by"]
        assert drop["source"] == "news"
        one, other = TEXTS[drop["id"]], TEXTS[drop["kept"]]
        assert drop["kept"] in stays
        assert drop["jaccard"] == round(jaccard(one, other), 6) >= 0.8
        assert drop["reason"] == ("identical" if one == other else "near")
        if keep == "first":
            assert order.index(drop["kept"]) < order.index(drop["id"])
        else:
            assert len(other) >= len(one)
    assert done["records"]["dropped"] == {
        reason: sum(drop["reason"] == reason for drop in drops)
        for reason in ("identical", "near", "contained", "in_reference")
    }
    # what stays is no pair any more
    again = run(tmp_path / "clean" / "news.tsv", out=tmp_path / "again", **RECORDS)
    assert again["counts"]["clusters"] == 0
    clusters = {one["id"]: one for one in esdedup.clusters(store=stores.at(tmp_path / "clean"))}
    for drop in drops:
        assert {drop["id"], drop["kept"]} <= {member["id"] for member in clusters[drop["cluster"]]["members"]}


@pytest.mark.both_stores
def test_none_of_a_cluster_may_be_kept(tmp_path: Path, dedupe: RunJob, run: RunJob) -> None:
    source = table(tmp_path / "news.tsv", ROWS)
    dedupe(source, out=tmp_path / "clean", keep="none", **RECORDS)
    run(source, out=tmp_path / "run", linkage="star", **RECORDS)
    clustered = {member["id"] for one in lines(tmp_path / "run" / "clusters.jsonl") for member in one["members"]}
    assert {key for key, _ in rows_of(tmp_path / "clean" / "news.tsv")} == set(TEXTS) - clustered
    drops = lines(tmp_path / "clean" / "drops.jsonl")
    assert {drop["kept"] for drop in drops} == {None}
    for drop in drops:
        one, other = TEXTS[drop["id"]], TEXTS[drop["other"]]
        assert drop["other"] != drop["id"]
        assert drop["jaccard"] == round(jaccard(one, other), 6) >= 0.8
        assert (drop["reason"] == "identical") == (one == other) == (list(TEXTS.values()).count(one) > 1)
    rows = [{"id": key, "text": text} for key, text in ROWS]
    of_table = esdedup.dedupe(rows, keep="none", **RECORDS).dropped
    assert of_table == [{name: drop[name] for name in drop if name != "source"} for drop in drops]


def test_sentences_go_out_of_the_texts_that_they_stand_in(tmp_path: Path, dedupe: RunJob) -> None:
    pool = corpus(72, 12)
    documents = {"1": pool[:4], "2": [pool[4], pool[1], pool[5]], "3": [pool[2]], "4": pool[6:9] + pool[6:7]}
    source = tmp_path / "news.jsonl.gz"
    source.write_bytes(
        gzip.compress(
            "".join(
                json.dumps({"id": key, "text": " ".join(texts), "n": 1}) + "\n" for key, texts in documents.items()
            ).encode()
        )
    )
    done = dedupe(source, out=tmp_path / "clean", jaccard=0.99, unit="sentence")
    left = [json.loads(line) for line in gzip.decompress((tmp_path / "clean" / source.name).read_bytes()).splitlines()]
    assert {row["id"]: row["text"] for row in left} == {
        "1": " ".join(pool[:4]), "2": f"{pool[4]} {pool[5]}", "4": " ".join(pool[6:9]),
    }  # fmt: skip
    assert (done["documents"], done["documents_dropped"], done["sentences_dropped"]) == (3, 1, 2)
    assert [(drop["id"], drop["kept"]) for drop in lines(tmp_path / "clean" / "drops.jsonl")] == [
        ("2:1", "1:1"), ("3:0", "1:2"), ("4:3", "4:0"),
    ]  # fmt: skip


def test_annotations_drop_nothing(tmp_path: Path, dedupe: RunJob) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in ROWS))
    dedupe(source, out=tmp_path / "dropped", **RECORDS)
    dedupe(source, out=tmp_path / "told", annotate=True, **RECORDS)
    told = lines(tmp_path / "told" / "a.jsonl")
    assert [(row["id"], row["text"]) for row in told] == ROWS
    assert [row["id"] for row in told if row["esdedup"]["keep"]] == [
        row["id"] for row in lines(tmp_path / "dropped" / "a.jsonl")
    ]


def test_across_sources_asks_what_of_one_is_in_the_other(tmp_path: Path, dedupe: RunJob) -> None:
    train, test = table(tmp_path / "train.tsv", ROWS[:200]), table(tmp_path / "atest.tsv", ROWS[200:])
    dedupe(train, test, out=tmp_path / "clean", across="sources", **RECORDS)
    # duplicates within the training set stay
    assert (tmp_path / "clean" / "train.tsv").read_bytes() == train.read_bytes()
    held = [text for _, text in ROWS[:200]]
    drops = {drop["id"]: drop["kept"] for drop in lines(tmp_path / "clean" / "drops.jsonl")}
    assert drops
    for key, text in ROWS[200:]:
        near = any(jaccard(text, other) >= 0.8 for other in held)
        assert (f"atest/{key}" in drops) <= near
        if text in held:
            assert drops[f"atest/{key}"].startswith("train/")
    assert all(kept.startswith("train/") for kept in drops.values())


def test_what_is_known_and_wanted_stays(tmp_path: Path, dedupe: RunJob) -> None:
    source = table(tmp_path / "a.tsv", ROWS)
    dedupe(source, out=tmp_path / "all", **RECORDS)
    drops = lines(tmp_path / "all" / "drops.jsonl")
    spared = drops[0]["cluster"]
    (tmp_path / "wanted").write_text(spared + "\n")
    dedupe(source, out=tmp_path / "some", ignore=tmp_path / "wanted", **RECORDS)
    assert lines(tmp_path / "some" / "drops.jsonl") == [drop for drop in drops if drop["cluster"] != spared]


@pytest.mark.both_stores
def test_a_wiki_becomes_clean_documents(tmp_path: Path, dedupe: RunJob) -> None:
    pool = corpus(73, 10)
    pages = {"A": [("2001", [f"'''{pool[0]}'''", pool[1]])], "B": [("2002", [pool[2], pool[0]])]}
    wiki = tmp_path / "wiki.xml.bz2"
    wiki.write_bytes(bz2.compress(dump(tmp_path / "wiki.xml", pages).read_bytes()))
    dedupe(wiki, out=tmp_path / "clean")
    [one, two] = [
        json.loads(line) for line in bz2.decompress((tmp_path / "clean" / "wiki.jsonl.bz2").read_bytes()).splitlines()
    ]
    assert (one["id"], one["title"], one["text"].split("\n\n")) == ("1", "A", pool[:2])
    assert (two["id"], two["title"], two["text"]) == ("2", "B", pool[2])


def test_what_makes_no_sense_is_refused_before_work(tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", ROWS)
    for options, words in (
        ({"linkage": "single"}, "needs star"),
        ({"out": tmp_path}, "overwrite the source"),
        ({"annotate": True, "format": "lines"}, "no room"),
    ):
        with pytest.raises(UsageError, match=words):
            esdedup.dedupe(source, **{"out": tmp_path / "clean"} | options)
    with pytest.raises(UsageError, match="give best:COLUMN"):
        esdedup.dedupe(source, out=tmp_path / "clean", keep="best")
    with pytest.raises(UsageError, match="read sources twice"):
        esdedup.dedupe("-", out=tmp_path / "clean", format="tsv")
    assert not (tmp_path / "clean").exists()


@pytest.mark.both_stores
def test_a_killed_job_writes_no_file_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dedupe: RunJob) -> None:
    sources = [table(tmp_path / f"{name}.tsv", ROWS[part::3]) for part, name in enumerate("abc")]
    dedupe(*sources, out=tmp_path / "whole", **RECORDS)
    import esdedup.jobs.rewriting as cleaning

    rewrite, written = cleaning.rewrite_source, []

    def killed(source: Any, *arguments: Any, **options: Any) -> Any:
        if len(written) == 2:
            raise KilledError
        written.append(source.name)
        return rewrite(source, *arguments, **options)

    monkeypatch.setattr(cleaning, "rewrite_source", killed)
    for _ in range(2):
        with pytest.raises(KilledError):
            dedupe(*sources, out=tmp_path / "killed", **RECORDS)
    assert not list((tmp_path / "killed").glob("*.tsv")), "files get their names when all are complete"
    written.clear()
    done = dedupe(*sources, out=tmp_path / "killed", **RECORDS)
    assert written == ["c"]
    for name in ("a.tsv", "b.tsv", "c.tsv", "drops.jsonl"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert done["documents"] == sum(len(rows_of(tmp_path / "whole" / f"{name}.tsv")) for name in "abc")
    assert [path.name for path in (tmp_path / "killed").glob(".*")] == [".esdedup.json"]


def test_places_are_those_of_one_reading(tmp_path: Path, dedupe: RunJob, address: str) -> None:
    source, store = table(tmp_path / "a.tsv", ROWS), address
    dedupe(source, out=tmp_path / "one", store=store, **RECORDS)
    dedupe(source, out=tmp_path / "two", store=store, **RECORDS)
    assert (tmp_path / "one" / "a.tsv").read_bytes() == (tmp_path / "two" / "a.tsv").read_bytes()
    table(tmp_path / "a.tsv", [("new", "a line on top"), *ROWS])
    esdedup.add(source, store=store)
    with pytest.raises(StoreSourcesError, match="--fresh"):
        dedupe(source, out=tmp_path / "three", store=store, **RECORDS)
    dedupe(source, out=tmp_path / "three", store=store, fresh=True, **RECORDS)
    kept = (tmp_path / "one" / "a.tsv").read_text("utf-8")
    assert (tmp_path / "three" / "a.tsv").read_text("utf-8") == "new\ta line on top\n" + kept


def test_what_cannot_be_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1.txt", "2.txt", "3.jsonl"):
        Path(name).touch()
    with pytest.raises(UsageError, match="need a folder"):
        esdedup.dedupe("3.jsonl", out="-")
    for sources in (["1.txt", "2.txt"], ["3.jsonl"]):
        with pytest.raises(NothingCompared, match="no text in the sources"):
            esdedup.dedupe(*sources, out="out", fresh=True)
        assert {path.name for path in Path("out").iterdir()} >= {*sources, "drops.jsonl"}
