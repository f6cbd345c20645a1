"""Documents into units."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_buffers
from esdedup.text.scripts import script_weights
from esdedup.text.segment import segment, spans, split, without
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names

PIECES = [
    "One is here.", "Two", ".", "Mr. B", "B", "S.", "U.S.", "(a", ")", '"', "中文。", "e\u0301", " ", "  ", "\n",
    "\n\n", "\r\n", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "\u2029", "\u202f", "\u3000", "\ufeff",
    "\0",
]  # fmt: skip
MIXED = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
LANGUAGES = st.sampled_from(["en", "de", "zh", "kk", "it"])


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
    assert segment([document], Splitting("sentence", "en")).texts.to_pylist() == units


def test_records_keep_their_sentences_together() -> None:
    units = segment(["One. Two.\n\nThree.", " ", "Four."], Splitting("record", "en"))
    assert units.texts.to_pylist() == ["One. Two. Three.", "Four."]
    assert units.document.tolist() == [0, 2]
    assert units.length.tolist() == [16, 5]


@given(st.lists(st.text(), max_size=4))
@example(["\U000e0000 \U000e0101 \U000e01ef"])
def test_units_are_trimmed_and_owned(documents: list[str]) -> None:
    units = segment(documents, Splitting("sentence", "en"))
    for text, length in zip(units.texts.to_pylist(), units.length.tolist(), strict=True):
        assert text == " ".join(text.split(" "))
        assert text.strip() == text != ""
        assert length == sum(not 0xE0100 <= ord(char) < 0xE0200 for char in text)
    assert list(units.document) == sorted(units.document)


@given(st.one_of(MIXED, st.text()), LANGUAGES)
def test_spans_are_the_units(document: str, lang: str) -> None:
    text = unicodedata.normalize("NFC", document)
    assert "".join(split(text, Splitting("sentence", lang))) == text
    found = spans(text, Splitting("sentence", lang))
    units = segment([document], Splitting("sentence", lang)).texts.to_pylist()
    assert [" ".join(text[begin:end].split()) for begin, end in found] == units
    gaps = [*found, (len(text), len(text))]
    end = 0
    for begin, following in gaps:
        assert not text[end:begin].strip()
        end = following


@given(MIXED, LANGUAGES, st.data())
def test_without_leaves_the_others(document: str, lang: str, data: st.DataObject) -> None:
    text = unicodedata.normalize("NFC", document)
    units = segment([document], Splitting("sentence", lang)).texts.to_pylist()
    gone = data.draw(st.sets(st.integers(0, len(units) - 1))) if units else set()
    left = without(document, Splitting("sentence", lang), gone)
    kept = [unit for at, unit in enumerate(units) if at not in gone]
    if not kept:
        assert left is None
        return
    assert left is not None
    assert left.split() == [word for unit in kept for word in unit.split()] or "".join(left.split()) == "".join(
        "".join(kept).split()
    )
    if not gone:
        assert left == text
    with pytest.raises(IndexError):
        without(document, Splitting("sentence", lang), {len(units)})


@pytest.mark.parametrize(
    ("document", "gone", "left"),
    [
        ("One. Two. Three.", [1], "One. Three."),
        ("One. Two. Three.", [0], "Two. Three."),
        ("One. Two. Three.\n", [2], "One. Two.\n"),
        ("A heading\n\nOne. Two.\n \n\nThree.", [1, 2], "A heading\n\nThree."),
        ("A heading\n\nOne. Two.\n \n\nThree.", [1], "A heading\n\nTwo.\n \n\nThree."),
        ("One is\r\nwrapped. Two is\r\ntoo. Three.", [1], "One is\r\nwrapped. Three."),
        ("  One.\tTwo.  Three.", [1], "  One.\tThree."),
        ("一。二。三。", [1], "一。三。"),
        ("e\u0301t\u00e9. Two.", [1], "été."),
        ("One.", [0], None),
    ],
)
def test_without_keeps_the_layout(document: str, gone: list[int], left: str | None) -> None:
    assert without(document, Splitting("sentence", "en"), gone) == left


@pytest.mark.parametrize("lang", ["en", "fr", "kk"])
@pytest.mark.parametrize("text", ["Written by J. B\xa0. Next.", "Plan B\u3000. Then", "U.S.\u202f. More", "B \u2009."])
def test_an_initial_and_a_wide_space(text: str, lang: str) -> None:
    assert "".join(split(text, Splitting("sentence", lang))) == text


def test_the_invisible_marks_of_holes_are_no_letters_and_have_no_length() -> None:
    page = "Mirandese: {{ordu|1}}, {{ordu|2}}, {{ordu|3}}, {{ordu|4}} and {{ordu|5}}."
    cleaned = FastCleaner(Names()).clean(page)
    assert "\U000e0100" <= max(cleaned) <= "\U000e01ef"
    units = segment([cleaned], Splitting("record", "en"))
    assert units.length.tolist() == [len("Mirandese: …, …, …, … and ….")]
    letters = sum(map(str.isalpha, cleaned))
    assert script_weights(*text_buffers(units.texts)).tolist() == [[letters, 0, 0]]


@given(st.text(st.sampled_from("ab 1.!?:;\"')]-,("), max_size=20), LANGUAGES)
@example('He knew the phrase. "', "en")
@example("Meet at the bridge: (", "hy")
def test_a_text_without_ends_in_it_is_one_sentence_in_every_language(document: str, lang: str) -> None:
    """Its language is not looked for."""
    if not any(sign in document.rstrip(" ").rstrip(".!?:;\"')]") for sign in ".!?:;"):
        assert len(segment([document], Splitting("sentence", lang)).texts) == bool(document.strip())
