"""The real exports of the shared data folder."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from esdedup.columns.records import Skips
from esdedup.errors import SourceError
from tests.support.sources import ids, partial, read


@pytest.mark.parametrize(
    ("name", "documents", "redirects"),
    [
        ("enwiki-106-articles.xml.bz2", 106, 100),
        ("enwiki-head-a.xml", 18, 67),
        ("enwiki-head-b.xml", 18, 66),
        ("enwiki-2025-head.xml.bz2", 6, 64),
        ("enwiki-2009-export-0.3.xml", 2, 2),
        ("enwiki-tables.xml.bz2", 5, 0),
        ("enwiki-no-namespace.xml", 2, 14),
        ("bgwiki-3-pages.xml.bz2", 1, 0),
        ("enwiki-anarchism-history-1000.xml.bz2", 1, 0),
        ("ltgwiki.xml", 903, 195),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_counts(data_folder: Path, name: str, documents: int, redirects: int, threads: int) -> None:
    skips = Skips()
    rows = read(data_folder / "wiki" / name, skips, threads)
    assert len(rows) == len(set(ids(rows))) == documents
    assert skips.counts.get("redirect", 0) == redirects


def test_every_namespace_of_a_small_wiki(data_folder: Path) -> None:
    skips = Skips()
    rows = read(data_folder / "wiki" / "ltgwiki.xml", skips, namespaces=(0, 4, 8, 10, 14, 828))
    assert len(rows) + sum(skips.counts.values()) == 2004
    assert skips.counts == {"redirect": 195, "not_wikitext": 36, "no_text": 3}


def test_archive_and_stream_give_equal_rows(data_folder: Path) -> None:
    wiki = data_folder / "wiki"
    everything = tuple(range(-2, 2000))
    for revisions in ("latest", "all"):
        first, second = Skips(), Skips()
        rows = read(wiki / "aawiki-history.xml.7z", first, revisions=revisions, namespaces=everything)
        other = read(wiki / "aawiki-history.xml.bz2", second, 2, revisions=revisions, namespaces=everything)
        assert rows == other
        assert first == second
        assert len(rows) + sum(first.counts.values()) == (507 if revisions == "latest" else 1307)
    # the latest revisions are those of the current dump
    latest = read(wiki / "aawiki-history.xml.7z", namespaces=everything)
    assert latest == read(wiki / "aawiki-current.xml.bz2", namespaces=everything)


def test_history_of_one_article(data_folder: Path) -> None:
    skips = Skips()
    path = data_folder / "wiki" / "enwiki-anarchism-history-1000.xml.bz2"
    rows = read(path, skips, revisions="all")
    assert len(rows) + sum(skips.counts.values()) == 1000
    assert set(ids(rows)) == {"12"}


def test_malformed(data_folder: Path) -> None:
    rows, message = partial(data_folder / "wiki" / "malformed.xml", SourceError)
    assert ids(rows) == ["5977"]
    assert "line 175" in message
    rows, _ = partial(data_folder / "wiki" / "malformed.xml", SourceError, revisions="all")
    assert set(ids(rows)) == {"5977", *ids(rows)}
    assert len(rows) > 3


def test_fragment(data_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "esdedup"):
        rows = read(data_folder / "wiki" / "fragment-no-root.xml")
    assert ids(rows) == ["60001", "10", "9001"]
    assert len(caplog.records) == 1


def test_tables(data_folder: Path) -> None:
    sentences = data_folder / "sentences" / "debian-descriptions.tsv.gz"
    rows = read(sentences, id_column="line", text_column="2")
    assert ids(rows) == [str(number) for number in range(1, 314_769)]
    assert len(read(data_folder / "nearup" / "articles_1000.train", format="tsv", separator=" ")) == 1000
    assert len(read(data_folder / "restaurant" / "zagats.csv", text_column="name")) == 331
    plagiarism = data_folder / "nearup" / "clough_stevenson_plagiarism.jsonl"
    assert len(read(plagiarism, text_column="original_task_text")) == 95
