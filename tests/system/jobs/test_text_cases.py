"""Small inputs of the shared data, made after reports about other programs, and what is right for them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.errors import SourceError, UsageError
from tests.support.dumps import Page, part
from tests.support.written import lines

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
    clusters = lines(tmp_path / "clusters.jsonl")
    assert all(cluster["distinct"] == cluster["size"] for cluster in clusters), "no two are identical"


def test_fold_ignores_width_and_case(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "cases" / "13-fold-width-and-case" / "in.jsonl"
    esdedup.dedupe(path, out=tmp_path, jaccard=0.3, candidates="exact", quiet=True)
    drops = lines(tmp_path / "drops.jsonl")
    assert {drop["id"]: drop["kept"] for drop in drops} == {
        "w2": "w1", "w3": "w1", "w4": "w1", "g2": "g1", "g3": "g1", "k2": "k1", "n2": "n1", "bi2": "bi1", "q2": "q1",
        "bom2": "bom1",
    }  # fmt: skip
    assert {drop["jaccard"] for drop in drops} == {1.0}


@pytest.mark.parametrize(
    ("name", "rows"),
    [("04-csv-line-ends/cr.tsv", 3), ("14-json-array-and-utf16/arr.json", 3), ("14-json-array-and-utf16/u16.csv", 3)],
)
def test_every_row_is_read(data_folder: Path, tmp_path: Path, name: str, rows: int) -> None:
    done = esdedup.dedupe(data_folder / "cases" / name, out=tmp_path, quiet=True)
    assert (done.records["in"], done.records["dropped"]["identical"]) == (rows, 1)


def test_line_ends_change_no_row(data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "cases" / "04-csv-line-ends"
    told = [
        esdedup.dedupe(path / f"{end}.csv", out=tmp_path / end, text_column="note", quiet=True).records
        for end in ("lf", "crlf", "cr")
    ]
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("18-csv-unclosed-quote/in.csv", SourceError, "opens at line 11 is never closed"),
        ("14-json-array-and-utf16/commalines.jsonl", UsageError, "holds an array"),
    ],
)
def test_what_cannot_be_read_is_said(
    data_folder: Path, tmp_path: Path, name: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        esdedup.dedupe(data_folder / "cases" / name, out=tmp_path, quiet=True)
    assert not (tmp_path / Path(name).name).exists()


@pytest.mark.parametrize("name", ["polars-1.38.0", "sv-other", "sv-text"])
def test_views_are_written_again(data_folder: Path, tmp_path: Path, name: str) -> None:
    path = data_folder / "cases" / "07-parquet-string-view" / f"{name}.parquet"
    done = esdedup.dedupe(path, out=tmp_path, quiet=True)
    assert done.records["dropped"]["identical"] == 1
    assert pq.read_schema(tmp_path / path.name).equals(pq.read_schema(path))
    assert pq.read_metadata(tmp_path / path.name).num_rows == done.records["kept"]


def test_each_that_goes_names_another(data_folder: Path, tmp_path: Path) -> None:
    esdedup.dedupe(data_folder / "cases" / "15-survivors" / "in.jsonl", out=tmp_path, keep="none", quiet=True)
    drops = lines(tmp_path / "drops.jsonl")
    assert {drop["id"] for drop in drops} == set("abc")
    assert all(drop["reason"] == "near" and drop["other"] != drop["id"] and drop["jaccard"] < 1 for drop in drops)


def test_an_empty_list_has_any_column() -> None:
    assert esdedup.dedupe([], columns=["c1", "c2"], id_column="id", quiet=True).kept == []


@pytest.mark.parametrize(
    ("wiki", "text"), [("enwiktionary", "It is from minutus there."), ("enwikivoyage", "It is from … there.")]
)
def test_the_name_of_the_wiki_reaches_the_cleaner(tmp_path: Path, wiki: str, text: str) -> None:
    path = part(tmp_path / "w.xml", wiki, [Page(1, 1, "It is from {{m|la|minutus}} there.")])
    esdedup.dedupe(path, out=tmp_path / "out", min_chars=0, quiet=True)
    [read], [written] = esdedup.extract(path, quiet=True), lines(tmp_path / "out" / "w.jsonl")
    assert read.text == written["text"]
    assert "".join(sign for sign in read.text if sign < "\U000e0100") == text, "without the marks of holes"
