"""Numbers, dates and units are read as people write them, and compared as facts."""

from __future__ import annotations

import pytest

from esdedup.analysis.values import DATE, NAME, NUMBER, QUANTITY, WORDS, difference, read_value, same_value


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1,234", {1234}),
        ("1,234,567.5", {1234567.5}),
        ("1.234.567", {1234567}),
        ("1.234", {1234, 1.234}),
        ("0.234", {0.234}),
        ("1.234,5", {1234.5}),
        ("1'234", {1234}),
        ("12,34", {12.34}),
        ("1,23,456", {123456}),
        ("40+", {40}),
        ("-7", {-7}),
        ("twelve", {12}),
        ("2 million", {2e6}),
        ("١٢٣", {123}),
        ("٣٫٥", {3.5}),
        ("12 345", {12345}),
        ("12\u202f345", {12345}),
        ("million", {1e6}),
        ("forty five", {45}),
        ("forty-five", {45}),
        ("fourth", {4}),
        ("4th", {4}),
        ("vierzehn", {14}),
        ("девять", {9}),
        ("two hundred and forty-five", {245}),
        ("three million five hundred thousand", {3.5e6}),
        ("dos mil millones", {2e9}),
        ("quatre-vingt-dix", {90}),
    ],
)
def test_numbers(text: str, readings: set[float]) -> None:
    value = read_value(text)
    assert value.type == NUMBER
    assert {number for number, _ in value.readings} == readings


@pytest.mark.parametrize(
    ("text", "behind", "kind"),
    [
        ("10 km", "", QUANTITY),
        ("10", "km", QUANTITY),
        ("5%", "", QUANTITY),
        ("7 January 1990", "", DATE),
        ("1990", "", DATE),
        ("1990-01-31", "", DATE),
        ("New York", "", NAME),
        ("red wine", "", WORDS),
        ("3 men", "", WORDS),
        ("111", "in", NUMBER),
        ("1 in", "", QUANTITY),
        ("$35", "", QUANTITY),
        ("1" + "0" * 400, "", WORDS),
        ("31 February 1990", "", NAME),
        ("", "", "nothing"),
    ],
)
def test_types(text: str, behind: str, kind: str) -> None:
    assert read_value(text, "", behind).type == kind


@pytest.mark.parametrize(
    "written",
    [
        "12 March 2020", "March 12, 2020", "12. März 2020", "12 mars 2020", "12 marzo 2020", "12 de marzo de 2020",
        "12. märts 2020", "12 марта 2020 года", "2020年3月12日", "2020-03-12",
    ],
)  # fmt: skip
def test_dates_in_nine_languages(written: str) -> None:
    assert read_value(written).date == (2020, 3, 12)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("5 km", "5000 Meter"), ("5 км", "5 kilomètres"), ("5公里", "5 km"), ("30 Prozent", "30%"),
        ("2 Jahre", "24 months"), ("10 tonnellate", "10 t"), ("3時間", "180 minutes"),
    ],
)  # fmt: skip
def test_units_in_other_languages(one: str, two: str) -> None:
    assert read_value(one).type == read_value(two).type == QUANTITY
    assert same_value(read_value(one), read_value(two))


def test_a_day_is_a_date_beside_its_month() -> None:
    assert read_value("7", "January").type == DATE
    assert read_value("7", "about").type == NUMBER


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("1,234", "1234", True),
        ("1.234", "1,234", True),
        ("12", "twelve", True),
        ("12", "13", False),
        ("20", "21", False),
        ("20", "23", False),
        ("$100", "€92", True),
        ("$100", "$92", False),
        ("100 km/h", "62 mph", True),
        ("2 years", "24 months", True),
        ("12 345", "12345", True),
        ("1,234", "1,200", True),
        ("1985", "1990", False),
        ("3.14", "3.1", True),
        ("3.14", "3.2", False),
        ("10 km", "6.2 miles", True),
        ("10 km", "10 miles", False),
        ("10 km", "10 kg", False),
        ("2 million", "2,000,000", True),
        ("250 years", "two hundred and fifty years", True),
        ("one hundred two hundred", "300", False),
        ("7 January 1990", "January 1990", True),
        ("7 January 1990", "8 January 1990", False),
        ("New York", "new  york", True),
        ("New York", "Boston", False),
        ("New York", "", True),
        ("144", "unos 145", True),
        ("144", "145", False),
        ("about 144", "160", False),
        ("1550", "около 1630", False),
        ("August 2021", "08/2021", True),
        ("July 2021", "08/2021", False),
        ("28.10", "28 октября", True),
        ("28.11", "28 октября", False),
    ],
)
def test_what_is_the_same_fact(one: str, two: str, same: bool) -> None:
    assert same_value(read_value(one), read_value(two)) == same
    assert same_value(read_value(two), read_value(one)) == same


def test_differences() -> None:
    assert difference(read_value("35"), read_value("36")) == 1
    assert difference(read_value("10 km"), read_value("10 miles")) == pytest.approx(6.09344)
    assert difference(read_value("35"), read_value("many")) is None
    assert difference(read_value("3.85 kg"), read_value("3.856 kg")) == pytest.approx(0.006)
