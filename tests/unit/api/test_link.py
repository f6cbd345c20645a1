"""`link`: tables in memory, field by field."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pandas as pd
import polars as pl
import pytest

import esdedup
from esdedup.errors import UsageError

ROWS: list[dict[str, Any]] = [
    {"id": "p1", "name": "Ann Lee", "born": datetime.date(1971, 6, 24), "city": "Berlin"},
    {"id": "p2", "name": "Bob Ray", "born": datetime.date(1980, 1, 2), "city": "Paris"},
    {"id": "p3", "name": "Carl Fox", "born": datetime.date(1990, 11, 12), "city": "Rome"},
    {"id": "p4", "name": "Dora Kim", "born": None, "city": "Oslo"},
]
OTHER = {"id": "p9", "name": "Anne Lee", "born": datetime.date(1971, 6, 24), "city": "Berlin"}


@pytest.mark.parametrize("made", [list, pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).to_arrow()])
def test_tables_of_all_libraries(made: Any) -> None:
    one = esdedup.link(made([*ROWS, OTHER]))
    assert one.kinds == {"name": "name", "born": "date", "city": "name"}
    assert one.groups == [["p1", "p9"]]
    two = esdedup.link(made(ROWS), made([OTHER]))
    assert [(row["a"], row["b"]) for row in two.pairs.to_pylist()] == [("p1", "p9")]
    assert two.pairs["probability"][0].as_py() > 0.9


def test_what_speaks_for_a_pair_adds_up() -> None:
    first, *fields, last = esdedup.link([*ROWS, OTHER]).explain("p1", "p9")
    assert [(row["field"], row["level"]) for row in fields[:3]] == [
        ("name", "nearly equal, exchanged or a nickname"), ("born", "equal"), ("city", "equal"),
    ]  # fmt: skip
    bits = first["weight"] + sum(row["weight"] for row in fields)
    assert last["probability"] == pytest.approx(1 / (1 + math.pow(2, -bits)), abs=1e-3)


def test_columns_of_two_tables_are_compared_by_name() -> None:
    other = {"id": 7, "name": "Ann Lee", "born": "1971-06-24", "shoe": 38}
    found = esdedup.link(pd.DataFrame(ROWS), pd.DataFrame([other]))
    assert found.kinds == {"name": "name", "born": "date", "city": "name", "shoe": "number"}
    assert found.explain("p1", 7)[3]["level"] == "missing"


def test_what_is_wrong_is_said() -> None:
    for call, said in (
        (lambda: esdedup.link(ROWS, kinds={"name": "person"}), "kinds: name is 'person'; allowed: name, date"),
        (lambda: esdedup.link(ROWS, kinds={"nme": "name"}), "kinds: no column 'nme'; columns: name, born, city"),
        (lambda: esdedup.link(ROWS, id_column="nr"), "no column 'nr'"),
        (lambda: esdedup.link([{"id": 1, "x": [1]}]), "column 'x' holds list"),
        (lambda: esdedup.link(pd.DataFrame({"id": [1, 2]})), "no column besides the ids"),
        (lambda: esdedup.link("a.csv"), "read files first, as with pandas.read_csv"),
        (lambda: esdedup.link(ROWS).explain("p1", "p8"), "no record 'p8'"),
    ):
        with pytest.raises(UsageError, match=said):
            call()
    assert esdedup.link(ROWS, []).pairs.num_rows == esdedup.link([]).pairs.num_rows == 0
