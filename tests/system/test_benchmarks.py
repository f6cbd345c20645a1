"""The benchmarks measure what their rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

import esdedup
from esdedup.matching.groups import token_matrix
from esdedup.store.elasticsearch.token_words import texts_of_tokens
from scripts.benchmarks import elasticsearch
from tests.support.records import SIGNED, records, table


def test_no_sentence_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elastic_url: str, elastic_prefix: str
) -> None:
    store = f"{elastic_url}/{elastic_prefix}"
    esdedup.index(table(tmp_path / "a.tsv", records(5, 100)), store=store, **SIGNED)
    asked = []
    monkeypatch.setattr(elasticsearch, "PAGE", 30)
    with esdedup.open_store(store, read_only=True) as opened:
        columns = opened.signing.tokens
        parts = [token_matrix(rows["tokens"], columns) for _, rows in opened.corpus.signatures("any")]
        stored = [text for part in parts for text in texts_of_tokens(part)]
        for wanted in (75, 100, 200):
            asked.append(elasticsearch._first_tokens(opened, wanted))
    assert [len(tokens) for tokens in asked] == [75, 100, 100]
    assert sorted(asked[1]) == sorted(stored)
