"""The words that tell a text's topic, against one text after another."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import Stemmer
import xxhash

from esdedup.columns.arrays import text_column
from esdedup.text.topics import TopicWords, stop_words, topic_words
from tests.support.corpus import corpus


def code_of(word: str) -> int:
    return xxhash.xxh64_intdigest(word.encode())


def words_of(found: TopicWords) -> list[list[int]]:
    bounds = found.offsets.tolist()
    return [found.words[begin:end].tolist() for begin, end in pairwise(bounds)]


@pytest.mark.parametrize("stemmed", [True, False])
def test_each_text_has_its_words_in_one_order(stemmed: bool) -> None:
    texts = [*corpus(1, 80), "", "the of and", "Running runs; he RUNS!"]
    stem = Stemmer.Stemmer("en").stemWord
    spelled = [[word for word in re.findall("[a-z]+", text.lower()) if word not in stop_words("en")] for text in texts]
    expected = [[stem(word) if stemmed else word for word in words] for words in spelled]
    found = topic_words(text_column(texts), "en", stemmed=stemmed)
    assert words_of(found) == [sorted(map(code_of, words)) for words in expected]
    holders = {code_of(word): sum(word in words for words in expected) for words in expected for word in words}
    assert dict(zip(found.distinct.tolist(), found.texts.tolist(), strict=True)) == holders
    stems = {code_of(word if not stemmed else stem(word)): code_of(stem(word)) for words in spelled for word in words}
    assert dict(zip(found.distinct.tolist(), found.stems.tolist(), strict=True)) == stems


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("en", "It isn't 1990’s Café, don’t you know? A1 _x_ £5", ["café", "know", "_x_"]),
        ("en-GB", "The colours of the WORLD", ["colours", "world"]),
        ("de", "Die Straße und der Weg", ["die", "straße", "und", "der", "weg"]),
        ("zh", "天地 12", ["天", "地"]),
        ("xx", "the words", ["the", "words"]),
    ],
)
def test_stop_words_numbers_and_signs_are_left_out(lang: str, text: str, words: list[str]) -> None:
    assert words_of(topic_words(text_column([text]), lang, stemmed=False)) == [sorted(map(code_of, words))]


def test_no_texts_have_no_words() -> None:
    for texts in ([], [""], ["12"]):
        found = topic_words(text_column(texts), "en", stemmed=True)
        assert len(found.words) == len(found.distinct) == 0
        assert found.offsets.tolist() == [0] * (len(texts) + 1)
