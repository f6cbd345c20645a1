"""Pages made to take long, and pages made of anything: bounded time, valid text, no exception."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esdedup.text.folded_names import fold
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.lookup import folded_key
from esdedup.text.wikitext.rules import Names
from esdedup.text.words import LETTERS, key_of

SIZE = 100_000
CLEANER = FastCleaner(Names(site="en.wikipedia"))

OPENERS = ["[[a|", "<ref>", "{|", "\n{|\n", "<math>", "<!--", "{{{a|", "{{", "[http://a ", "<b>", "<nowiki>"]
OPENERS += ["<wheel>", "<wheel ", "== Notes ==\n", ":a\n", "<math>{"]
REPEATED = [
    *OPENERS,
    *("{{[[", "<ref>{{", "<table>\n{|\n[[a|", "[[File:a|", "[[[", "<ref ", '<ref name="', "</", "<!-- --> "),
    *("''", "'''a ", "&", "&a", "__", "__A", "\n=", "== a\n", "\n:", " \n", "]]", "}}", "\n|}", "[[a|[x]", "_"),
]
PAGES = {
    **{f"repeated {opener!r}": opener * (SIZE // len(opener)) for opener in REPEATED},
    **{f"single {opener!r}": opener + "x " * (SIZE // 2) for opener in OPENERS},
    "unknown tags, open": "".join(f"<x{number}>" for number in range(SIZE // 7)),
    "unknown tags, nested": "<x>a b c " * (SIZE // 12) + "</x>" * (SIZE // 12),
    "different unknown tags, nested": "".join(f"<x{number}>a b c " for number in range(SIZE // 12))
    + "".join(f"</x{number}>" for number in reversed(range(SIZE // 12))),
    "dropped headings, nested": "".join(f"\n{'=' * level}Notes{'=' * level}" for level in range(1, 7)) * (SIZE // 60),
    "nested templates, open": "{{" * SIZE,
    "nested templates, closed": "{{" * SIZE + "}}" * SIZE,
    "spaced templates, closed": "{{ " * SIZE + "}} " * SIZE,
    "nested links": "[[a|" * (SIZE // 4) + "]]" * (SIZE // 4),
    "nested links, blank labels": "[[a| " * (SIZE // 4) + "]]" * (SIZE // 4),
    "nested links, more brackets": "[[a|[x" * (SIZE // 6) + "]]]" * (SIZE // 6),
    "links in titles": "[[" * (SIZE // 4) + "]]|" * (SIZE // 4),
    "nested external links": "[http://a b" * (SIZE // 11) + "]" * (SIZE // 11),
    "nested tables": "\n{|" * (SIZE // 3) + "\n|}" * (SIZE // 3),
    "crossing": "<table>\n{|\n[[a|" * (SIZE // 16) + "\n|}</table>]]" * (SIZE // 16),
}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_takes_long(name: str) -> None:
    CLEANER.clean("")  # compiled before the clock starts
    began = time.perf_counter()
    CLEANER.clean(PAGES[name])
    assert time.perf_counter() - began < 1


MARKUP = st.sampled_from(
    [
        *("{{", "}}", "{{{", "}}}", "[[", "]]", "[", "]", "|", "{|", "|}", "\n", "\n\n", "<ref>", "</ref>", "<ref/>"),
        *("<!--", "-->", "'''", "''", "'", "==", "=", "*", "#", ":", ";", "<nowiki>", "</nowiki>", "<table>", "a"),
        *("</table>", "<b>", "<br>", "&amp;", "&#39;", "&nbsp;", "__NOTOC__", "[http://a ", "File:", "de:", " "),
        *(
            "<pre>",
            "</pre>",
            "<wheel>",
            "</wheel>",
            "<wheel/>",
            "<math>",
            "</math>",
            "x^{a_b}",
            "----",
            "See also",
            "é",
            "水",
            "\u200f",
            "\0",
            "_",
            "<noinclude>",
        ),
    ]
)
PAGE = st.lists(st.one_of(MARKUP, st.text(max_size=5)), max_size=40).map("".join)


@given(PAGE)
@settings(deadline=None, max_examples=300)
def test_any_text_gives_tidy_text(page: str) -> None:
    text = CLEANER.clean(page)
    assert text == text.strip(" \n")
    assert "\n\n\n" not in text
    assert "  " not in text


@given(st.lists(PAGE, max_size=6))
@settings(deadline=None)
def test_a_batch_gives_what_its_pages_give(pages: list[str]) -> None:
    encoded = [page.encode() for page in pages]
    offsets = np.zeros(len(pages) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(page) for page in encoded])
    # A batch may be a slice of a longer one: its first offset is not always 0.
    data = np.frombuffer(b"before" + b"".join(encoded), dtype=np.uint8)
    out, out_offsets = CLEANER.clean_batch(data, offsets + len(b"before"))
    texts = [out[out_offsets[i] : out_offsets[i + 1]].tobytes().decode() for i in range(len(pages))]
    assert texts == [CLEANER.clean(page) for page in pages]
    assert out.size == out_offsets[-1]


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_bytes_that_are_not_utf_8_do_no_harm(page: bytes) -> None:
    out, offsets = CLEANER.clean_batch(np.frombuffer(page, dtype=np.uint8), np.array([0, len(page)]))
    assert offsets.tolist() == [0, out.size]


PROSE = st.text(st.characters(exclude_characters="{}<&", codec="utf-8"), max_size=20)


@given(st.lists(PROSE, min_size=1, max_size=8))
@settings(deadline=None)
def test_no_closed_template_is_left(pieces: list[str]) -> None:
    text = CLEANER.clean("{{mill|{{wheel}}\n|x=1}}".join(pieces))
    assert "{" not in text
    assert "wheel" not in text


@given(st.text(st.characters(categories=["L", "N", "Zs"]) | st.sampled_from(" \n.,"), max_size=60))
@settings(deadline=None)
def test_plain_text_stays_plain(page: str) -> None:
    once = CLEANER.clean(page)
    assert CLEANER.clean(once) == once
    assert once.split() == page.split()


@given(st.text(max_size=30))
@settings(deadline=None)
def test_compiled_code_folds_names_as_python_does(name: str) -> None:
    data = np.frombuffer(name.encode(), dtype=np.uint8)
    assert folded_key(data, 0, data.size, 1 << 40, LETTERS) == key_of(1 << 40, fold(name))


def test_lone_surrogates_are_replaced() -> None:
    assert CLEANER.clean("a \ud800 b") == "a ? b"


def test_names_of_the_dump_are_used() -> None:
    page = "[[Zorbl:a.jpg|x]][[Blorx:y]]It stands."
    assert CLEANER.clean(page) == "Zorbl:a.jpg|x".partition("|")[2] + "Blorx:yIt stands."
    assert FastCleaner(Names({6: "Zorbl", 14: "BLORX"})).clean(page) == "It stands."
