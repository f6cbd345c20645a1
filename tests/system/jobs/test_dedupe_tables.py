"""Tables in memory come back without their duplicates, in the form that came in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import esdedup
from esdedup.errors import NothingCompared, StoreSettingsError, UsageError
from esdedup.files import user_cache
from tests.support.corpus import corpus
from tests.support.full import few

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
        "not_compared": {"without text (columns)": 1},
    }  # fmt: skip
    assert [(row["id"], row["kept"], row["reason"]) for row in found.dropped] == [(1, 0, "identical"), (2, 0, "near")]
    assert found.clusters == [{"id": found.dropped[0]["cluster"], "size": 3, "distinct": 2, "members": [0, 1, 2]}]


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pd.Series, pd.Series.tolist),
        (pl.Series, pl.Series.to_list),
        (lambda *of: pa.chunked_array(of), pa.ChunkedArray.to_pylist),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_column_alone_is_a_table(column: Any, texts: Callable[[Any], list[str]]) -> None:
    kept = esdedup.dedupe(column(["One text here.", "one TEXT here", "Another."])).kept
    assert texts(kept) == ["One text here.", "Another."]


UNUSUAL = ["One text here.", "one TEXT here", "Another."]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (pa.array(UNUSUAL), {}),
        (pa.record_batch({"text": UNUSUAL}), {}),
        (pa.table({"text": UNUSUAL}).to_reader(), {}),
        (np.array(UNUSUAL), {}),
        (pd.DataFrame({0: UNUSUAL, 1: [1, 2, 3]}), {"columns": 0}),
        (pd.DataFrame({("a", "x"): UNUSUAL, ("a", "y"): [1, 2, 3]}), {"columns": ("a", "x")}),
        (pa.table({"text": [text.encode() for text in UNUSUAL]}), {}),
        (pd.DataFrame({"text": pd.Series([*UNUSUAL[:2], 2.5], dtype=object)}), {}),
        ([*UNUSUAL[:2], "half of a pair: \ud800"], {}),
    ],
    ids=range(9),
)
def test_unusual_tables(data: Any, options: dict[str, Any]) -> None:
    found = esdedup.dedupe(data, **options)
    assert len(found.kept) == 2
    assert [row["id"] for row in found.dropped] == [1]


def test_a_relation_comes_back_on_its_connection() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE names AS SELECT unnest(['One text here.', 'one TEXT here', 'Another.']) AS text"
        )
        kept = esdedup.dedupe(connection.table("names")).kept
        kept.create("once")
        assert connection.execute("SELECT text FROM once ORDER BY text").fetchall() == [
            ("Another.",),
            ("One text here.",),
        ]


def test_a_picture_of_rows_with_equal_ids() -> None:
    rows = [{"id": 1, "text": text} for text in ("First of all, this one.", "first of all, this one", "Another.")]
    shown = esdedup.dedupe(rows)._repr_html_()
    assert "first of all, this one<" in shown
    assert "First of all, this one.<" in shown


def test_no_reference() -> None:
    assert esdedup.dedupe(["a text", "a text"], against=None).kept == ["a text"]


def test_a_table_is_a_source_of_run_index_and_add(tmp_path: Path) -> None:
    frame = pl.DataFrame({"key": ["a", "b", "c"], "words": ["One text here.", "one TEXT here", "Another one."]})
    store, out = tmp_path / "s.duckdb", tmp_path / "out"
    first = esdedup.run(frame, out=out, store=store, id_column="key")
    assert first.records == {"in": 3, "compared": 3, "not_compared": {}}
    assert first.settings["unit"] == "record"
    assert [source["name"] for source in first.sources] == ["table"]
    again = esdedup.run(frame, out=out, store=store, id_column="key")  # the same table is the same source
    assert again.counts == first.counts
    more = [{"id": "d", "words": "another ONE"}, {"id": "c", "words": "Something else entirely."}]
    added = esdedup.add(iter(more), store=store, columns="words")
    assert (added.added["new"], added.added["replaced"]) == (1, 1)
    other = tmp_path / "numbered.duckdb"
    esdedup.index(frame.to_pandas(), store=other, columns=["words", "key"])
    texts = {row["id"]: row["text"] for row in esdedup.suggest("one", store=other, limit=2)}
    assert texts == {"0": "One text here. a", "1": "one TEXT here b"}
    assert not list((user_cache() / "tables").iterdir())


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


def test_against_files_and_stores(tmp_path: Path) -> None:
    old, new = corpus(12, 120), corpus(13, 80) + corpus(12, 120)[:30] + [corpus(12, 120)[40].upper()]
    source, store = tmp_path / "old.jsonl", tmp_path / "kept.duckdb"
    pl.DataFrame({"id": [f"o{number}" for number in range(120)], "text": old}).write_ndjson(source)
    esdedup.index(source, store=store)
    here = pl.DataFrame({"text": new})
    found = [esdedup.dedupe(here, against=against) for against in (source, str(store), [source], [store])]
    among_tables = esdedup.dedupe(here, against=pl.DataFrame({"text": old}))
    assert all(each.dropped == found[0].dropped for each in found)
    assert found[0].kept.equals(among_tables.kept)
    assert found[0].records == among_tables.records
    assert found[0].records["dropped"]["in_reference"] >= 31
    assert [row["reference"] for row in found[0].dropped if row["reason"] == "in_reference"] == [
        f"o{row['reference']}" for row in among_tables.dropped if row["reason"] == "in_reference"
    ]
    sentences = tmp_path / "sentences.duckdb"
    esdedup.index(source, store=sentences, unit="sentence")
    with pytest.raises(StoreSettingsError, match="holds sentences"):
        esdedup.dedupe(here, against=sentences)


@pytest.mark.parametrize("keep", few(["first", "longest", "none"], 1))
def test_contained_rows_are_those_of_files(keep: Any, tmp_path: Path) -> None:
    texts = corpus(14, 200)
    texts += [f"{texts[number]} And more about it. {texts[number + 1]}" for number in range(0, 40, 2)]
    reference = [f"Before it. {text} After it, some more." for text in texts[60:80]]
    frame = pl.DataFrame({"id": [f"r{number}" for number in range(len(texts))], "text": texts})
    source, old = tmp_path / "new.parquet", tmp_path / "old.parquet"
    frame.write_parquet(source)
    pl.DataFrame({"id": [f"o{number}" for number in range(20)], "text": reference}).write_parquet(old)
    written = esdedup.dedupe(source, out=tmp_path / "out", keep=keep, contained=0.9, against=old)
    for against in (old, pl.read_parquet(old)):
        found = esdedup.dedupe(frame, keep=keep, contained=0.9, against=against)
        assert found.kept.equals(pl.read_parquet(tmp_path / "out" / "new.parquet"))
        assert found.records == written.records
        lines = (tmp_path / "out" / "drops.jsonl").read_text().splitlines()
        assert [{**row, "source": "new"} for row in found.dropped] == [json.loads(line) for line in lines]
    assert found.records["dropped"]["contained"] >= (15 if keep != "none" else 4)
    assert any("reference" in row for row in found.dropped)
    assert "contained" in found._repr_html_()


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (FRAME, {}, "columns=.*columns: name, city, n"),
        (FRAME, {"columns": "town"}, "no column 'town'"),
        (pl.DataFrame(ROWS).lazy(), {}, "collect"),
        (3, {}, "int is not a table"),
        ([1, 2], {}, "the list has int"),
        ([__file__], {}, "every string of the list names a file; wrap them in pathlib.Path"),
        (["a text"], {"against": [__file__, "a text"]}, "a string of the list names a file"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), {}, "two columns .* the same name"),
        (pl.DataFrame({"text": [[1], [2]]}), {}, "column 'text' holds .*list.*; what is compared must be strings"),
        (pa.table({"text": [b"\xff\xfe"]}), {}, "column 'text' holds bytes that are not valid UTF-8"),
        (FRAME, {"columns": []}, "columns is empty"),
        (["a text"], {"unit": "sentence"}, "unit is sentence"),
        (["a text"], {"contained": 2}, "contained is 2"),
        (["a text"], {"keep": "last"}, "keep is 'last'"),
        (["a text"], {"dry_run": True}, "dry_run does not apply"),
        (["a text"], {"text_column": "x"}, "options of sources"),
        (["a text"], {"out": "x"}, "out does not apply"),
        (["a text"], {"jacard": 0.9}, "did you mean jaccard"),
        (["a text"], {"threshold": 0.8}, "no such option: threshold; did you mean jaccard"),
    ],
)
def test_what_is_wrong_is_said(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        esdedup.dedupe(data, **options)


@pytest.mark.parametrize(
    "texts",
    [["a b c", "a b c", "d"], iter(["a b c", "a b c", "d"]), [{"text": "a b c"}, {"text": "a b c"}, {"text": "d"}],
     pd.DataFrame({"text": ["a b c", "a b c", "d"]}), pl.Series(["a b c", "a b c", "d"])],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_texts_are_clustered_wherever_they_stand(texts: Any) -> None:
    assert esdedup.cluster_texts(texts).label.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: esdedup.cluster_texts("one string"), UsageError, "given one string; give a list of texts"),
        (lambda: esdedup.cluster_texts([1, 2]), UsageError, "the list has int"),
        (lambda: esdedup.plan(FRAME), UsageError, "DataFrame, a table in memory, which run, index, add"),
        (lambda: esdedup.run(FRAME, "x.csv", out="nowhere"), UsageError, "must be the only source"),
        (lambda: esdedup.add(FRAME, store="nowhere.duckdb"), UsageError, "no column 'id'.*id_column="),
        (lambda: esdedup.index(FRAME, store="nowhere.duckdb", text_column="n"), UsageError, "columns="),
        (lambda: esdedup.index("x.csv", store="nowhere.duckdb", columns="n"), UsageError, "text_column="),
        (lambda: esdedup.dedupe("ftp://a.example/b.csv", out="nowhere"), UsageError, "download the files"),
    ],
    ids=range(8),
)
def test_other_arguments_are_one_clear_line(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_what_contains_a_text_and_goes_itself_takes_nothing_along() -> None:
    middle = "The old bridge over the river was built of red brick in 1894 and carried the road to the mill."
    first = middle[:70] + "widened twice"
    longest = middle[12:] + " It was closed in the summer of 1951, when the new road was opened to all traffic."
    found = esdedup.dedupe([first, middle, longest], jaccard=0.99, contained=0.8)
    assert [(row["id"], row["kept"]) for row in found.dropped] == [(1, 2)]
    assert esdedup.dedupe([first, middle], jaccard=0.99, contained=0.8).kept == [middle]


def test_a_bound_beyond_those_of_sentences() -> None:
    assert esdedup.dedupe(["long " * 300, "long " * 300], min_chars=1000).records["dropped"]["identical"] == 1


def test_missing_values_of_dicts_are_not_compared() -> None:
    rows = [{"text": float("nan")}, {"text": float("nan")}, {"text": "some words"}]
    assert esdedup.dedupe(rows).records["not_compared"] == {"without text (columns)": 2}


def test_nothing_compared_is_an_error_with_the_result() -> None:
    with pytest.raises(NothingCompared, match="2 shorter than --min-chars 75") as error:
        esdedup.dedupe(["short", "short"], min_chars=75)
    assert error.value.result.kept == ["short", "short"]
