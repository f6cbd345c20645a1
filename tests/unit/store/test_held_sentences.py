"""Sentences that are held in memory are those of the store: of one copy of it, which all its readers share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esdedup
from esdedup.store.corpus import EVERYTHING, Filters, SentenceQuery
from esdedup.store.duckdb import sentence_lookup
from esdedup.store.store import Store
from esdedup.web.file_copy import FileCopy
from tests.support.dumps import dump
from tests.support.towns import LOOSE, pages


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    source = dump(folder / "wiki.xml", pages())
    esdedup.run(source, out=folder / "out", store=folder / "s.duckdb", report=False, quiet=True, **LOOSE)
    return folder / "s.duckdb"


@pytest.fixture
def copy(path: Path) -> Iterator[FileCopy]:
    made = FileCopy(path)
    yield made
    made.close()


def held(store: Store) -> Any:
    places: Any = store.corpus
    return places._places._held


def answers(store: Store) -> list[Any]:
    """What a store says of its texts: all, some twice, one that is not there, and none."""
    opened: Any = store
    rows = opened.database.rows("SELECT hash, text FROM sentences ORDER BY hash")
    texts = dict(rows) | {7: "not there"}
    found: list[Any] = []
    for asked in (list(texts), [*list(texts)[:5], 7], []):
        for most in (None, 1):
            for filters in (EVERYTHING, Filters(source="wiki.xml"), Filters(language="xx")):
                query = SentenceQuery(hashes=asked, texts=texts, most=most, filters=filters)
                found.append(store.corpus.sentences(query).to_pylist())
                found.append(sorted(map(str, store.corpus.places(np.array(asked, np.uint64), filters).to_pylist())))
    return found


def test_they_are_the_same_as_those_that_are_not_held(copy: FileCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    with copy.open(2**28) as store:
        with_them = answers(store)
        assert held(store) is not None
    monkeypatch.setattr(sentence_lookup, "MOST_HELD", 0)
    with copy.open(2**28) as store:
        assert answers(store) == with_them
        assert held(store) is None


def test_readers_of_a_copy_share_them_and_other_copies_do_not(path: Path, copy: FileCopy) -> None:
    other = FileCopy(path)
    with copy.open(2**28) as one, copy.open(2**28) as two, other.open(2**28) as three:
        assert answers(one) == answers(two) == answers(three)
        assert held(one) is held(two) is not held(three)
        del one, two, three
    other.close()
    assert not sentence_lookup._OF_COPIES


def test_few_questions_do_not_read_all_sentences(path: Path) -> None:
    with esdedup.open_store(path, read_only=True) as store:
        query = SentenceQuery(hashes=[1], texts={1: "a"})
        for _ in range(sentence_lookup._FEW):
            store.corpus.sentences(query)
        assert held(store) is None
        store.corpus.sentences(query)
        assert held(store) is not None
