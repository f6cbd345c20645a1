"""The streams of texts with planted copies: same numbers, same texts; every copy is of its kind."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from scripts.wiki import text_edits as edits
from scripts.wiki.copies import (
    DOCUMENT_KINDS,
    LEAK_KINDS,
    ROW_KINDS,
    Text,
    documents,
    new_texts,
    references,
    short_rows,
)

STREAMS: dict[str, Callable[[int, int], Iterator[Text]]] = {
    "documents": documents,
    "rows": short_rows,
    "references": references,
    "new": lambda count, seed: new_texts(count, 2500, seed),
}


@pytest.mark.parametrize("name", STREAMS)
def test_equal_seeds_give_equal_texts(name: str) -> None:
    few = list(STREAMS[name](60, 3))
    assert few == list(STREAMS[name](60, 3))
    assert few == list(islice(STREAMS[name](1200, 3), 60))
    assert few != list(STREAMS[name](60, 4))
    assert [text.number for text in few] == list(range(60))


def letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def words_apart(one: str, two: str) -> float:
    """The share of words that differ, of texts with as many words."""
    left, right = one.split(), two.split()
    assert len(left) == len(right)
    return sum(a != b for a, b in zip(left, right, strict=True)) / len(left)


def test_documents() -> None:
    texts = list(documents(1500, 2))
    lengths = [len(text.text) for text in texts if text.origin is None]
    assert 1000 <= min(lengths) < 1500
    assert 30_000 < max(lengths) < 52_000
    copies = [text for text in texts if text.origin is not None]
    assert 0.10 < len(copies) / len(texts) < 0.18
    assert {text.kind for text in copies} == set(DOCUMENT_KINDS)
    assert max(Counter(text.origin for text in copies).values()) == 1
    for copy in copies:
        assert copy.origin is not None
        origin = texts[copy.origin]
        assert copy.number > origin.number
        assert origin.origin is None
        old, new = origin.text.split("\n\n"), copy.text.split("\n\n")
        match copy.kind:
            case "identical":
                assert copy.text == origin.text
            case "words_5" | "words_10":
                share = int(copy.kind.removeprefix("words_")) / 100
                assert words_apart(origin.text, copy.text) == pytest.approx(share, abs=0.015)
            case "paragraph_moved":
                assert old != new
                assert sorted(old) == sorted(new)
            case "paragraph_added":
                assert len(Counter(new) - Counter(old)) == 1
            case "paragraph_removed":
                assert len(Counter(old) - Counter(new)) == 1
            case _:
                assert new[1:-1] == old
        if copy.kind not in ("words_5", "words_10") and len(origin.text) > 3000:
            assert abs(len(copy.text) - len(origin.text)) <= 0.12 * len(origin.text)


def test_short_rows() -> None:
    texts = list(short_rows(20_000, 2))
    assert all(20 <= len(text.text) <= 220 for text in texts)
    shares = {kind: count / len(texts) for kind, count in Counter(text.kind for text in texts).items()}
    assert shares["identical"] == pytest.approx(0.10, abs=0.01)
    assert sum(shares[kind] for kind in ROW_KINDS[1:]) == pytest.approx(0.05, abs=0.01)
    for copy in texts:
        if copy.origin is None:
            continue
        origin = texts[copy.origin].text
        assert texts[copy.origin].origin is None
        assert (copy.text == origin) == (copy.kind == "identical")
        if copy.kind == "word_changed":
            assert words_apart(origin, copy.text) * len(origin.split()) == 1
        elif copy.kind == "case_punctuation":
            assert letters(copy.text) == letters(origin)
        elif copy.kind == "word_added":
            assert len(copy.text.split()) == len(origin.split()) + 1
    originals = [text.text for text in texts if text.origin is None]
    assert len(set(originals)) == len(originals)


def test_new_texts_leak_from_the_reference() -> None:
    old = {text.number: text.text for text in references(2500, 5)}
    assert len(set(old.values())) == len(old)
    new = list(new_texts(400, 2500, 5))
    leaks = [text for text in new if text.origin is not None]
    assert Counter(text.kind for text in leaks) == dict.fromkeys(LEAK_KINDS, 10)
    for leak in leaks:
        assert leak.origin is not None
        origin = old[leak.origin]
        match leak.kind:
            case "identical":
                assert leak.text == origin
            case "word_changed":
                assert words_apart(origin, leak.text) * len(origin.split()) == 1
            case "case_punctuation":
                assert leak.text != origin
                assert letters(leak.text) == letters(origin)
            case _:
                assert leak.text in origin
                assert len(origin) > 1.5 * len(leak.text)
    assert not set(old.values()) & {text.text for text in new if text.origin is None}


@pytest.mark.parametrize("edit", [edits.word_changed, edits.word_added, edits.typo, edits.recased])
def test_an_edit_changes_the_text(edit: Callable[[str, random.Random], str]) -> None:
    text = "The old mill of Corvand, built in 1874, ground barley."
    for seed in range(50):
        assert edit(text, random.Random(seed)) != text


def test_words_keep_their_sort() -> None:
    text = "In March 1874 Corvand sold barley."
    changed = edits.words_changed(text, 1.0, random.Random(1))
    assert re.fullmatch(r"In [A-Z][a-z]+ \d{4} [A-Z][a-z]+ [a-z]+ [a-z]+\.", changed)
    assert not set(changed.split()[1:]) & set(text.split())
