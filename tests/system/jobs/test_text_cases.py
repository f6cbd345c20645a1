"""Small inputs of the shared data, made after reports about other programs, and what is right for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import esdedup

_LAW = "In the chapter about classical motion the author writes that {} holds for every body in the universe."

CASES = {
    "08-wikitext-magic-words-in-arguments/in.xml": [
        [_LAW.format(law)] for law in ("F = ma", "E = mc", "p = mv", "a|b", "a|c")
    ],
    "09-wikitext-table-without-end/in.xml": [
        ["Text of the page.", "After."],
        ["Text of the page."],
        ["Text.", "After."],
        ["Text.", "Next", "After."],
    ],
    "10-wikitext-unclosed-comment/in.xml": [["The mill stands here."], []],
    "11-wikitext-language-variants/zh.xml": [
        ["这是软件的文章，这里还有信息以及计算机的内容。"],
        ["性质被探讨于群、环、域等系统中，因数值模式研究的出现而比往日式微，于尔班负责。"],
    ],
    "11-wikitext-language-variants/en.xml": [
        ["The name is 2-{[(3a,5b)-3-oxo]amino}ethanesulfonic acid and x-{y}-z in chemistry."]
    ],
    "12-wikitext-powers-and-dates/in.xml": [
        ["The mass is 3×10^8 kg and 2.5×10^-3 m and 6.02×10^23 here."],
        ["It had, As of 12 March 2015, nine mills."],
        ["Arlo (born 6 May 1990) is a miller. It closed on 3 February 2001."],
        ["Kinds are", "one", "two", "here."],
    ],
}


@pytest.mark.parametrize("wikitext", ["fast", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_the_text_of_each_page_is_what_a_reader_sees(data_folder: Path, name: str, wikitext: str) -> None:
    path = data_folder / "cases" / name
    found = [page.text.split("\n\n") for page in esdedup.extract(path, wikitext=wikitext, quiet=True)]
    assert found == [blocks for blocks in CASES[name] if blocks]


def test_different_statements_are_no_pair(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "cases" / "08-wikitext-magic-words-in-arguments" / "in.xml"
    esdedup.run(path, out=tmp_path, quiet=True)
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert all(pair["jaccard"] < 1 for pair in pairs)


def test_fold_ignores_width_and_case(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "cases" / "13-fold-width-and-case" / "in.jsonl"
    esdedup.dedupe(path, out=tmp_path, jaccard=0.3, candidates="exact", quiet=True)
    drops = [json.loads(line) for line in (tmp_path / "drops.jsonl").read_text("utf-8").splitlines()]
    assert {drop["id"]: drop["kept"] for drop in drops} == {
        "w2": "w1", "w3": "w1", "w4": "w1", "g2": "g1", "g3": "g1", "k2": "k1", "n2": "n1", "bi2": "bi1", "q2": "q1",
        "bom2": "bom1",
    }  # fmt: skip
    assert {drop["jaccard"] for drop in drops} == {1.0}
