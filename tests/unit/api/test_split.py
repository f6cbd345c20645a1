"""`esdedup.split`, and the language that it finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import esdedup
from esdedup.errors import UsageError
from esdedup.text.language import detect

TEXTS = {
    "en": "The mill stands by the river, and nobody knows who built it or when the wheel last turned.",
    "de": "Die Mühle steht am Fluss, und niemand weiß, wer sie gebaut hat oder wann das Rad sich zuletzt drehte.",
    "fr": "Le moulin se trouve au bord de la rivière, et personne ne sait qui l'a construit ni quand il a tourné.",
    "it": "Il mulino si trova vicino al fiume, e nessuno sa chi lo ha costruito né quando la ruota ha girato.",
    "es": "El molino está junto al río, y nadie sabe quién lo construyó ni cuándo giró la rueda por última vez.",
    "et": "Veski seisab jõe ääres ja keegi ei tea, kes selle ehitas või millal ratas viimati pöörles.",
    "uk": "Млин стоїть біля річки, і ніхто не знає, хто його збудував і коли колесо оберталося востаннє.",
    "ru": "Мельница стоит у реки, и никто не знает, кто её построил и когда колесо вращалось в последний раз.",
    "el": "Ο μύλος βρίσκεται δίπλα στο ποτάμι και κανείς δεν ξέρει ποιος τον έχτισε ή πότε γύρισε ο τροχός.",
    "ja": "水車は川のそばに立っており、誰がそれを建てたのか、いつ最後に回ったのか、誰も知りません。",
    "zh": "磨坊矗立在河边，没有人知道是谁建造的，也没有人知道轮子最后一次转动是什么时候。",
}


@pytest.mark.parametrize("lang", TEXTS)
def test_languages_are_found(lang: str) -> None:
    assert detect([TEXTS[lang]]) == [lang]
    assert detect([TEXTS[lang] * 3], expected="fi") == [lang]


def test_what_says_nothing_has_the_expected_language() -> None:
    for text in ("", "1234", "12. 3.", "\x00\ud800", "\ufdd0"):
        assert detect([text], expected="et") == ["et"]
        assert detect([text]) == ["en"]


def test_the_language_decides() -> None:
    text = TEXTS["de"] + " Im 19. Jahrhundert war sie neu. Sie fiel am 3. Oktober um."
    assert esdedup.split(text) == [TEXTS["de"], "Im 19. Jahrhundert war sie neu.", "Sie fiel am 3. Oktober um."]
    assert len(esdedup.split("Es war der 19. Beginn der Reise.", lang="en")) == 2
    assert len(esdedup.split("Es war der 19. Beginn der Reise.", lang="de")) == 1


@pytest.mark.parametrize("text", ["", "  \n\n "])
def test_nothing_has_no_sentences(text: str) -> None:
    assert esdedup.split(text) == []


@pytest.mark.parametrize("arguments", [(None,), (["One."],), ("One.", "english!"), ("One.", "EN")])
def test_wrong_arguments(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError):
        esdedup.split(*arguments)


@given(st.text())
def test_joined_they_are_the_text_without_spaces(text: str) -> None:
    assert "".join("".join(esdedup.split(text)).split()) == "".join(text.split())
