"""Frames: the fixed words, the slots with their types, and sentences made of both again."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.analysis.templates import write
from esdedup.errors import UsageError
from tests.unit.analysis.helpers import framed

TEXTS = st.lists(st.text(st.sampled_from("ab1 ,.{}Äx中"), max_size=30), min_size=2, max_size=5)


def test_slots_have_types_and_names() -> None:
    frame = framed(
        [
            "In 1990 Adamstown had 1,200 people and 3 km of wall.",
            "In 1991 Bertville had 950 people and 12 km of wall.",
            "In 2001 Cham had 77,000 people and 1.5 km of wall.",
        ],
        ["Adamstown", "Bertville", "Cham"],
    )
    assert frame.text() == "In {date} {subject} had {number} people and {quantity} of wall."
    assert [slot.fillers[1].strip() for slot in frame.slots] == ["1991", "Bertville", "950", "12 km"]


@pytest.mark.parametrize(
    ("one", "two", "frame"),
    [
        ("It opened on 12 March 1950 at last.", "It opened on 14 March 1950 at last.", "It opened on {date} at last."),
        ("Es wurde am 3. Mai 1920 gebaut.", "Es wurde am 3. Juni 1920 gebaut.", "Es wurde am {date} gebaut."),
        ("Il est né le 1 avril 1900 ici.", "Il est né le 1 avril 1901 ici.", "Il est né le {date} ici."),
        ("Nació el 3 de mayo de 1910 aquí.", "Nació el 5 de mayo de 1910 aquí.", "Nació el {date} aquí."),
        ("Nacque il 3 maggio 1910 qui.", "Nacque il 3 giugno 1910 qui.", "Nacque il {date} qui."),
        ("See avati 5. mail 1930 uuesti.", "See avati 6. mail 1930 uuesti.", "See avati {date} uuesti."),
        ("Открыт 3 мая 1950 года там.", "Открыт 4 мая 1950 года там.", "Открыт {date} года там."),
        ("大桥于1951年5月3日通车。", "大桥于1951年6月3日通车。", "大桥于{date}通车。"),
        ("この橋は1951年5月に開通した。", "この橋は1952年5月に開通した。", "この橋は{date}に開通した。"),
        ("It is 12 km long today.", "It is 14 km long today.", "It is {quantity} long today."),
        ("It cost 12 million crowns.", "It cost 14 million crowns.", "It cost {number} crowns."),
        ("It was led by Anna Berg then.", "It was led by Anna Holt then.", "It was led by {name} then."),
        ("In 12 in all of them.", "In 14 in all of them.", "In {number} in all of them."),
    ],
)
def test_values_are_whole_in_nine_languages(one: str, two: str, frame: str) -> None:
    assert framed([one, two]).text() == frame


@given(TEXTS)
def test_frame_and_fillers_make_every_text_again(texts: list[str]) -> None:
    frame = framed(texts)
    for place, text in enumerate(texts):
        spelled = frame.fixed[0]
        for slot, fixed in zip(frame.slots, frame.fixed[1:], strict=True):
            spelled += slot.fillers[place] + fixed
        # case, white space and the separators of thousands are those of the first text
        assert re.sub(r"[\s,.]", "", spelled).casefold() == re.sub(r"[\s,.]", "", text).casefold()


@pytest.mark.parametrize(
    "texts",
    [
        ["The road is 12 km long there.", "The road is 14 km wide there."],
        ["It was built by Anna Berg then.", "It was built by Berta Berg now."],
        ["It moved to Leeds March 1950 at last.", "It moved to York March 1951 at last."],
    ],
)
def test_adjacent_slots_share_no_white_space(texts: list[str]) -> None:
    frame = framed(texts)
    for place, text in enumerate(texts):
        assert write(frame.text(), {slot.name: slot.fillers[place].strip() for slot in frame.slots}) == text


def test_sentences_are_written_from_frame_and_cells() -> None:
    assert write("In {year} {name} won.", {"year": "1990", "name": "Ada"}) == "In 1990 Ada won."
    assert write("A {{b}} {c}", {"c": "d"}) == "A {b} d"
    assert write("a {big} house", {"big": ""}) == "a house"
    assert write("It has a house {more}.", {"more": ""}) == "It has a house."
    assert write("It has a house {more}.", {"more": ", a barn"}) == "It has a house, a barn."
    with pytest.raises(UsageError, match="no such column"):
        write("{x}", {})
    with pytest.raises(UsageError, match="a single"):
        write("a } b", {})


def test_planted_templates_come_back_cell_by_cell() -> None:
    source = random.Random(3)
    names = ["Arlen", "Brumo", "Cestva", "Dorvik", "Elst", "Farrow"]
    rows = [{"name": name, "number": f"{source.randint(1, 99)},{source.randint(100, 999)}"} for name in names]
    texts = [write("The town of {name} lies at the river and counts {number} heads of cattle.", row) for row in rows]
    frame = framed(texts)
    assert [slot.type for slot in frame.slots] == ["name", "number"]
    for place, row in enumerate(rows):
        assert {slot.name: slot.fillers[place].strip() for slot in frame.slots} == row
        assert write(frame.text(), row) == texts[place]


@pytest.mark.parametrize(
    ("one", "two", "frame"),
    [
        ("There were 12 345 men here.", "There were 13 345 men here.", "There were {number} men here."),
        ("It was -3 degrees and calm.", "It was -12 degrees and calm.", "It was {number} degrees and calm."),
        ("From 2-3 to 4 of them.", "From 2-5 to 4 of them.", "From 2-{number} to 4 of them."),
        ("In 1990 345 men came.", "In 1990 346 men came.", "In 1990 {number} men came."),
    ],
)
def test_numbers_are_whole(one: str, two: str, frame: str) -> None:
    assert framed([one, two]).text() == frame
