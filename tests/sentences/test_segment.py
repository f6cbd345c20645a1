"""Documents into units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.sentences.segment import segment


@pytest.mark.parametrize(
    ("document", "units"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("A heading\n\nA sentence follows.", ["A heading", "A sentence follows."]),
        ("A sentence that is\nwrapped. Another one.", ["A sentence that is wrapped.", "Another one."]),
        ("Wrapped\r\nas well.\r\n\r\nNew.", ["Wrapped as well.", "New."]),
        ("  \t spaces \u00a0\u2003 collapse\u3000. ", ["spaces collapse ."]),
        ("e\u0301t\u00e9", ["été"]),
        (" \n\n \u2028 ", []),
        ("", []),
    ],
)
def test_sentences(document: str, units: list[str]) -> None:
    assert segment([document], "sentence", "en").texts.to_pylist() == units


def test_records_keep_their_sentences_together() -> None:
    units = segment(["One. Two.\n\nThree.", " ", "Four."], "record", "en")
    assert units.texts.to_pylist() == ["One. Two. Three.", "Four."]
    assert units.document.tolist() == [0, 2]
    assert units.length.tolist() == [16, 5]


@given(st.lists(st.text(), max_size=4))
def test_units_are_trimmed_and_owned(documents: list[str]) -> None:
    units = segment(documents, "sentence", "en")
    for text, length in zip(units.texts.to_pylist(), units.length.tolist(), strict=True):
        assert text == " ".join(text.split(" "))
        assert text.strip() == text != ""
        assert len(text) == length
    assert list(units.document) == sorted(units.document)
