"""Cells that a spreadsheet reads as text, and fill reads as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.output.meaning_files import cell_of, text_of, write_csv
from esdedup.output.result_files import listed_id

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@pytest.mark.parametrize("sign", BEGINNINGS)
def test_what_begins_like_a_formula_gets_an_apostrophe(sign: str) -> None:
    assert cell_of(f"{sign}cmd|' /C calc'!A0") == f"'{sign}cmd|' /C calc'!A0"
    assert cell_of(f"'{sign}1") == f"''{sign}1"
    assert cell_of(f"a{sign}1") == f"a{sign}1"


def test_numbers_stay_numbers() -> None:
    out = io.StringIO()
    write_csv(["=id", "value"], [["-1", -1], ["'90s", None]], out)
    assert out.getvalue() == "'=id,value\r\n'-1,-1\r\n'90s,\r\n"


@given(st.text(st.sampled_from("'=+-@a1\n,\"")))
def test_every_text_comes_back(text: str) -> None:
    out = io.StringIO()
    write_csv(["text"], [[text]], out)
    [_, [cell]] = [row or [""] for row in csv.reader(io.StringIO(out.getvalue(), newline=""))]
    assert not cell.startswith(BEGINNINGS)
    assert text_of(cell) == text


def test_ids_in_lists_hold_no_control_characters() -> None:
    assert listed_id("a b\tc\u3000d") == "a%20b%09c%E3%80%80d"
    assert listed_id("\x1b[2J\x07\x7f\x9b\x00") == "%1B[2J%07%7F%C2%9B%00"
    assert listed_id("\u202eabc\u2066\u200f") == "%E2%80%AEabc%E2%81%A6%E2%80%8F"
    assert listed_id("Ünïcode/1:7#2\u200d") == "Ünïcode/1:7#2\u200d"
