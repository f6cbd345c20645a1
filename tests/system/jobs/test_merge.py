"""One record for a cluster: columns of what stays get values of all copies, and say whose."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.errors import UsageError
from esdedup.keeping.consensus import consensus
from tests.support.stores import Stores
from tests.support.written import lines

TEXT = "The old bridge over the river Lorn was built in 1790 by the masons of the town, and it stands there still."
OTHER = "Something else entirely stands here, about a market in a small town by the sea, and its keeper."
DAYS = [datetime.date(2024, 1, 1), datetime.date(2025, 1, 1), datetime.date(2023, 1, 1), datetime.date(2023, 1, 1)]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": TEXT.replace("masons", "mas0ns"), "price": 3, "day": "2024-01-01", "email": None, "tags": ["x"],
     "meta": {"n": 1}},
    {"id": "b", "text": TEXT.replace("bridge", "br1dge"), "price": 5, "day": "2025-01-01", "email": "q@x",
     "tags": ["y", "x"], "meta": {"n": 2}},
    {"id": "c", "text": TEXT.replace("still", "sti1l"), "price": 4, "day": "2023-01-01", "email": "q@x", "tags": ["z"],
     "meta": {"n": 9}},
    {"id": "d", "text": OTHER, "price": 4, "day": "2023-01-01", "email": "r@x", "tags": ["z"], "meta": {"n": 9}},
]  # fmt: skip
FLAT = "price=newest:day,email=most,text=consensus,day=newest:day"
RULES = f"{FLAT},tags=join,meta.n=best:meta.n"
MERGED = {**ROWS[0], "text": TEXT, "price": 5, "day": "2025-01-01", "email": "q@x", "tags": ["x", "y", "z"],
          "meta": {"n": 9}}  # fmt: skip
GAVE = [["price", "email", "text", "day", "tags"], ["text", "tags", "meta.n"]]
COMPARED: dict[str, Any] = {"jaccard": 0.5, "quiet": True}


def test_every_format_keeps_its_types(tmp_path: Path, stores: Stores) -> None:
    frame = pl.DataFrame(ROWS).with_columns(pl.col("day").str.to_date())
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ipc(tmp_path / "q.arrow")
    flat = frame.drop("tags", "meta")
    flat.write_csv(tmp_path / "c.csv")
    flat.write_csv(tmp_path / "t.tsv", separator="\t", quote_style="never")
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    (tmp_path / "j.json").write_text(json.dumps(ROWS, indent=1), "utf-8")
    for source in sorted(tmp_path.glob("?.*")):
        out = tmp_path / source.stem
        rules = FLAT if source.suffix in (".csv", ".tsv") else RULES
        header: dict[str, Any] = {"header": True} if source.suffix == ".tsv" else {}
        done = esdedup.dedupe(
            source, out=out, store=stores.at(out), text_column="text", merge=rules, **COMPARED, **header
        )
        assert done.merged == 1, source
        written = out / source.name
        read: Any = {
            ".parquet": pl.read_parquet, ".arrow": pl.read_ipc, ".csv": pl.read_csv, ".jsonl": pl.read_ndjson,
            ".tsv": lambda path: pl.read_csv(path, separator="\t"), ".json": pl.read_json,
        }[source.suffix]  # fmt: skip
        assert read(written).schema == read(source).schema, source
        first, last = read(written).to_dicts()
        typed = {name: str(value) if name == "day" else value for name, value in first.items()}
        assert typed == {name: MERGED[name] for name in first}, source
        assert last["id"] == "d"
        gave = [drop["gave"] for drop in lines(out / "drops.jsonl")]
        expected = GAVE if rules == RULES else [[name for name in names if name in FLAT] for names in GAVE]
        assert [sorted(each) for each in gave] == [sorted(each) for each in expected]


def test_tables_come_back_as_they_are(tmp_path: Path) -> None:
    found = esdedup.dedupe(ROWS, columns="text", merge=RULES, **COMPARED)
    assert found.kept == [MERGED, ROWS[3]]
    assert [drop["gave"] for drop in found.dropped] == GAVE
    assert found.merged == 1
    assert ROWS[0]["price"] == 3  # the data of the caller stay
    frame = pl.DataFrame(ROWS)
    assert esdedup.dedupe(frame, columns="text", merge=RULES, **COMPARED).kept.to_dicts() == found.kept
    table = pa.Table.from_pylist(ROWS)
    kept = esdedup.dedupe(table, columns="text", merge=RULES, **COMPARED).kept
    assert (kept.schema, kept.to_pylist()) == (table.schema, found.kept)
    several = pd.DataFrame(ROWS, index=[7, 3, 9, 1])
    thin = esdedup.dedupe(several, columns="text", merge=RULES, **COMPARED).kept
    assert list(thin.index) == [7, 1]
    assert thin.to_dict("records") == found.kept
    texts = [row["text"] for row in ROWS]
    assert esdedup.dedupe(texts, merge="text=consensus", **COMPARED).kept == [TEXT, OTHER]


def test_rules_of_policies() -> None:
    rules = {"price": "lowest:price", "email": "first", "tags": "prefer:id=c,b", "text": "longest"}
    [first, _] = esdedup.dedupe(ROWS, columns="text", merge=rules, **COMPARED).kept
    assert (first["price"], first["email"], first["tags"]) == (3, "q@x", ["z"])
    [first, _] = esdedup.dedupe(ROWS, columns="text", merge={"email": "join:|", "text": "clean"}, **COMPARED).kept
    assert first["email"] == "q@x"
    assert first["text"] in {row["text"] for row in ROWS[:3]}


def test_a_consensus_needs_three() -> None:
    assert consensus([TEXT, TEXT, OTHER]) == TEXT
    swapped = [TEXT.replace("old bridge", "bridge old"), TEXT, TEXT.replace("river", "ri ver")]
    assert consensus(swapped) == TEXT
    two = [{**ROWS[0]}, {**ROWS[1]}]
    assert esdedup.dedupe(two, columns="text", merge="text=consensus", **COMPARED).merged == 0
    passage = " It was painted green."
    assert consensus([TEXT, TEXT + passage, TEXT + passage]) == TEXT + passage
    signs = "港の古い橋は町の石工によって千七百九十年に建てられた。"
    assert consensus([signs.replace("橋", "矯"), signs.replace("石", "右"), signs.replace("町", "畑")]) == signs


@pytest.mark.parametrize(
    ("merge", "said"),
    [
        ("price", "give COLUMN=RULE"),
        ("price=", "give COLUMN=RULE"),
        ("price=newst:day", "is no rule; allowed: most, join, consensus"),
        ("price=newest", "give newest:COLUMN"),
        ("price=most:3", "give most"),
        ("price=none", "not none"),
        ("price=most,price=join", "there twice"),
        ("prcie=most", "prcie"),
        ("price=newest:dya", "dya"),
        ("price=join", "only texts and lists can be joined"),
        ("price=consensus", "is no text"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(merge: str, said: str, tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    with pytest.raises(UsageError, match=said):
        esdedup.dedupe(ROWS, columns="text", merge=merge, **COMPARED).kept  # noqa: B018
    with pytest.raises(UsageError, match=said):
        esdedup.dedupe(source, out=tmp_path / "out", merge=merge, **COMPARED)
    assert not (tmp_path / "out" / "a.jsonl").exists()


def test_what_does_not_go_together_is_said(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    plain = tmp_path / "b.txt"
    plain.write_text("One line.\nAnother line.\n", "utf-8")
    out = tmp_path / "out"
    for options, said in [
        ({"annotate": True}, "annotate exclude each other"),
        ({"keep": "none"}, "keep none exclude each other"),
        ({"across": "sources"}, "across exclude each other"),
        ({"unit": "sentence"}, "use unit record"),
    ]:
        with pytest.raises(UsageError, match=said):
            esdedup.dedupe(source, out=out, merge="price=most", **options)
    for form in ("text", "lines"):
        with pytest.raises(UsageError, match=f"{form} has no columns"):
            esdedup.dedupe(plain, out=out, format=form, merge="price=most")
    with pytest.raises(UsageError, match="merge: source-order needs sources"):
        esdedup.dedupe(ROWS, columns="text", merge="price=source-order")
    with pytest.raises(UsageError, match="merge is 3; give COLUMN=RULE"):
        esdedup.dedupe(source, out=out, merge=3)  # type: ignore[call-overload]


def test_a_certificate_of_merged_records(tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    proof = tmp_path / "cert.json"
    esdedup.dedupe(source, out=out, merge=RULES, certificate=proof, **COMPARED)
    found = esdedup.verify(proof)
    assert not found.problems
    assert [line.partition(": ")[2] for line in found.not_checked] == ["what 1 record got of others (--merge)"]
    written = (out / "a.jsonl").read_text("utf-8")
    (out / "a.jsonl").write_text(written.replace("market", "Market"), "utf-8")
    assert any("without the removed texts" in line for line in esdedup.verify(proof).problems)


def test_times_and_maps_keep_their_types(tmp_path: Path) -> None:
    columns = {
        "id": ["a", "b", "c"], "text": [TEXT] * 3, "n": [1, 2, 3],
        "clock": pa.array([datetime.time(1, 2), datetime.time(1, 2), None], pa.time64("us")),
        "held": pa.array([[("k", 1)], [("k", 2)], [("k", 2)]], pa.map_(pa.string(), pa.int64())),
    }  # fmt: skip
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), source)
    esdedup.dedupe(source, out=tmp_path / "out", keep="best:n", merge="clock=most,held=lowest:n", quiet=True)
    written = pq.read_table(tmp_path / "out" / "a.parquet")
    assert written.schema == pq.read_table(source).schema
    [row] = written.to_pylist()
    assert (row["clock"], row["held"]) == (datetime.time(1, 2), [("k", 1)])
