"""Real articles: the fast path against the reference, sentence by sentence."""

from __future__ import annotations

import bz2
import re
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from esdedup.text.segment import split
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names

MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|'''|<ref|thumb\||style=")


def _articles(path: Path) -> list[str]:
    texts = []
    with bz2.open(path) as dump:
        for _, page in etree.iterparse(dump, tag="{*}page"):
            if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
                texts.append(page.findtext("{*}revision/{*}text") or "")
            page.clear()
    return texts


def _sentences(text: str) -> Counter[str]:
    collapsed = (" ".join(sentence.split()) for sentence in split(text, Splitting("sentence", "en")))
    return Counter(sentence for sentence in collapsed if 75 <= len(sentence) <= 600)


@pytest.fixture(scope="module")
def articles(data_folder: Path) -> list[str]:
    return _articles(data_folder / "wiki" / "enwiki-106-articles.xml.bz2")


def test_sentences_are_those_of_the_reference(articles: list[str]) -> None:
    names = Names()
    fast = FastCleaner(names)
    ours, corrected, plain = Counter[str](), Counter[str](), Counter[str]()
    with (
        ReferenceCleaner(names, time_limit=60) as reference,
        ReferenceCleaner(names, corrected=False, time_limit=60) as uncorrected,
    ):
        for text in articles[::3]:  # the reference is slow
            ours += _sentences(fast.clean(text))
            corrected += _sentences(reference.clean(text))
            plain += _sentences(uncorrected.clean(text))
    assert ours.total() > 3_000
    assert 2 * (ours & corrected).total() / (ours.total() + corrected.total()) >= 0.997
    assert (ours - corrected - plain).total() <= 0.002 * ours.total()


def test_no_markup_is_left_in_articles(articles: list[str]) -> None:
    fast = FastCleaner(Names())
    blocks = [block for text in articles for block in fast.clean(text).split("\n\n")]
    left = [block for block in blocks if MARKUP.search(block)]
    assert len(left) <= len(blocks) / 10_000
