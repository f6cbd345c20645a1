"""Where sentences end, in many languages. A bar in a case is a boundary."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.text.segment import split
from esdedup.text.sentences.language_words import words
from esdedup.text.splitting import Splitting

CASES = [
    # abbreviations, initials, numbers
    ("en", "Dr. Smith met J. R. Tolkien at 5 p.m. in St. Ives.|It rained."),
    ("en", "It is 3.5 km long (approx. 2.2 mi).|The rest is flat."),
    ("en", "He moved to the U.S. in 1999.|The U.S. Army came."),
    ("en", "See vol. 3, no. 2, pp. 10 to 12.|No. 5 is missing."),
    ("en", "Apples, pears, etc. are sold.|Apples, pears, etc.|Shops sell them."),
    ("en", "1. Introduction to the theory.|2. Results."),
    ("en", "The company, Foo Inc. of Ohio, grew.|She works at Foo Inc.|He does not."),
    ("de", "Im 19. Jahrhundert lebte Karl V. hier.|Am 3. Oktober kam er.|Der 1. FC siegte."),
    ("de", "Das ist z. B. die Str. nach Bonn, d. h. die alte.|Er ging um 5 Uhr."),
    ("de", "Es geschah 1990.|Danach wurde es still."),
    ("fr", "M. Dupont et Mme Durand vivent au XIXe siècle av. J.-C. selon lui.|Il est né en 1950."),
    ("it", "Il sig. Rossi visse nel XIX sec. a.C. a Roma.|Fu un artista."),
    ("es", "El Sr. García vive en la Av. Mayor.|Es médico en EE.UU. desde 1990."),
    ("et", "1950. aastate alguses elas ta Tartus.|Ta suri 12. mail 1990.|Ta oli nt. arst, õpetaja jne."),
    ("ru", "Он родился в 1950 г. в Москве, на ул. Мира.|А. С. Пушкин жил там же."),
    ("uk", "Він народився 1950 р. в м. Київ, на вул. Миру.|Т. Г. Шевченко жив тут."),
    ("pl", "Urodził się w 1950 r. w Krakowie, np. przy ul. Długiej.|Prof. Nowak mieszka tam."),
    ("cs", "Narodil se 3. května 1950 v Praze, např. v ul. Dlouhé.|Prof. Novák tam bydlí."),
    ("fi", "Hän syntyi 3. toukokuuta 1950.|Hän asui esim. Turussa."),
    # quotes and brackets
    ("en", '"Is it so?" he asked.|"Yes," she said.|"It is."|They left.'),
    ("en", "He left (at last!) and came back.|(She had waited.)|They ate."),
    ("en", "It was proved.[12] [13]|Nobody doubted it."),
    ("fr", "« Il viendra. »|Elle sourit."),
    ("de", "„Er kommt.“|Sie lachte."),
    ("es", "¿Quién es?|¡Nadie!|Se fue."),
    # holes, small letters, ellipses
    ("en", "The number \u2026\U000e0101\U000e0102 Company sells.|It is \u2026\U000e0101\U000e0102."),
    ("en", "It cost $5 (\u2026\U000e0101\U000e0102).|It is \u2026\U000e0101\U000e0102.|A mill."),
    ("en", "He wrote for Yahoo! and liked Jeopardy! a lot."),
    ("en", "Wait... what is this?|Well...|Nothing came."),
    ("en", "i like it. they do not. why?|"),
    # other marks
    ("el", "Τι είναι αυτό;|Δεν ξέρω.|Ο κ. Παπαδόπουλος ξέρει, π.χ. το όνομα."),
    ("hy", "Սա առաջինն է։|Սա երկրորդն է:|Վերջ։"),
    ("hi", "यह पहला है।|यह दूसरा है।"),
    ("ar", "ما هذا؟|لا أعرف."),
    ("zh", "这是第一句。|2010年是第二句！|“你好。”|他说。"),
    ("ja", "これは一つ目です。|「行く。来る。」と言った。|2010年に終わった!|次です。"),
    ("am", "ይህ አንድ ነው።|ሁለት።"),
]


@pytest.mark.parametrize(("lang", "text"), CASES)
def test_boundaries(lang: str, text: str) -> None:
    space = "" if lang in {"zh", "ja"} else " "
    wanted = [piece for piece in text.split("|") if piece]
    if "i like it" in text:
        wanted = ["i like it.", "they do not.", "why?"]  # who writes so does not begin sentences with capitals
    assert [piece.strip() for piece in split(space.join(wanted), Splitting("sentence", lang))] == wanted


def test_paragraphs_end_sentences() -> None:
    text = "A heading\n\nA line\nand another \r\n of it. End\n \nLast"
    found = [" ".join(piece.split()) for piece in split(text, Splitting("sentence", "en"))]
    assert found == ["A heading", "A line and another of it.", "End", "Last"]


ODD = st.sampled_from("aA1. \n!?…;:\"'“”«»()[]「」。的e\u0301\U000e0101ß-")
LANGUAGES = st.sampled_from(sorted(words().numbers))


@given(st.text(ODD, max_size=60), LANGUAGES)
def test_joined_they_are_the_text(text: str, lang: str) -> None:
    pieces = split(text, Splitting("sentence", lang))
    assert "".join(pieces) == text
    assert all(pieces) and all(piece.strip() for piece in pieces[1:])


def test_languages_by_code() -> None:
    assert words().number("de-AT") == words().number("de") != 0
    assert words().number("xx") == words().number("") == 0


@pytest.mark.parametrize(
    "unit", ["(", "「", '"', ". ", "a.", "...", "! ", "。", "; The ", "\n \n", "[1] ", ". [1", "'' "]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        begin = time.perf_counter()
        split(text, Splitting("sentence", "en"))
        return time.perf_counter() - begin

    seconds(1000)
    assert seconds(1_600_000) < 40 * (seconds(100_000) + 0.002)
