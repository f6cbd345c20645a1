"""Revisions read block by block give the text of whole revisions, and what has not changed is not read again."""

from __future__ import annotations

import os
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting
from esdedup.text.wikitext.blocks import Blocks, PageBlocks, WholeTexts
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names

CLEANER = FastCleaner(Names(site="en.wikipedia"))
EXAMPLES = int(os.environ.get("ESDEDUP_BLOCK_EXAMPLES", "300"))

OPENS = ["{{", "{{{a|", "{", "[[a|", "[[", "[", "[http://a b", "{|", "\n{|\n|-\n| x", "<table>", "<table", "<b"]
OPENS += ["<ref>", "<ref name=", "<ref name=a />", "<!--", "<!", "<", "<nowiki>", "<pre>", "<math>", "<gallery>"]
OPENS += ["<wheel>", "<axle a=b>", "<wheel/>"]
CLOSES = ["}}", "}}}", "}", "]]", "]]]", "]", "|}", "\n|}", "|}}", "</table>", "</b>", ">", "</ref>", "</ref\n", "-->"]
CLOSES += ["</wheel>", "</axle>", "</nowiki>", "</pre>", "</math>", "</gallery>", "--", "</"]
TITLES = ["See also", "References", "External links:", "Use", "[[Notes]]", "{{a}}", "<b>References</b>", "", "=", "a=b"]
HEADINGS = [f"{before}{'=' * level}{title}{'=' * level}{after}" for level in (1, 2, 3) for title in TITLES
            for before, after in (("\n", "\n"), ("\n\n", "\n\n"), ("\n", " <!-- c -->\n"), ("\n", "x\n"))]  # fmt: skip
LINES = [
    "\n\n",
    "\n\n\n",
    "\n",
    "\r\n\r\n",
    "\r",
    "\n \n",
    "\n<!-- c -->\n",
    " <!-- c -->\n\n",
    "\n\n<!-- c -->",
    "\n:",
]
LINES += [
    "\n\n:",
    "\n:x\n",
    "\n\n:x\n\n",
    "\n\n::<math>y</math>",
    "\n\nwhere",
    "\n\n*",
    "\n\n:{|",
    "\n\n ",
    "\n----",
    "\x85",
    "\u2028",
    "\u2029",
    "\u2003",
    "\n\n\xa0",
    "\u2003.",
]
WORDS = [
    "A b. C d.",
    "a b c",
    "\nA line that is long enough to be taken for prose by what reads the sections below some headings.\n",
    "One. ",
    "J",
    "e\u0301",
    "\u0301",
    "水。",
    "'''",
    "''",
    '"',
    "(",
    "&nbsp;",
    "__NOTOC__",
    "|",
    "!",
    ".",
]
PIECE = st.one_of(*map(st.sampled_from, (OPENS, CLOSES, HEADINGS, LINES, WORDS)), st.just("\n\n"), st.just("\n\n"))
PARAGRAPHS = st.lists(PIECE, min_size=1, max_size=12).map("".join)


@st.composite
def histories(draw: st.DrawFn) -> list[str]:
    """Revisions that share paragraphs, among which anything may be open."""
    pool = draw(st.lists(PARAGRAPHS, min_size=1, max_size=8))
    revision = st.lists(st.sampled_from(pool), min_size=1, max_size=8)
    return [part.join(draw(revision)) for part in draw(st.lists(st.sampled_from(["\n\n", ""]), min_size=1, max_size=5))]


