"""What `--normalize expanded` makes of documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_column
from esdedup.errors import SettingsError
from esdedup.text.contractions import expand_contractions
from esdedup.text.normalize import normalize


def expanded(*texts: str, lang: str = "en") -> list[str]:
    return list(normalize(text_column(texts), "expanded", lang).to_pylist())


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("don't", "do not"),
        ("can't", "can not"),
        ("won't", "will not"),
        ("ain't", "is not"),
        ("shan't", "shall not"),
        ("it's", "it is"),
        ("let's", "let us"),
        ("who'd", "who would"),
        ("they're", "they are"),
        ("might've", "might have"),
        ("i'm", "i am"),
        ("that'll", "that will"),
        ("y'all", "you all"),
        ("'tis", "it is"),
        ("shouldn't've", "should not have"),
        ("mandela's", "mandela's"),  # a genitive
        ("o'neil", "o'neil"),
        ("'can't", "'can not"),  # a quotation
        ("the 'so-called' n't", "the 'so-called' n't"),
        ("no apostrophe", "no apostrophe"),
        ("", ""),
    ],
)
def test_contractions(short: str, full: str) -> None:
    assert expand_contractions(short) == full
    assert expand_contractions(short.replace("'", "’")).replace("’", "'") == full


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Don’t STOP running!", "do not stop run"),
        ("The U.S. is well-known (it's a state).", "the us is wellknown it is a state"),
        ("Mandela's dogs", "mandela dog"),
        ("war—peace, war--peace, either/or ... end", "war peac war peac either or end"),
        ("3.5% of $1,000", "35 of 1000"),
        ("  spaces \t and\nlines  ", "space and line"),
        ("...!?", ""),
        ("", ""),
        ("हिन्दी भाषा", "हिन्दी भाषा"),  # marks are no punctuation
    ],
)
def test_texts(text: str, normal: str) -> None:
    assert expanded(text) == [normal]
    assert expanded("one", text, "two") == ["one", normal, "two"]


def test_other_languages_have_stems_and_no_contractions() -> None:
    assert expanded("L'été n'est-ce pas? Don't!", lang="fr") == ["let nestc pas dont"]
    assert expanded("don't", lang="en-US") == ["do not"]
    with pytest.raises(SettingsError, match="does not know the language 'xx'"):
        expanded("a", lang="xx")


@given(st.lists(st.text(alphabet=st.sampled_from("ab'’.- \n—/É%"), max_size=20), max_size=6))
def test_a_batch_is_its_texts(texts: list[str]) -> None:
    assert expanded(*texts) == [one for text in texts for one in expanded(text)]
    for one in expanded(*texts):
        assert one == " ".join(one.split())
        assert not set(one) & set("'’.-—/%\n")
