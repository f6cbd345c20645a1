"""Templates: nothing of a text becomes markup, and the look keeps its contrast in both colour schemes."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError
from lxml import html

from esdedup.analysis.names import KINDS
from esdedup.output.aligned import align_cluster
from esdedup.output.html import environment, number, percent, short, style
from esdedup.plurals import plural
from tests.support.clusters import a_cluster
from tests.support.colours import contrast

HOSTILE = "<script>alert('1')</script>&amp;\"'\x00\x1b[31m\ud800 \u202ebackwards שלום"


def rendered(source: str, **values: object) -> str:
    return environment().from_string('{% import "parts.html" as parts %}' + source).render(**values)


def test_hostile_texts_are_only_text() -> None:
    page = rendered("<p title='{{ text }}'>{{ text }}</p>", text=HOSTILE)
    shown = "<script>alert('1')</script>&amp;\"'␀␛[31m\ufffd \u202ebackwards שלום"
    tree = html.fragment_fromstring(page, create_parent="div")
    assert [tree.find("p").get("title"), tree.find("p").text] == [shown, shown]
    assert not tree.findall(".//script")
    page.encode()


def test_an_aligned_cluster_shows_each_text_as_it_stands() -> None:
    texts = [
        "In  1990 A & B had\n7 <b>men</b>.",
        "In  1991 a & b had\n <b>men</b>.",
        "In  1991 A & B had\n7 <b>men</b>.",
    ]
    tree = html.fragment_fromstring(rendered("{{ parts.aligned(view) }}", view=align_cluster(a_cluster(texts))))
    paragraphs = tree.xpath(".//p[@class='text']")
    assert [paragraph.text_content().replace("∅", "") for paragraph in paragraphs] == [texts[0], texts[2], texts[1]]
    assert {paragraph.get("dir") for paragraph in paragraphs} == {"auto"}
    assert tree.xpath(".//li[3]//*[@class='spelled']/text()") == ["a", "b"]
    assert tree.xpath(".//li[3]//*[contains(@class, 'gap')]/text()") == ["∅"]
    assert tree.xpath(".//li[1]//mark/text()") == ["1990"]
    assert "Title 0 0:0" in " ".join(tree.xpath("string(.//li[1]/p[@class='who'])").split())


def test_a_page_says_itself_what_is_shown_of_a_sentence() -> None:
    source = "{% call(member) parts.aligned(view) %}<a href='/{{ member.id }}'>{{ member.title }}</a>{% endcall %}"
    tree = html.fragment_fromstring(rendered(source, view=align_cluster(a_cluster(["Same."] * 9, 3), rows=1)))
    assert tree.xpath(".//a/@href") == ["/0:0", "/1:0", "/2:0", "/3:0"]
    assert "and 5 more" in tree.text_content()


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        rendered("{{ nothing }}")


def test_numbers_are_told_as_people_read_them() -> None:
    assert [number(1234567), number(None)] == ["1,234,567", "–"]
    assert [short(value) for value in (0, 950, 1234, 34_000_000, 999_600)] == ["0", "950", "1.2 k", "34 M", "1.0 M"]
    assert [percent(value) for value in (0, 0.0004, 0.5, 0.9996, 1)] == ["0.0%", "<0.1%", "50.0%", ">99.9%", "100.0%"]
    assert [plural(1, "cluster"), plural(2000, "cluster"), plural(2, "copy", "copies")] == [
        "1 cluster",
        "2,000 clusters",
        "2 copies",
    ]


GROUNDS = {
    "paper": ["ink", "muted", "accent", "gone", "come"],
    "raised": ["ink", "muted", "accent"],
    "slot": ["ink"],
    "other": ["ink"],
    "gone-paper": ["gone"],
    "come-paper": ["come"],
    **{f"{name}-paper": [name] for name in ("of-other" if kind == "other" else kind for kind in KINDS)},
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(scheme: str) -> None:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for part in style().split("@media (prefers", 1)
    )
    colours = light if scheme == "light" else light | dark
    for ground, inks in GROUNDS.items():
        for ink in inks:
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["slot-line"], colours["paper"]) >= 3
    assert all(f".kind-{kind} {{" in style() for kind in KINDS)
    assert set(light) >= set(dark)
