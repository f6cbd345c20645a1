"""A server finds a sentence by every word of its search form: its own analyser makes them, or `forms` has them."""

from __future__ import annotations

import json
from pathlib import Path

from elasticsearch import Elasticsearch

from esdedup.columns.arrays import text_column
from esdedup.store.elasticsearch.search_words import extra_words, folded, word_of
from esdedup.text.search_form import search_form

TEXTS = [
    "Velworth's 6,894 (inhabitants), e.g. in the U.S., don't—as naïve cafés—foo_bar abc…",
    "Straße, Øresund, Þór; ﬁne: H₂O, x² ½ №5 Ⅷ ①②, ＷＩＤＥ ｶﾞ, 100% 3.5kg +49-30/12:30",
    "東京は日本の首都です。abc東京 2020年、ラーメン",
    "한국어 문장입니다. 北京2008 แมวสีดำ नमस्ते दुनिया",
    "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας· ΟΔΟΣ οδός Ёлка ёж",
    "שָׁלוֹם עולם العَرَبِيَّة ١٢٣ ქართული აბგ ሰላም",
    "★★ abc★ 👍🏽ok — ... !!! \t\n x\u00a0y\u200bz a\u0301 C++ C# @home #tag _a_ __",
    "a" * 300 + " " + "b" * 255,
    "",
]


def analysed(client: Elasticsearch, text: str) -> set[str]:
    found = client.indices.analyze(analyzer="standard", text=text) if text else {"tokens": []}
    return {one["token"] for one in found["tokens"]}


def test_every_word_of_the_search_form_is_found(elastic_url: str, data_folder: Path) -> None:
    texts = list(TEXTS)
    for path in sorted((data_folder / "treebanks").glob("*.jsonl")):
        lines = path.read_text("utf-8").splitlines()[:12]
        texts += [sentence for line in lines for sentence in json.loads(line)]
    column = text_column(texts)
    with Elasticsearch(elastic_url) as client:
        for text, extra, form in zip(texts, extra_words(column), search_form(column).to_pylist(), strict=True):
            words = {word_of(word) for word in folded(form).split() if len(word) <= 255}
            assert words <= analysed(client, text) | analysed(client, extra or ""), text
            assert not extra or words >= set(extra.split())


def test_usual_words_are_not_written_twice() -> None:
    plain = "In 1924, the old (stone) bridge was rebuilt: it carries two lanes."
    assert extra_words(text_column([plain, "They don't.", plain])) == [None, "dont", None]
