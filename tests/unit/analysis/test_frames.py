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
    assert frame.text() == "In {date} {subject} had {number} people and {quantity} km of wall."
    assert [slot.fillers[1].strip() for slot in frame.slots] == ["1991", "Bertville", "950", "12"]


@given(TEXTS)
def test_frame_and_fillers_make_every_text_again(texts: list[str]) -> None:
    frame = framed(texts)
    for place, text in enumerate(texts):
        spelled = frame.fixed[0]
        for slot, fixed in zip(frame.slots, frame.fixed[1:], strict=True):
            spelled += slot.fillers[place] + fixed
        # case, white space and the separators of thousands are those of the first text
        assert re.sub(r"[\s,.]", "", spelled).casefold() == re.sub(r"[\s,.]", "", text).casefold()


def test_sentences_are_written_from_frame_and_cells() -> None:
    assert write("In {year} {name} won.", {"year": "1990", "name": "Ada"}) == "In 1990 Ada won."
    assert write("A {{b}} {c}", {"c": "d"}) == "A {b} d"
    assert write("a {big} house", {"big": ""}) == "a house"
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
