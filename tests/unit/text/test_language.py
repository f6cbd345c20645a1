"""In which language a text is: by its letters, and by what its source says."""

from __future__ import annotations

import pytest

from esdedup.columns.arrays import text_column
from esdedup.text.language import base_language, by_language, detect
from esdedup.text.normalize import normalize

TEXTS = {
    "en": "The city lies on the river, and its harbour was built in the nineteenth century by engineers from abroad. ",
    "de": "Die Stadt liegt am Fluss, und ihr Hafen wurde im neunzehnten Jahrhundert von fremden Ingenieuren gebaut. ",
    "et": "Linn asub jõe ääres ja selle sadama ehitasid üheksateistkümnendal sajandil välismaa insenerid. ",
    "el": "Η πόλη βρίσκεται δίπλα στο ποτάμι και το λιμάνι της χτίστηκε τον δέκατο ένατο αιώνα από ξένους μηχανικούς. ",
    "uk": "Місто лежить на річці, а його гавань збудували у дев'ятнадцятому столітті іноземні інженери. ",
    "ja": "この街は川のほとりにあり、その港は十九世紀に外国の技師たちによって造られました。",
    "zh": "这座城市位于河边，它的港口是十九世纪由外国工程师建造的。",
    "hy": "Քաղաքը գտնվում է գետի ափին, և նրա նավահանգիստը կառուցվել է տասնիններորդ դարում։ ",
}


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


def test_a_column_is_divided_by_language() -> None:
    column = text_column([TEXTS["de"], TEXTS["en"], TEXTS["de"]])
    assert {code: rows.tolist() for code, rows in by_language(column, "auto")} == {"de": [0, 2], "en": [1]}
    assert {code: rows.tolist() for code, rows in by_language(column, "fr")} == {"fr": [0, 1, 2]}


@pytest.mark.parametrize("form", ["stem", "expanded"])
def test_each_text_is_stemmed_in_its_language(form: str) -> None:
    texts = [TEXTS["de"], TEXTS["ja"], TEXTS["en"], TEXTS["de"]]
    wanted = [
        normalize(text_column([text]), form, lang)[0]
        for text, lang in zip(texts, ["de", "en", "en", "de"], strict=True)
    ]
    assert normalize(text_column(texts), form, "auto").to_pylist() == [one.as_py() for one in wanted]
