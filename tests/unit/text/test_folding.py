"""`--normalize fold`: what counts in a record, and what does not."""

from __future__ import annotations

import pytest

from esdedup.columns.arrays import text_column
from esdedup.text.folding import fold


def folded(*texts: str) -> list[str]:
    found: list[str] = fold(text_column(list(texts))).to_pylist()
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!", "hello world"),
        ("“Don’t” – go", "don't go"),
        ("ＡＢＣ", "abc"),
        ("東京、大阪。", "東京 大阪"),
        ("co-operate", "co operate"),
        ("a\u00adb", "ab"),
        ("ÄRGER", "ärger"),
        ("x −5 °C", "x -5 °C"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C#"), ("5", "-5"), ("3.5", "35"), ("3.5", "3,5"), ("A+", "A"), ("10 %", "10"), ("!!!", "???")],
)
def test_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_a_number_is_one_thing() -> None:
    one, other = folded("5443", "5444")
    assert len(one) == len(other) == 4
    assert not set(one) & set(other)
    assert folded("no. 7 of 7") == [f"no {folded('7')[0]} of {folded('7')[0]}"]


def test_nothing_is_left_of_nothing_and_signs_stay_where_they_are_all() -> None:
    assert folded("", " ", "!!!", "…") == ["", " ", "!!!", "…"]
