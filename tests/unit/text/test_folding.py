"""`--normalize fold`: what counts in a record, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from esdedup.columns.arrays import text_column
from esdedup.text.folding import _folded, _room, fold


def folded(*texts: str, accents: bool = False) -> list[str]:
    found: list[str] = fold(text_column(list(texts)), accents).to_pylist()
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
        ("ｆｕｌｌ １２３", "full 123"),
        ("１２．５ and １，２３４", "12.5 and 1,234"),
        ("٣٫٥ and ٣٤", "3.5 and 34"),
        ("१२३ ๔๕ 𝟔", "123 45 6"),
        ("Straße", "STRASSE"),
        ("STRAẞE", "strasse"),
        ("ΟΔΟΣ ΤΗΣ", "οδος της"),
        ("ΆΓΓΕΛΟΣ", "άγγελος"),
        ("\u03aa\u0301", "\u0390"),
        ("ﬁre ﬂow eﬀect ﬅ", "fire flow effect st"),
        ("ĳs ǆ", "IJS DŽ"),
        ("ｶﾞｷﾞ ﾊﾟﾝ ｱｲｳ", "ガギ パン アイウ"),
        ("كتــاب", "كتاب"),
        ("ﻛﺘﺎﺏ ﻻ", "كتاب لا"),
        ("İSTANBUL", "istanbul"),
        ("㎏ ㍱ Ⅳ №", "kg hpa iv no"),
        ("㎡", "m²"),
        ("👍\ufe0f", "👍"),
        ("Ꭰ ꙋ", "ꭰ Ꙋ"),
        ("－５", "-5"),
        ("ﾟ", "\u309a"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C#"),
        ("5", "-5"),
        ("3.5", "35"),
        ("3.5", "3,5"),
        ("A+", "A"),
        ("10 %", "10"),
        ("!!!", "???"),
        ("10⁸", "108"),
        ("x²", "x2"),
        ("H₂O", "H2O"),
        ("½", "12"),
        ("1½", "11/2"),
        ("5①", "51"),
        ("ガ", "カ"),
        ("é", "e"),
        ("👍", "👎"),
        ("５", "－５"),
        ("ﷺ", "ﷻ"),
    ],
)
def test_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café Ærø", "CAFE ærø"),
        ("Łódź Đà Nẵng", "lodz da nang"),
        ("ΆΓΓΕΛΟΣ ΐ", "αγγελος ι"),
        ("Ёлка й", "елка и"),
        ("كِتَاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("x\u0301\u0327", "x"),
        ("Ǖ", "u"),
    ],
)
def test_the_same_without_accents(one: str, other: str) -> None:
    assert folded(one, accents=True) == folded(other, accents=True)
    assert folded(one) != folded(other)


@pytest.mark.parametrize(("one", "other"), [("ガ", "カ"), ("कि", "क"), ("กี", "ก"), ("ñ5", "n6"), ("−5", "5")])
def test_marks_that_are_no_accents_stay(one: str, other: str) -> None:
    assert folded(one, accents=True) != folded(other, accents=True)


@pytest.mark.parametrize("accents", [False, True])
def test_every_character_has_room_and_is_folded_once(accents: bool) -> None:
    signs = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    for sign in signs:
        data = np.frombuffer(sign.encode(), np.uint8)
        became = _folded(sign, accents)
        assert len(became) <= _room(data, 0, len(data))
        assert len("".join(map(chr, became)).encode()) <= 3 * _room(data, 0, len(data))
    single = folded(*(f"x {sign}" for sign in signs), accents=accents)
    again = folded(*single, accents=accents)
    assert [sign for sign, one, two in zip(signs, single, again, strict=True) if one != two] == []


def test_a_number_is_one_thing() -> None:
    one, other = folded("5443", "5444")
    assert len(one) == len(other) == 4
    assert not set(one) & set(other)
    assert folded("no. 7 of 7") == [f"no {folded('7')[0]} of {folded('7')[0]}"]


def test_nothing_is_left_of_nothing_and_signs_stay_where_they_are_all() -> None:
    assert folded("", " ", "!!!", "…") == ["", " ", "!!!", "…"]
