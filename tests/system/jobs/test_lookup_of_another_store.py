"""A lookup beside a store that has another past than the one that it was made for."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import esdedup
from tests.support.corpus import sentence

HOW: dict[str, Any] = {"unit": "sentence", "min_chars": 10}


class Documents:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._random = random.Random(2)

    def made(self, name: str, count: int) -> list[dict[str, str]]:
        return [
            {"id": f"{name}{number}", "text": " ".join(sentence(self._random, 9) for _ in range(4))}
            for number in range(count)
        ]

    def written(self, name: str, rows: Iterable[dict[str, str]]) -> Path:
        path = self._folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return path


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path)


def not_found(store: Path, texts: Iterable[str]) -> list[str]:
    """Those of the texts that `similar` does not find."""
    return [text for text in texts if text not in {hit.text for hit in esdedup.similar(text, store=store)}]


def test_a_store_that_is_made_anew(tmp_path: Path, documents: Documents) -> None:
    store, rows = tmp_path / "s.duckdb", documents.made("a", 60)
    esdedup.index(documents.written("d", rows), store=store, **HOW)
    new = [row["text"].partition(". ")[0].replace(" ", " then ", 2) + "." for row in rows[::6]]
    for row, text in zip(rows[::6], new, strict=True):
        row["text"] += f" {text}"
    esdedup.index(documents.written("d", rows), store=store, fresh=True, **HOW)
    assert not_found(store, new) == []


def test_a_store_that_is_restored_from_a_copy(tmp_path: Path, documents: Documents) -> None:
    store, copy = tmp_path / "s.duckdb", tmp_path / "copy"
    esdedup.index(documents.written("a", documents.made("a", 60)), store=store, **HOW)
    esdedup.scan(store=store)
    shutil.copy(store, copy)
    esdedup.add(documents.written("b", documents.made("b", 8)), store=store)
    shutil.copy(copy, store)
    added = documents.made("c", 8)
    esdedup.add(documents.written("c", added), store=store)
    assert not_found(store, [f"{row['text'].split('. ')[1]}." for row in added]) == []
