"""Anything at all as markup, as text, as settings: an answer or one of our own errors, nothing else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from esdedup.errors import UsageError
from esdedup.jobs.prepare import BatchPlan, prepare
from esdedup.jobs.settings import Settings
from esdedup.matching.signing import Signing, freeze
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from tests.system.robustness.fuzzing import with_seeds

CLEANER = FastCleaner(Names())

_PIECES = """
    {{ }} {{{ }}} [[ ]] [ ] | {| |} |- |+ !! || '' ''' ' == = * # : ; ---- < > </ /> <!-- --> _ <ref> </ref> <nowiki>
    </nowiki> <pre> </pre> <math> </math> <table> <td> </table> <br> <b __NOTOC__ &amp; &lt; &nbsp; &#39; &#0; &#xD800;
    &#x110000; & http:// File: Category: de: {{!}} -{ }- a é 水
"""
PIECES = [
    *_PIECES.split(),
    *("\n", "\n\n", " ", "[http://a ", "<ref name=a/>", "#REDIRECT [[a]]", "\u202e", "\u200f", "\u0301", "\u2028"),
    *("\0", "\r", "\t", "\x85", "\xa0", "\ufeff", "\U0001f468\u200d"),
]
MARKUP = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)


@with_seeds(".wiki")
@given(MARKUP)
@settings(max_examples=250)
def test_any_markup_gives_the_same_bounded_text_twice(text: str) -> None:
    data = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    offsets = np.array([0, data.size])
    first, bounds = CLEANER.clean_batch(data, offsets)
    again, _ = CLEANER.clean_batch(data, offsets)
    assert first.tobytes() == again.tobytes()
    assert first.size == bounds[-1] <= 2 * data.size
    cleaned = first.tobytes().decode("utf-8")
    assert cleaned == cleaned.strip(" \n")


@given(MARKUP, st.integers(2, 30))
@settings(max_examples=50)
def test_markup_repeated_is_bounded_too(text: str, times: int) -> None:
    assert len(CLEANER.clean(text * times).encode()) <= 2 * times * len(text.encode("utf-8", "replace"))


SIGNINGS = [
    Signing.of(min_chars=0),
    Signing.of(unit="record", min_chars=0, normalize="stem", shingle="word:3"),
    Signing.of(min_chars=0, normalize="lower", shingle="char:3", lang="ja"),
    Signing.of(min_chars=0, normalize="words", shingle="word:1", lang="th"),
]
STRETCH = st.sampled_from(["\u201c", "'", "。", ". ", "\n\n", "\0", "\u0301" * 9, "水", "a "])
TEXT = st.lists(st.text(max_size=8) | STRETCH).map("".join)


@given(st.lists(TEXT, min_size=1, max_size=4), st.sampled_from(SIGNINGS), st.sampled_from([None, "fast"]))
@settings(max_examples=120)
def test_any_text_becomes_units_that_fit_together(texts: list[str], signing: Signing, markup: str | None) -> None:
    column = pa.array([text.encode("utf-8", "replace").decode() for text in texts], pa.large_string())
    prepared = prepare(column, np.arange(len(texts)), BatchPlan(signing, markup))
    kept = int(prepared.kept.sum())
    assert len(prepared.text) == len(prepared.hash) == len(prepared.kept)
    assert prepared.tokens.shape == (kept, signing.tokens)
    assert len(prepared.texts) == kept
    assert all(text.strip() for text in prepared.texts.to_pylist())


_NAMES = """
    unit lang min_chars max_chars normalize shingle bands rows hashes draw draws hash_bits seed jaccard
    word_edit_distance linkage verify across workers memory format separator header id_column title_column text_column
    namespaces revisions wikitext source_name limit nothing
"""
_WORDS = """
    sentence record lower char:5 word:2 single star exact none any 1GiB 512MB 1e9 tsv all latest fast en line 1 a.b nan
"""
VALUES = st.one_of(
    st.sampled_from([*_WORDS.split(), "", "\n", "\ud800", "9" * 5000 + "GiB", 10**5000, True, None]),
    st.integers(-3, 70),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.integers(0, 15) | st.text(max_size=2), max_size=3),
)


@given(st.dictionaries(st.sampled_from(_NAMES.split()), VALUES, max_size=6))
@example({"memory": "9" * 400})
@example({"bands": 10**5000})
@settings(max_examples=400)
def test_any_settings_are_taken_or_refused_in_one_line(options: dict[str, Any]) -> None:
    try:
        made = Settings.of(**options)
        signing = freeze(None, made.frozen)  # bounds of the unit may conflict with the other one
    except UsageError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 300
        return
    assert 1 <= signing.tokens <= 64 * len({each.shingle for each in signing.classes})
    json.dumps(signing.described() | made.scanning.described(), ensure_ascii=False, allow_nan=False).encode()
