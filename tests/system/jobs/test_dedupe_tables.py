"""Tables in memory come back without their duplicates, in the form that came in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import esdedup
from esdedup.errors import NothingComparedError, UsageError
from tests.support.corpus import corpus

ROWS = {
    "name": ["Anna Smith", "Anna Smith", "Ana Smith", "Bob", None],
    "city": ["Boston", "Boston", "Boston", "Rome", None],
    "n": [1, 2, 3, 4, 5],
}
FRAME = pd.DataFrame(ROWS, index=list("vwxyz"))
TABLES: list[tuple[Any, Callable[[Any], list[int]]]] = [
    (FRAME, lambda kept: kept["n"].tolist()),
    (pl.DataFrame(ROWS), lambda kept: kept["n"].to_list()),
    (pa.table(ROWS), lambda kept: kept["n"].to_pylist()),
    (duckdb.from_arrow(pa.table(ROWS)), lambda kept: [row[0] for row in kept.project("n").fetchall()]),
    (datasets.Dataset.from_dict(ROWS), lambda kept: list(kept["n"])),
    (pa.table(ROWS).to_pylist(), lambda kept: [row["n"] for row in kept]),
]


@pytest.mark.parametrize(("data", "numbers"), TABLES, ids=lambda value: type(value).__name__)
def test_the_same_kind_comes_back(data: Any, numbers: Callable[[Any], list[int]]) -> None:
    found = esdedup.dedupe(data, columns=["name", "city"])
    assert type(found.kept) is type(data)
    assert numbers(found.kept) == [1, 4, 5]
    assert found.records == {
        "in": 5, "kept": 3, "dropped": {"identical": 1, "near": 1, "contained": 0, "in_reference": 0},
        "not_compared": {"without text": 1},
    }  # fmt: skip
    assert [(row["id"], row["kept"], row["reason"]) for row in found.dropped] == [(1, 0, "identical"), (2, 0, "near")]
    assert found.clusters == [{"id": found.dropped[0]["cluster"], "size": 3, "distinct": 2, "members": [0, 1, 2]}]


def test_an_index_and_types_survive() -> None:
    kept = esdedup.dedupe(FRAME, columns=["name", "city"]).kept
    assert kept.index.tolist() == ["v", "y", "z"]
    assert kept.dtypes.to_dict() == FRAME.dtypes.to_dict()


def test_strings_and_iterators() -> None:
    texts = ["One text here.", "Another.", "one TEXT here", "One text here.", ""]
    found = esdedup.dedupe(iter(texts))
    assert found.kept == ["One text here.", "Another.", ""]
    assert esdedup.dedupe(texts, keep="none").kept == ["Another.", ""]
    assert "3 kept · 2 dropped" in repr(found)
    assert "<td>near</td>" in found._repr_html_()


def test_a_higher_threshold_compares_nothing_again() -> None:
    texts = corpus(8, 200)
    found = esdedup.dedupe(texts)
    for threshold in (0.7, 0.8, 0.9, 1.0):
        again, anew = found.rethreshold(threshold), esdedup.dedupe(texts, jaccard=threshold)
        assert (again.kept, again.dropped, again.clusters) == (anew.kept, anew.dropped, anew.clusters)
        assert again.pairs.equals(anew.pairs)
    with pytest.raises(UsageError, match="call dedupe again"):
        found.rethreshold(0.6)


def test_tables_and_files_are_deduped_alike(tmp_path: Path) -> None:
    texts = corpus(9, 300)
    source = tmp_path / "t.parquet"
    pl.DataFrame({"id": [f"r{number}" for number in range(len(texts))], "text": texts}).write_parquet(source)
    for keep in ("first", "longest", "none"):
        written = esdedup.dedupe(source, out=tmp_path / keep, keep=keep)  # type: ignore[call-overload]
        found = esdedup.dedupe(pl.read_parquet(source), keep=keep)  # type: ignore[call-overload]
        assert found.kept.equals(pl.read_parquet(tmp_path / keep / "t.parquet"))
        assert found.records == written.records


def test_against_another_table() -> None:
    old = pl.DataFrame({"text": ["Unrelated words.", "One small text."]})
    found = esdedup.dedupe(pl.DataFrame({"text": ["new words", "one small text", "NEW words"]}), against=old)
    assert found.kept["text"].to_list() == ["new words"]
    first, second = found.dropped
    assert (first["reason"], first["reference"], first["reference_text"]) == ("in_reference", 1, "One small text.")
    assert (second["reason"], second["kept"]) == ("near", 0)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (FRAME, {}, "columns=.*columns: name, city, n"),
        (FRAME, {"columns": "town"}, "no column 'town'"),
        (pl.DataFrame(ROWS).lazy(), {}, "collect"),
        (3, {}, "int is not a table"),
        ([1, 2], {}, "the list has int"),
        ([__file__], {}, "wrap them in pathlib.Path"),
        (["a text"], {"unit": "sentence"}, "unit is sentence"),
        (["a text"], {"out": "x"}, "out does not apply"),
        (["a text"], {"jacard": 0.9}, "jacard"),
    ],
)
def test_what_is_wrong_is_said(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        esdedup.dedupe(data, **options)


def test_nothing_compared_is_an_error_with_the_result() -> None:
    with pytest.raises(NothingComparedError, match="2 shorter than --min-chars 75") as error:
        esdedup.dedupe(["short", "short"], min_chars=75)
    assert error.value.result.kept == ["short", "short"]
