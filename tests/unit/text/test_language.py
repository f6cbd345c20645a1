"""In which language a text is: by its letters, and by what its source says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import SettingsError
from esdedup.matching import signing
from esdedup.text.detectors import CLD2, PROFILES
from esdedup.text.language import base_language, detect
from tests.support.languages import TEXTS


@pytest.fixture(params=[CLD2, PROFILES])
def by(request: pytest.FixtureRequest) -> str:
    """What tells languages."""
    return str(request.param)


def test_each_text_has_its_own_language(by: str) -> None:
    assert detect(TEXTS.values(), by=by) == list(TEXTS)


@pytest.mark.parametrize("text", ["", "12345", "—", "\x00\ufdd0", "\U0001f600" * 20])
def test_a_text_that_does_not_tell_is_in_the_language_of_its_source(text: str, by: str) -> None:
    assert detect([text], by=by) == ["en"]
    assert detect([text], "ja", by) == ["ja"]


def test_a_source_is_believed_unless_a_long_text_is_in_another_language(by: str) -> None:
    german = TEXTS["de"]
    assert detect([german, german * 3], "en", by) == ["en", "de"]
    assert detect([german * 3], "ltg", by) == ["ltg"], "the detector does not know it"


def test_languages_that_are_often_taken_for_each_other_are_those_of_the_source(by: str) -> None:
    croatian = "Grad leži na rijeci, a njegovu su luku u devetnaestom stoljeću izgradili strani inženjeri iz Beča. " * 3
    for code in ("bs", "hr", "sr", "sh"):
        assert detect([croatian], code, by) == [code]


def test_a_store_remembers_what_told_its_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CLD2 is missing, the other detector is used; a store of one is not added to with the other."""
    texts = tmp_path / "a.txt"
    texts.write_text(TEXTS["de"] * 3, "utf-8")
    with monkeypatch.context() as here:
        here.setattr(signing, "installed", lambda: PROFILES)
        here.setitem(sys.modules, "pycld2", None)
        here.delitem(sys.modules, "esdedup.text.detectors.cld2", raising=False)
        done = esdedup.run(texts, out=tmp_path / "out", unit="sentence", report=False)
    assert done["settings"]["languages"] == PROFILES
    more = tmp_path / "b.txt"
    more.write_text(TEXTS["en"] * 3, "utf-8")
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    monkeypatch.setitem(sys.modules, "resiliparse.parse.lang", None)
    monkeypatch.delitem(sys.modules, "esdedup.text.detectors.profiles", raising=False)
    with pytest.raises(SettingsError, match="told by resiliparse, which is not installed: pip install"):
        esdedup.add(more, store=tmp_path / "out" / "store.duckdb")
    assert "languages" not in esdedup.run(texts, out=tmp_path / "usual", unit="sentence", report=False)["settings"]


@pytest.mark.parametrize(
    ("code", "base"),
    [("de", "de"), ("de-AT", "de"), ("zh-Hant", "zh"), ("be-x-old", "be"), ("nb", "no"), ("", ""), ("x'); --", "")],
)
def test_a_code_is_reduced_to_its_language(code: str, base: str) -> None:
    assert base_language(code) == base
