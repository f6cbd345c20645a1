"""A page's history as stored, held against every revision cleaned and split as a whole."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import esdedup
from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.assemble import Assembler
from esdedup.jobs.prepare import BatchPlan, prepare
from esdedup.jobs.revision_deltas import DeltaReader
from esdedup.matching.signing import Signing
from esdedup.store.ledger import SourceCheckpoint
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from tests.support.corpus import corpus
from tests.support.dumps import dump
from tests.support.full import few

Sentence = tuple[int, str, int, int]  # position, text, first and last revision


def stored(path: Path) -> list[Sentence]:
    with esdedup.open_store(str(path), read_only=True) as opened:
        store: Any = opened
        return list(store._db.rows("SELECT position, text, revision, last_revision FROM sentences ORDER BY 1"))


def expected(dumped: Path, min_chars: int, max_chars: int) -> tuple[list[Sentence], int]:
    """The sentences of the one page of a dump, and how many it has of any length."""
    [source] = discover([str(dumped)], Reading.of(revisions="all"))
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    with DocumentStream(source, Skips()) as stream:
        for batch in stream:
            cleaner = FastCleaner(Names(stream.namespaces))
            for text, revision in zip(batch["text"].to_pylist(), batch["revision"].to_pylist(), strict=True):
                for unit in segment([cleaner.clean(text)], Splitting("sentence", "en")).texts.to_pylist():
                    first.setdefault(unit, revision)
                    last[unit] = revision
    rows = [(position, unit, first[unit], last[unit]) for position, unit in enumerate(first)]
    return [row for row in rows if min_chars <= len(row[1]) <= max_chars], len(first)


def edited(source: random.Random, revisions: int) -> list[tuple[str, list[str]]]:
    """Revisions with paragraphs moved, changed, taken out and brought back, some of which hold markup left open."""
    marks = ["{{", "}}", "[[a|", "]]", "\n{|\n", "\n|}", "<ref>", "</ref>", "<!--", "-->", "<nowiki>", "</nowiki>"]
    headings = ["== See also ==", "== Use ==", "=== Notes ===", "= References =", "= Life ="]
    pool = corpus(5, 40)
    page = pool[:20]
    history = []
    for number in range(revisions):
        page = [*page]
        at = source.randrange(len(page))
        match source.randrange(6):
            case 0:
                page[at] = source.choice(pool)
            case 1:
                page.insert(at, source.choice(headings))
            case 2:
                page[at] += source.choice(marks) + "\n" * source.randrange(3) + source.choice(pool)
            case 3:
                page = page[:at] + page[at + 2 :] + page[at : at + 1]
            case 4 if number > 3:
                page = source.choice(history)[1]
            case _:
                page[at] = f"{source.choice(pool)} {source.choice(pool)}\n{source.choice(pool)}"
        history.append((f"2001-01-01T00:{number // 60:02}:{number % 60:02}Z", page))
    return history


@pytest.mark.parametrize("workers", few([1, 2], 1))
@pytest.mark.parametrize("batch_bytes", [2 * 2**20, 3000])
def test_edits_are_stored_as_whole_revisions_would_be(
    tmp_path: Path, workers: int, batch_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.formats.batches.MAX_BYTES", batch_bytes)
    wiki = dump(tmp_path / "wiki.xml", {"A": edited(random.Random(6), 300)})
    done = esdedup.index(wiki, store=tmp_path / "s.duckdb", revisions="all", min_chars=30, workers=workers)
    sentences, read = expected(wiki, 30, 600)
    assert stored(tmp_path / "s.duckdb") == sentences
    assert done["counts"]["sentences_read"] == read


def test_a_real_history_is_stored_as_whole_revisions_would_be(tmp_path: Path, data_folder: Path) -> None:
    wiki = data_folder / "wiki" / "enwiki-anarchism-history-1000.xml.bz2"
    done = esdedup.index(wiki, store=tmp_path / "s.duckdb", revisions="all")
    sentences, read = expected(wiki, 75, 600)
    assert stored(tmp_path / "s.duckdb") == sentences
    assert done["counts"]["sentences_read"] == read


@pytest.mark.parametrize("options", [{"wikitext": "reference"}, {"unit": "record"}])
def test_what_cannot_be_cut_is_read_by_revision(tmp_path: Path, options: dict[str, str]) -> None:
    one, two, three = corpus(7, 3)
    pages = {"A": [(f"200{number}", [text]) for number, text in enumerate([one, two, one, three, two])]}
    wiki = dump(tmp_path / "wiki.xml", pages)
    esdedup.index(wiki, store=tmp_path / "s.duckdb", revisions="all", min_chars=0, **options)
    assert stored(tmp_path / "s.duckdb") == [(0, one, 1, 3), (1, two, 2, 5), (2, three, 4, 4)]


def test_every_revision_that_cannot_be_read_is_counted() -> None:
    recipe = BatchPlan(Signing.of(min_chars=0), "reference", merge_revisions=True)
    mark = SourceCheckpoint("wiki", "wiki.xml", "", False)
    assembler, reader = Assembler(mark, recipe, 0), DeltaReader()
    for texts in (["bad", "One.", "bad"], ["bad", "Two."]):
        rows = [{"id": "1", "title": "A", "text": text, "place": 1} for text in texts]
        batch = pa.RecordBatch.from_pylist(rows, DOCUMENTS)
        news = reader.read(batch, recipe)
        readable = ["" if text == "bad" else text for text in news.texts.to_pylist()]
        unparsable = [(at, "too long") for at, text in enumerate(readable) if not text]
        prepared = prepare(pa.array(readable, pa.large_string()), news.page, replace(recipe, cleaner=None))
        prepared = replace(prepared, unparsable=unparsable)
        assembler.add(batch, news, prepared)
    assembler.finish()
    assert assembler.take()[0].skips.counts == {"unparsable_page": 3}
