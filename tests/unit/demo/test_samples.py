"""The small data sets: the same every time, true, and what esdedup finds in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.demo.samples import Sample
from esdedup.errors import UsageError
from scripts.wiki.copies import LEAK_KINDS

SIZES = {"wiki": 200, "documents": 100, "records": 500, "leaks": 200}


@pytest.mark.parametrize("name", SIZES)
def test_a_sample_is_the_same_every_time(name: str) -> None:
    sample = esdedup.sample(name)
    assert sample == esdedup.sample(name)
    assert len(sample.rows) == SIZES[name]
    assert len({row["id"] for row in sample.rows}) == len(sample.rows)
    assert sample.truth


@pytest.mark.parametrize("name", ["documents", "records", "leaks"])
def test_the_truth_is_about_rows(name: str) -> None:
    sample = esdedup.sample(name)
    texts = {row["id"]: row["text"] for row in sample.rows}
    origins = {row["id"]: row["text"] for row in sample.reference} or texts
    for kind, (origin, copy), (old, new) in sample.truth:
        assert (origins[origin], texts[copy]) == (old, new)
        assert (old == new) == (kind == "identical")


def test_the_truth_about_a_wiki_is_in_its_articles() -> None:
    sample = esdedup.sample("wiki")
    articles = {row["id"]: row for row in sample.rows}
    assert all(row["title"] in row["text"] for row in sample.rows)
    assert {planted.kind for planted in sample.truth} == set(KINDS) - {"record"}
    for planted in sample.truth:
        assert len(planted.ids) == len(planted.texts) > 1
        assert set(planted.ids) <= set(articles)


@pytest.mark.parametrize("name", ["documents", "records"])
def test_dedupe_finds_what_is_planted(name: str) -> None:
    sample = esdedup.sample(name)
    found = esdedup.dedupe(sample.rows, quiet=True)
    cluster = {row: cluster["id"] for cluster in found.clusters for row in cluster["members"]}
    missed = [planted for planted in sample.truth if len({cluster.get(row, row) for row in planted.ids}) > 1]
    assert len(missed) <= 0.01 * len(sample.truth)
    assert set(cluster) <= {row for planted in sample.truth for row in planted.ids}
    assert found.records["dropped"]["identical"] >= sum(planted.kind == "identical" for planted in sample.truth)


def test_leaks_are_found_in_the_reference() -> None:
    sample = esdedup.sample("leaks")
    assert Counter(planted.kind for planted in sample.truth) == dict.fromkeys(LEAK_KINDS, 5)
    found = esdedup.dedupe(sample.rows, against=sample.reference, contained=0.9, quiet=True)
    leaked = {planted.ids[1]: planted.ids[0] for planted in sample.truth}
    assert {row["id"]: row["reference"] for row in found.dropped} == leaked
    assert found.records["dropped"] == {"identical": 0, "near": 0, "contained": 0, "in_reference": 20}


def test_files(tmp_path: Path) -> None:
    def lines(name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()]

    leaks = esdedup.sample("leaks")
    assert leaks.write(tmp_path) == tmp_path / "leaks.jsonl"
    assert lines("leaks.jsonl") == leaks.rows
    assert lines("leaks-reference.jsonl") == leaks.reference
    assert len(lines("leaks.truth.jsonl")) == len(leaks.truth)
    wiki = esdedup.sample("wiki").write(tmp_path / "new")
    summary = esdedup.run(wiki, out=tmp_path / "out", quiet=True)
    assert summary["counts"]["documents"] == SIZES["wiki"]
    assert summary["counts"]["clusters"] > 10


def test_unknown_name() -> None:
    with pytest.raises(UsageError, match="sample is 'books'; allowed: wiki, documents, records, leaks"):
        esdedup.sample("books")
    assert isinstance(esdedup.sample("records"), Sample)