def column(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def put_together(blocks: list[Blocks]) -> list[list[str]]:
    """The plain texts of the blocks of each revision; each list of blocks has one revision or more."""
    known: dict[int, str] = {}
    revisions: list[list[str]] = []
    for part in blocks:
        known |= dict(zip(part.number.tolist(), part.texts.to_pylist(), strict=True))
        rows: list[list[str]] = [[] for _ in range(part.seen_row.max(initial=-1) + 1)]
        for block, row in zip(part.seen.tolist(), part.seen_row.tolist(), strict=True):
            if block in known:
                rows[row].append(known[block])
        revisions += rows
    return revisions


@given(histories())
@settings(max_examples=EXAMPLES)
def test_blocks_together_are_the_page(revisions: list[str]) -> None:
    parts = put_together([PageBlocks(CLEANER.tables).read(column(revisions))])
    for revision, blocks in zip(revisions, parts, strict=True):
        whole = CLEANER.clean(revision)
        assert "".join(blocks) == whole
        assert (
            segment(blocks, Splitting("sentence", "en")).texts.to_pylist()
            == segment([whole], Splitting("sentence", "en")).texts.to_pylist()
        )


@given(histories())
@settings(max_examples=60)
def test_batches_do_not_show_in_blocks(revisions: list[str]) -> None:
    whole, page = PageBlocks(CLEANER.tables).read(column(["before", *revisions]).slice(1)), PageBlocks(CLEANER.tables)
    parts = [page.read(column([revision])) for revision in revisions]
    assert whole.seen.tolist() == [block for part in parts for block in part.seen.tolist()]
    assert whole.number.tolist() == [block for part in parts for block in part.number.tolist()]
    assert whole.texts.to_pylist() == [text for part in parts for text in part.texts.to_pylist()]
    assert whole.row.tolist() == [row for row, part in enumerate(parts) for _ in part.row]
    assert put_together(parts) == put_together([whole])


@pytest.mark.parametrize("vanishes", [" ", "\r", "<!--c-->", "<!--c-->:x", "{{x}}", "[[File:a.jpg]]", "__TOC__", "*"])
def test_a_sentence_goes_on_after_a_line_that_vanishes(vanishes: str) -> None:
    text = f"The loss is\n\n{vanishes}\n:x\nwhere it is"
    (blocks,) = put_together([PageBlocks(CLEANER.tables).read(column([text]))])
    assert "".join(blocks) == CLEANER.clean(text)
    assert "\n\n" not in "".join(blocks)


def test_only_what_is_new_is_read() -> None:
    source = random.Random(1)
    paragraphs = [f"Paragraph {number} has {{{{a|b}}}} [[words|a word]]." for number in range(500)]
    page = PageBlocks(CLEANER.tables)
    assert len(page.read(column(["\n\n".join(paragraphs)])).texts) == 500
    for edit in range(50):
        paragraphs[source.randrange(1, 499)] = f"Edit {edit}."
        middle = paragraphs[1:-1]
        source.shuffle(middle)
        paragraphs[1:-1] = middle
        assert page.read(column(["\n\n".join(paragraphs)])).texts.to_pylist() == [f"\n\nEdit {edit}."]
    assert page.read(column(["\n\n".join(paragraphs)])).texts.to_pylist() == []


@pytest.mark.parametrize(
    "whole",
    [
        "{{box|\n\na\n\nb\n\n}} c",
        "{|\n\n== a ==\n\n|}\n\nb",
        "a <ref>\n\nb\n\n</ref> c",
        "[[a|b\n\nc]] d",
        "<!-- a\n\n== b ==\n\n--> c",
        "= See also =\n\na\n\n== b ==\n\nc\n\n= d =\n\ne",
        "== See also ==\n\na\n\n=== b ===\n\nc\n\n== d ==\n\ne",
        "<ref name=\n\n== a ==\n\n> b",
        "a {\n\n{ b }\n\n}",
        "a <wheel>\n\nb\n\n</wheel> c",
        "It is\n\n:x\n\nwhere x is",
        "It is\n:x\n\n<!-- c -->\n\n:y\n\nX",
    ],
)
def test_what_is_open_holds_a_block_together(whole: str) -> None:
    blocks = PageBlocks(CLEANER.tables).read(column([whole, "x\n\n" + whole, whole + "\n\nx"]))
    expected = [CLEANER.clean(text) for text in (whole, "x\n\n" + whole, whole + "\n\nx")]
    assert ["".join(texts) for texts in put_together([blocks])] == expected


@pytest.mark.parametrize(
    "opener", ["{{", "[[a|", "<ref>", "<!--", "\n{|\n", "<ref name=", "<wheel>", "== Notes ==", ":a"]
)
def test_what_is_never_closed_is_not_read_for_each_paragraph(opener: str) -> None:
    found = PageBlocks(CLEANER.tables).read(column([opener + f"\n\n{':' * (opener == ':a')}x" * 100_000]))
    # its number says how many were tried before it
    assert len(found.seen) == 1
    assert found.seen[0] < 20


def test_whole_texts_are_told_apart() -> None:
    page = WholeTexts()
    first, second = page.read(column(["a", "b", "a"])), page.read(column(["b", "c"]))
    assert (first.seen.tolist(), second.seen.tolist()) == ([0, 1, 0], [1, 2])
    assert (first.texts.to_pylist(), first.row.tolist()) == (["a", "b"], [0, 1])
    assert (second.texts.to_pylist(), second.row.tolist(), second.number.tolist()) == (["c"], [1], [2])


def test_bytes_that_are_not_utf_8_do_no_harm() -> None:
    junk = np.random.default_rng(1).integers(0, 256, 5000, np.uint8)
    junk[::7] = 10
    junk[1::7] = 10
    texts = pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, 5000])), pa.py_buffer(junk))
    found = PageBlocks(CLEANER.tables).read(texts)
    whole, _ = CLEANER.clean_batch(junk, np.array([0, 5000]))
    blocks = [text.as_buffer().to_pybytes() for text in found.texts.cast(pa.large_binary())]
    assert b"".join(blocks) == whole.tobytes()
