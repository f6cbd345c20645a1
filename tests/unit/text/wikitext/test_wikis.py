"""What depends on the wiki: what the names of templates mean, and language variants. Both paths."""

from __future__ import annotations

import re

import pytest

from esdedup.text.wikitext.cleaning import site
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.rules import Names
from esdedup.text.wikitext.worker import clean


def _both(page: str, names: Names) -> str:
    fast, reference = (
        re.sub(r"[\U000e0100-\U000e01ef]", "", text)
        for text in (FastCleaner(names).clean(page), clean(page, names, True))
    )
    assert fast == reference
    return fast


@pytest.mark.parametrize(
    ("database", "address", "expected"),
    [
        ("enwiki", "", "en.wikipedia"),
        ("zh_min_nanwiki", "", "zh-min-nan.wikipedia"),
        ("simplewiki", "", "simple.wikipedia"),
        ("frwiktionary", "", "fr.wiktionary"),
        ("dewikivoyage", "https://en.wikipedia.org/wiki/Main", "de.wikivoyage"),
        ("", "https://sr.wikipedia.org/wiki/Main", "sr.wikipedia"),
        ("", "http://la.m.wiktionary.org/", "la.wiktionary"),
        ("commonswiki", "https://commons.wikimedia.org/wiki/Main_Page", ""),
        ("millwiki", "https://mill.example/wiki/Main", ""),
        ("", "", ""),
    ],
)
def test_the_wiki_is_known_by_its_database_or_its_address(database: str, address: str, expected: str) -> None:
    assert site(database, address) == expected


@pytest.mark.parametrize(
    ("wiki", "page", "expected"),
    [
        ("en.wikipedia", "It is 3 {{m}} long.", "It is 3 m long."),
        ("en.wiktionary", "It is from {{m|la|minutus}} there.", "It is from minutus there."),
        ("en.wiktionary", "It is from {{m|la|minutus||small}} there.", "It is from minutus there."),
        ("en.wiktionary", "It is from {{l|en|mill|mills}} there.", "It is from mills there."),
        ("en.wikisource", "It is from {{m|la|minutus}} there.", "It is from … there."),
        ("", "It is from {{m|la|minutus}} there.", "It is from … there."),
        ("", "It is {{nowrap|old}} there.", "It is old there."),
        ("en.wikivoyage", "{{Marker|type=see|name=[[Mill]]|lat=1}} is old.", "Mill is old."),
        ("en.wikivoyage", "* {{see|name=Mill|lat=1|content=It is old.}}", "Mill. It is old."),
        ("en.wikipedia", "{{Marker|name=Mill}} is old.", "… is old."),
        ("fr.wikipedia", "Le XX{{e}} siècle a 10{{e|8}} moulins.", "Le XXe siècle a 10^8 moulins."),
        ("en.wikipedia", "It has 3{{e|8}} mills.", "It has 3×10^8 mills."),
    ],
)
def test_a_name_means_what_it_means_in_its_wiki(wiki: str, page: str, expected: str) -> None:
    assert _both(page, Names(site=wiki)) == expected


@pytest.mark.parametrize(
    ("language", "page", "expected"),
    [
        ("zh", "这是-{zh-hans:软件; zh-hant:軟體}-的", "这是软件的"),
        ("zh", "这是-{zh-hant:軟體; zh-hans:软件;}-的", "这是软件的"),
        ("zh", "这是-{zh-tw:軟體; zh-hk:軟件}-的", "这是軟體的"),
        ("zh", "这是-{ zh-cn : [[软件|软]] ; zh-tw : 軟體 }-的", "这是软的"),
        ("zh", "这是-{A|zh-cn:信息;zh-tw:資訊}-的", "这是信息的"),
        ("zh", "这是-{+|zh-cn:信息;zh-tw:資訊}-的", "这是信息的"),
        ("zh", "这是-{R|于}-的", "这是于的"),
        ("zh", "这是-{计算机}-的", "这是计算机的"),
        ("zh", "这是-{zh;zh-hans|计算机}-的", "这是计算机的"),
        ("zh", "这是-{H|zh-cn:盘;zh-tw:碟}-的-{T|zh-cn:盘}--{-|zh-cn:盘}--{}-。", "这是的。"),
        ("zh", "这是-{H|大陆=>zh-cn:盘;台湾=>zh-tw:碟}-的", "这是的"),
        ("zh", "这是-{大陆=>zh-tw:碟;大陆=>zh-cn:盘}-的", "这是盘的"),
        ("zh", "这是-{zh-hans:甲-{zh-hans:乙;zh-hant:丙}-丁;zh-hant:戊}-的", "这是甲乙丁的"),
        ("zh", "这是-{zh-hans:{{lang|zh|软件}};zh-hant:軟體}-的", "这是软件的"),
        ("zh", "这是{{lang|zh|-{zh-hans:软件;zh-hant:軟體}-}}的", "这是软件的"),
        ("zh", "这是-{zh-hans:a&nbsp;b;zh-hant:c}-的", "这是a b的"),
        ("zh", "这是[[域|-{zh-cn:域;zh-tw:體}-]]的", "这是域的"),
        ("zh", "这是-{D|zh-cn:盘;zh-tw:碟}-的", "这是…的"),
        ("zh", "这是-{zh-hans:软件的", "这是-{zh-hans:软件的"),
        ("zh", "这是甲-{{lang|zh|软件}}-的", "这是甲-软件-的"),
        ("zh", "这是a: 1; b-{x|y: 2; z}-的", "这是a: 1; bx|y: 2; z的"),
        ("sr", "То је -{Linux}- и -{sr-ec:један; sr-el:jedan}-.", "То је Linux и један."),
        ("kk", "Бұл -{kk-arab:x; kk-cyrl:диірмен}-.", "Бұл диірмен."),
        ("uz", "Bu -{uz-cyrl:x; uz:tegirmon}-.", "Bu tegirmon."),
        ("en", "The name is 2-{[(3a)]amino}-acid and x-{y}-z.", "The name is 2-{[(3a)]amino}-acid and x-{y}-z."),
        ("yue", "x-{y}-z", "x-{y}-z"),
    ],
)
def test_one_variant_is_shown_always_the_same(language: str, page: str, expected: str) -> None:
    assert _both(page, Names(site=f"{language}.wikipedia")) == expected
    assert _both(page, Names(language=language)) == expected


def test_variants_without_an_end_are_linear() -> None:
    cleaner = FastCleaner(Names(language="zh"))
    for page in (
        "-{" * 200_000,
        "-{a;" * 100_000,
        "-{" * 50_000 + "a" + "}-" * 50_000,
        "-{" + "zh-cn:a;" * 50_000 + "}-",
    ):
        assert len(cleaner.clean(page)) <= len(page)
