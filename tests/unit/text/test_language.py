"""In which language a text is: by its letters, and by what its source says."""

from __future__ import annotations

import pytest

from esdedup.text.language import base_language, detect
from tests.support.languages import TEXTS


def test_each_text_has_its_own_language() -> None:
    assert detect(TEXTS.values()) == list(TEXTS)


@pytest.mark.parametrize("text", ["", "12345", "—", "\x00\ufdd0", "\U0001f600" * 20])
def test_a_text_that_does_not_tell_is_in_the_language_of_its_source(text: str) -> None:
    assert detect([text]) == ["en"]
    assert detect([text], "ja") == ["ja"]


def test_a_source_is_believed_unless_a_long_text_is_in_another_language() -> None:
    german = TEXTS["de"]
    assert detect([german, german * 3], "en") == ["en", "de"]
    assert detect([german * 3], "ltg") == ["ltg"], "the detector does not know it"


def test_languages_that_are_often_taken_for_each_other_are_those_of_the_source() -> None:
    croatian = "Grad leži na rijeci, a njegovu su luku u devetnaestom stoljeću izgradili strani inženjeri iz Beča. " * 3
    for code in ("bs", "hr", "sr", "sh"):
        assert detect([croatian], code) == [code]


@pytest.mark.parametrize(
    ("code", "base"),
    [("de", "de"), ("de-AT", "de"), ("zh-Hant", "zh"), ("be-x-old", "be"), ("nb", "no"), ("", ""), ("x'); --", "")],
)
def test_a_code_is_reduced_to_its_language(code: str, base: str) -> None:
    assert base_language(code) == base
