"""What a cleaner leaves out of a page, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.left_out import marked, runs
from esdedup.text.wikitext.rules import Names

NAMES = Names({6: "File", 14: "Category"})
CLEANER = FastCleaner(NAMES)


def shown(page: str) -> str:
    return marked(runs(page, CLEANER.clean(page), NAMES))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("", ""),
        ("The mill stands.", "The mill stands."),
        ("The '''mill''' stands.", "The [-'''-]mill[-'''-] stands."),
        ("The [[mill]] stands.", "The [-[[-]mill[-]]-] stands."),
        ("The [[mill (building)|mill]] stands.", "The [-[[mill (building)|-](link)mill[-]]-] stands."),
        ("The mill<ref>A [[book]].</ref> stands.", "The mill[-<ref>A [[book]].</ref>-](note) stands."),
        ("The mill<ref name=a /> stands.", "The mill[-<ref name=a />-](note) stands."),
        ("The mill <!-- sic --> stands.", "The mill [-<!-- sic -->-](comment) stands."),
        ("The {{lang|fr|moulin}} stands.", "The [-{{lang|fr|-](template lang)moulin[-}}-](template lang) stands."),
        (
            "It is {{nosuchtemplate|by|the river}} in the town.",
            "It is [-{{nosuchtemplate|by|the river}}-](template nosuchtemplate: not known)[+…+] in the town.",
        ),
        (
            "A mill stands here.\n\n{|\n| a || b\n|}\n\nIt is old now.",
            "A mill stands here.\n\n[-{|\n| a || b\n|}-](table)\n\nIt is old now.",
        ),
        (
            "[[File:Mill.jpg|thumb|The mill]]The mill stands.\n[[Category:Mills]]",
            "[-[[File:Mill.jpg|thumb|The mill]]-](file, category or other language)The mill stands.\n"
            "[-[[Category:Mills]]-](file, category or other language)",
        ),
        (
            "The mill stands.\n\n== References ==\n* A book.\n\n== Later ==\nIt burnt.",
            "The mill stands.\n\n[-== References ==\n* A book.-](section References)\n\n"
            "[-==-] Later [-==-]\nIt burnt.",
        ),
        (
            "== Sources ==\nThe mills of this valley are described in a [[chronicle]] "
            "that a miller wrote in his old age.",
            "[-==-] Sources [-==-]\nThe mills of this valley are described in a [-[[-]chronicle[-]]-] "
            "that a miller wrote in his old age.",
        ),
        ("Two [[mill]]s of H<sub>2</sub>O.", "Two [-[[-]mill[-]]-]s of H[-<sub>-](tag sub)2[-</sub>-](tag sub)O."),
        ("Four&nbsp;mills &amp; more.", "Four[-&nbsp;-]mills &amp; more."),
        ("Four&thinsp;mills.", "Four[-&thinsp;-]mills."),
        ("The <x>old mill</x> stands.", "The [-<x>-](tag x)old mill[-</x>-](tag x) stands."),
        (
            "The <proof>a -> {b} : c</proof> stands <here>.",
            "The [-<proof>a -> {b} : c</proof>-](tag proof: code)[+…+] stands <here>.",
        ),
        ("* One mill\n* Two mills", "[-*-] One mill\n[-*-] Two mills"),
        (
            "See [https://example.org/mill the mill] and more.",
            "See [-[https://example.org/mill-](address) the mill[-]-] and more.",
        ),
        ("水車は[[川]]のそばに<ref>本</ref>立つ。", "水車は[-[[-]川[-]]-]のそばに[-<ref>本</ref>-](note)立つ。"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_marked(page: str, expected: str) -> None:
    assert shown(page) == expected


MARKS = [
    "a",
    "b",
    "{{",
    "}}",
    "[[",
    "]]",
    "|",
    "<",
    ">",
    "==",
    "*",
    "ref",
    "<ref>",
    "</ref>",
    "<wheel>",
    "</wheel>",
    "{|",
    "|}",
    "<!--",
    "-->",
]


@given(st.lists(st.sampled_from([*MARKS, "\n", " "])))
def test_joined_they_are_the_page(parts: list[str]) -> None:
    page = "".join(parts)
    assert "".join(run.text for run in runs(page, CLEANER.clean(page), NAMES) if run.kind != "+") == page


def test_a_long_page_takes_no_long_time() -> None:
    """Nothing in it is looked at more often than a few times, however it is nested."""
    for page in ("{{" * 20_000, "[[a|" * 10_000 + "]]" * 10_000, "<ref>" * 10_000, "a b c " * 20_000, "{{a}}" * 10_000):
        runs(page, CLEANER.clean(page), NAMES)
