"""Filters of what a page names."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.text.wikitext.linked import link_filters, names_page, overlaps

WHEAT = "[[Rye|rye]] and [[barley]] are [[:Category:Cereals]]; {{Infobox crop\n|name=Wheat}} [[File:Ear.jpg|thumb]]"


def test_what_is_named_is_found() -> None:
    filters = link_filters(text_column([WHEAT] * 4 + ["nothing is named here"]))
    titles = text_column(["Rye", "Barley", "Category:Cereals", "Oats", "Rye"])
    assert names_page(filters, titles) == [True, True, True, False, False]
    assert filters.to_pylist()[-1] == b""


def test_templates_are_no_pages() -> None:
    filters = link_filters(text_column(["{{Rye}} {{Oats|x}}"] * 2))
    assert names_page(filters, text_column(["Rye", "Oats"])) == [False, False]


def test_overlap_is_a_share_of_the_smaller() -> None:
    few = " ".join(f"[[Page {number}]]" for number in range(20))
    many = " ".join(f"[[Page {number}]]" for number in range(10, 80))
    others = " ".join(f"[[Other {number}]]" for number in range(200))
    filters = link_filters(text_column([few, many, others, "plain"]))
    one, two = np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 2])
    same, half, nothing, plain, apart = overlaps(filters, one, two).tolist()
    assert (same, plain) == (100, 0)
    assert 35 <= half <= 65
    assert max(nothing, apart) <= 12


def test_a_filter_is_short_and_some_names_seem_to_be_there() -> None:
    pages = [" ".join(f"[[{page} {number}]]" for number in range(page)) for page in (1, 30, 300, 3000)]
    filters = link_filters(text_column(pages))
    assert [len(bits) for bits in filters.to_pylist()] == [8, 16, 256, 256]
    wrong = names_page(pa.concat_arrays([filters.slice(2, 1)] * 400), text_column([f"Absent {n}" for n in range(400)]))
    assert sum(wrong) < 0.3 * len(wrong)


def test_broken_markup_names_nothing() -> None:
    texts = ["[[", "[[|", "[[]]", "{{}}", "[[a", "[[" * 50, "[[" + "x" * 300 + "]]", "[[\n]]", ""]
    assert set(link_filters(text_column(texts)).to_pylist()) == {b""}
