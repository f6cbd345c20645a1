"""Real dumps and sentences: what the system is for."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import esdedup
from tests.support.full import FULL
from tests.support.records import RECORDS

MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|'''|<ref|</|\|\}|\{\||thumb\|")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def server(elastic_url: str, elastic_prefix: str) -> str:
    """Where a store may be made on a server."""
    return f"{elastic_url}/{elastic_prefix}"


def same_files(one: Path, other: Path) -> bool:
    """Whether two runs found the same."""
    names = ("pairs.jsonl", "clusters.jsonl", "clusters.txt")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_debian_descriptions_recall_and_precision(data_folder: Path, tmp_path: Path, server: str) -> None:
    sentences = data_folder / "sentences"
    options: dict[str, Any] = {**RECORDS, "min_chars": 75, "id_column": "line", "text_column": "2", "report": False}
    options["limit"] = most = None if FULL else 30_000
    summary = esdedup.run(sentences / "debian-descriptions.tsv.gz", out=tmp_path / "two", workers=2, **options)
    with gzip.open(sentences / "debian-truth-jaccard-0.8.tsv.gz", "rt", encoding="utf-8") as truth_lines:
        pairs = (line.split()[:3] for line in truth_lines)
        truth = {frozenset((a, b)): score for a, b, score in pairs if not most or max(int(a), int(b)) <= most}
    found = {
        frozenset((pair["a"], pair["b"])): f"{pair['jaccard']:.6f}" for pair in lines(tmp_path / "two" / "pairs.jsonl")
    }
    assert len(found) == summary["counts"]["pairs"]
    assert all(truth.get(pair) == jaccard for pair, jaccard in found.items())
    assert len(found) / len(truth) >= 0.996
    if FULL:
        assert summary["counts"]["sentences_kept"] == 136_683
        assert summary["counts"]["distinct_sentences"] == 82_249
    esdedup.run(sentences / "debian-descriptions.tsv.gz", out=tmp_path / "one", workers=1, memory="256MiB", **options)
    assert same_files(tmp_path / "one", tmp_path / "two")
    options["limit"] = 20_000 if FULL else 4000
    esdedup.run(sentences / "debian-descriptions.tsv.gz", out=tmp_path / "file", **options)
    esdedup.run(sentences / "debian-descriptions.tsv.gz", store=server, out=tmp_path / "server", **options)
    assert same_files(tmp_path / "server", tmp_path / "file")


def test_a_dump_of_106_articles(data_folder: Path, tmp_path: Path, server: str) -> None:
    dump = data_folder / "wiki" / "enwiki-106-articles.xml.bz2"
    summary = esdedup.run(dump, out=tmp_path)
    assert esdedup.run(dump, store=server, out=tmp_path / "server")["counts"] == summary["counts"]
    assert same_files(tmp_path / "server", tmp_path)
    assert summary["counts"]["documents"] == 106
    assert summary["skipped"]["redirect"] == 100
    clusters = lines(tmp_path / "clusters.jsonl")
    assert len(clusters) >= 20
    for cluster in clusters:
        for member in cluster["members"]:
            assert not MARKUP.search(member["text"]), member
            assert member["title"]
            assert re.fullmatch(r"\d+:\d+", member["id"])


def test_two_dumps_share_what_was_not_edited(data_folder: Path, tmp_path: Path) -> None:
    wiki = data_folder / "wiki"
    # both are of one wiki, of which the newer pages would count
    store = tmp_path / "store.duckdb"
    for name in "ab":
        esdedup.index(wiki / f"enwiki-head-{name}.xml", store=store, source_name=name, lookup=False)
    summary = esdedup.scan(store=store, out=tmp_path, across="sources")
    clusters = lines(tmp_path / "clusters.jsonl")
    assert summary["counts"]["clusters"] == len(clusters) > 2500
    both = [{member["source"] for member in cluster["members"]} for cluster in clusters]
    assert all(sources == {"a", "b"} for sources in both)
    # nearly everything that stands in the one dump stands in the other
    assert summary["counts"]["clustered_sentences"] / summary["counts"]["sentences_kept"] > 0.9
    edited = [cluster for cluster in clusters if cluster["distinct"] > 1]
    assert len(edited) > 10


@pytest.mark.parametrize("path", ["fast", "reference"])
def test_both_paths_find_the_same(data_folder: Path, tmp_path: Path, path: str) -> None:
    summary = esdedup.run(data_folder / "wiki" / "enwiki-head-a.xml", out=tmp_path, wikitext=path)
    assert summary["counts"]["sentences_kept"] == 3120


def test_the_planted_articles_are_found_and_nothing_else(data_folder: Path, tmp_path: Path) -> None:
    entry = resources.files("esdedup") / "presets" / "documents.toml"
    preset = {name.replace("-", "_"): value for name, value in tomllib.loads(entry.read_text("utf-8")).items()}
    nearup = data_folder / "nearup"
    esdedup.run(nearup / "articles_1000.train", out=tmp_path, format="tsv", separator=" ", **preset)
    found = esdedup.evaluate(store=tmp_path / "store.duckdb", golden=nearup / "articles_1000.truth")["golden"]
    assert (found["golden_clusters"], found["golden_not_in_output"], found["output_not_in_golden"]) == (10, 0, 0)
    assert found["adjusted_rand_index"] == 1.0
