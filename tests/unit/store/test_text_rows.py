"""Sentences that are read by the rows of their texts are those that the database finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import esdedup
from esdedup.lookup import text_rows
from esdedup.lookup.text_rows import Rows, TextRows, write_rows
from esdedup.store.corpus import EVERYTHING, Filters, SentenceQuery
from esdedup.store.duckdb import sentence_lookup
from esdedup.store.store import Store
from tests.support.dumps import dump
from tests.support.towns import LOOSE, pages


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    source = dump(folder / "wiki.xml", pages())
    esdedup.run(source, out=folder / "out", store=folder / "s.duckdb", report=False, quiet=True, lookup=True, **LOOSE)
    return folder / "s.duckdb"


def answers(store: Store) -> list[Any]:
    """What a store says of its texts: all, some with one that is not there, and none."""
    opened: Any = store
    rows = opened.database.rows("SELECT hash, text FROM sentences ORDER BY hash")
    texts = dict(rows) | {7: "not there"}
    found: list[Any] = []
    for asked in (list(texts), [*list(texts)[:5], 7], []):
        for known in (texts, {}):
            for most in (None, 1, 2):
                for filters in (EVERYTHING, Filters(source="wiki.xml"), Filters(language="xx")):
                    query = SentenceQuery(hashes=asked, texts=known, most=most, filters=filters)
                    found.append(store.corpus.sentences(query).to_pylist())
                    found.append(sorted(map(str, store.corpus.places(np.array(asked, np.uint64), filters).to_pylist())))
    return found


def test_they_are_those_that_the_database_finds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with esdedup.open_store(path, read_only=True) as store:
        places: Any = store.corpus
        assert places._lookup.rows() is not None
        by_rows = answers(store)
    assert any(by_rows)
    monkeypatch.setattr(sentence_lookup, "MOST_LOOKED_AT", -1)
    with esdedup.open_store(path, read_only=True) as store:
        assert answers(store) == by_rows


@pytest.mark.parametrize("bits", [3, 1])
def test_texts_whose_hashes_begin_alike_do_not_hide_each_other(path: Path, tmp_path: Path, bits: int) -> None:
    with esdedup.open_store(path, read_only=True) as store:
        places: Any = store.corpus
        expected = answers(store)
        rows = places._lookup._rows()
        crowded = Rows(rows.size, 2 ** (64 - bits), rows.read)
        write_rows(tmp_path / "rows", crowded)
        made = TextRows(tmp_path / "rows", crowded.end)
        places._places._rows = lambda: made
        assert answers(store) == expected


def test_rows_that_have_moved_are_not_trusted(path: Path, tmp_path: Path) -> None:
    with esdedup.open_store(path, read_only=True) as store:
        places: Any = store.corpus
        expected = answers(store)
        rows = places._lookup._rows()
        for moved in (1, -1, rows.end):

            def read(low: int, high: int, moved: int = moved) -> Any:
                for batch in rows.read(low, high):
                    elsewhere = np.maximum(batch["row"].to_numpy() + moved, 0)
                    yield pa.record_batch({"hash": batch["hash"], "row": elsewhere})

            write_rows(tmp_path / "rows", Rows(rows.size, 2 * rows.end, read))
            made = TextRows(tmp_path / "rows", 2 * rows.end)
            places._places._rows = lambda made=made: made
            assert answers(store) == expected


def test_a_lookup_whose_rows_have_moved_is_not_up_to_date(path: Path) -> None:
    with esdedup.open_store(path, read_only=True) as store:
        corpus: Any = store.corpus
        assert not corpus.lookup_behind()
    with esdedup.open_store(path, read_only=True) as store:
        corpus = store.corpus
        end = corpus._lookup._end()
        corpus._lookup._end = lambda: end - 1
        assert corpus.lookup_behind()


def test_many_rows_are_sorted_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_rows, "_AT_ONCE", 100)
    numbers = np.random.default_rng(1)
    hashes = numbers.choice(numbers.integers(0, 2**64, 700, np.uint64), 1_000)
    hashes[:2] = 0, 2**64 - 1

    def read(low: int, high: int) -> Any:
        own = np.flatnonzero((hashes >= np.uint64(low)) & (hashes <= np.uint64(high)))
        yield pa.record_batch({"hash": hashes[own], "row": own})

    write_rows(tmp_path / "rows", Rows(1_000, 1_000, read))
    rows = TextRows(tmp_path / "rows", 1_000)
    asked = np.unique(hashes)
    begins, ends = rows.spans(asked)
    for hash_, begin, end in zip(asked, begins, ends, strict=True):
        found, beginnings = rows.between(np.array([begin]), np.array([end]))
        assert set(beginnings.tolist()) == {int(hash_) >> 10}
        assert found.tolist() == np.flatnonzero(hashes == hash_).tolist()


def test_a_store_without_sentences(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows", Rows(0, 0, lambda low, high: iter(())))
    rows = TextRows(tmp_path / "rows", 0)
    assert [each.tolist() for each in rows.spans(np.array([5], np.uint64))] == [[0], [0]]
    assert rows.between(np.zeros(1, np.int64), np.zeros(1, np.int64))[0].tolist() == []


@pytest.mark.parametrize("end", [-1, 2**63 + 1])
def test_rows_of_no_such_number(tmp_path: Path, end: int) -> None:
    (tmp_path / "rows").write_bytes(bytes(8))
    with pytest.raises(ValueError, match="63 bits"):
        TextRows(tmp_path / "rows", end)
