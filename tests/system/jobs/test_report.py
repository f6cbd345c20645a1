"""The page about the results: it needs nothing else, tells what there is, and holds no more than it may."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

import esdedup
from esdedup.errors import StoreError
from tests.support.dumps import dump
from tests.support.records import records, table
from tests.support.stores import RunJob, Stores
from tests.support.towns import LOOSE, pages
from tests.support.written import results

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'said' \x01\x1b[31m \u202eback\u202c שלום עולם {braces} {{two}}"
URL = re.compile(rb"(?:src|href|srcset|action|data)\s*=\s*\"(?!#|data:image/svg\+xml;base64,)", re.IGNORECASE)


def page(path: Path) -> html.HtmlElement:
    content = path.read_bytes()
    assert not URL.search(content)
    assert b"<script" not in content
    assert len(content) < 5_000_000
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", content.decode())
    tree = html.document_fromstring(content)
    assert [node.tag for node in tree.iter("script", "iframe", "object", "link", "base", "form", "style")] == ["style"]
    style = base64.b64encode(hashlib.sha256(tree.findtext(".//style").encode()).digest()).decode()
    [policy] = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{style}'; img-src data:;")
    assert not tree.xpath("//@style | //@onclick | //@onload | //@onerror")
    identities = tree.xpath("//@id")
    assert len(identities) == len(set(identities))
    assert {link.removeprefix("#") for link in tree.xpath("//a/@href")} <= set(identities)
    for picture in tree.xpath("//img/@src | //source/@srcset"):
        etree.fromstring(base64.b64decode(picture.partition(",")[2]))
    return tree


def section(tree: html.HtmlElement, name: str) -> str:
    """What stands between a heading and the next one, as text."""
    [heading] = tree.xpath(f"//h2[@id='{name}']")
    told = []
    for node in heading.itersiblings():
        if node.tag == "h2":
            break
        told += node.itertext()
    return " ".join(" ".join(told).split())


@pytest.mark.both_stores
def test_a_run_writes_a_page_with_what_was_found(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    wiki = dump(tmp_path / "wiki.xml", pages())
    summary = run(wiki, out=tmp_path / "out", report=True, **LOOSE)
    tree = page(tmp_path / "out" / "report.html")
    assert tree.findtext(".//title") == "Near-duplicates in wiki.xml"
    assert f"{summary['counts']['sentences_kept']} sentences of {len(pages())} documents" in tree.text_content()
    counts = section(tree, "counts")
    assert all(f"{name.replace('_', ' ')} {count:,} " in counts for name, count in summary["counts"].items())
    assert "template 1" in section(tree, "kinds")
    contradiction = section(tree, "contradictions")
    assert all(told in contradiction for told in ("18 apart", "35", "53", "Oram", "Silver", "2021-03-01", "newest"))
    assert "widows of Aram" in section(tree, "largest")
    templates = section(tree, "templates")
    assert "{subject} lies on the long river" in templates
    assert all(told in templates for town in [("Arlen", "4,120"), ("Brumo", "77")] for told in town)
    assert "Nothing." in section(tree, "skipped") or summary["skipped"]
    assert "bands 20 default: 10" in section(tree, "settings")
    again = section(tree, "again").replace("\\ ", "")
    assert f"esdedup run {wiki}" in again
    assert "--bands 20 --rows 2 --jaccard 0.5" in again
    assert ("--store http" in again) == stores.on_server
    assert f"{wiki.stat().st_size:,} bytes" in again


def test_the_same_results_give_the_same_page_in_every_store(
    tmp_path: Path, elastic_url: str, elastic_prefix: str
) -> None:
    wiki = dump(tmp_path / "wiki.xml", pages())
    told = []
    for store in (str(tmp_path / "s.duckdb"), f"{elastic_url}/{elastic_prefix}"):
        esdedup.run(wiki, out=tmp_path / "out", store=store, **LOOSE)
        first = (tmp_path / "out" / "report.html").read_bytes()
        assert [path.name for path in esdedup.report(store=store, out=tmp_path / "again")] == [
            "report.html", "cluster-sizes.png", "kinds.png", "cluster-sizes.svg", "kinds.svg",
        ]  # fmt: skip
        assert (tmp_path / "again" / "report.html").read_bytes() == first
        told.append(re.sub(r" (\\\s+)?--store \S+", "", first.decode()))
    assert told[0] == told[1]


def test_without_a_page_everything_else_is_the_same(tmp_path: Path, run: RunJob) -> None:
    source = table(tmp_path / "news.tsv", records())
    one = run(source, out=tmp_path / "one", unit="record", min_chars=0, report=True)
    two = run(source, out=tmp_path / "two", unit="record", min_chars=0, report=False)
    assert not (tmp_path / "two" / "report.html").exists()
    assert results(tmp_path / "one") == results(tmp_path / "two")
    told = [
        {name: value for name, value in some.to_dict().items() if name not in ("seconds", "peak_memory_mb")}
        for some in (one, two)
    ]
    assert told[0] == told[1]
    assert (tmp_path / "one" / "cluster-sizes.png").read_bytes() == (
        tmp_path / "two" / "cluster-sizes.png"
    ).read_bytes()
    run(source, out=tmp_path / "one", unit="record", min_chars=0, report=False)
    assert not (tmp_path / "one" / "report.html").exists()


def test_hostile_texts_and_names_are_only_text(tmp_path: Path, run: RunJob) -> None:
    documents = [
        {"id": f"<b>{number}</b>" + "9" * 300, "title": HOSTILE, "text": f"{HOSTILE} has {number} {'words ' * size}end"}
        for size in (10, 2000)
        for number in (17, 44, 45)
    ]
    source = tmp_path / "<i>a'b\"&.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in documents) + "{no json <script>\n", "utf-8")
    run(source, out=tmp_path / "out", unit="record", min_chars=0, max_chars=100_000, jaccard=0.5, report=True)
    tree = page(tmp_path / "out" / "report.html")
    assert tree.findtext(".//title") == "Near-duplicates in <i>a'b\"&.jsonl"
    texts = ["".join(node.itertext()) for node in tree.xpath("//p[@class='text']")]
    assert any(
        text.startswith("<script>alert(1)</script> & \"quoted\" 'said' ␁␛[31m \u202eback\u202c שלום") for text in texts
    )
    assert {node.get("dir") for node in tree.xpath("//p[contains(@class, 'text')]")} == {"auto"}
    assert any("characters not shown" in title for title in tree.xpath("//span[@class='cut']/@title"))
    assert "lines that are not valid JSON" in section(tree, "skipped")


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": False},
        {"verify": "none"},
        {"jaccard": 1.0, "rows": 10, "bands": 1},
        {"exact": True},
        {"candidates": "projection", "verify": "cosine"},
        {"linkage": "star", "across": "documents"},
        {"candidates": "queries", "reciprocal": True, "same_first_word": True},
    ],
    ids=str,
)
def test_every_kind_of_scan_has_its_page(tmp_path: Path, options: dict[str, Any]) -> None:
    source = table(tmp_path / "news.tsv", records(3, 120))
    summary = esdedup.run(source, out=tmp_path / "out", unit="record", min_chars=0, **options)
    tree = page(tmp_path / "out" / "report.html")
    assert ("Clusters were not classified" in section(tree, "kinds")) == (options.get("kinds") is False)
    assert ("Nothing was verified" in tree.text_content()) == (options.get("verify") == "none")
    assert "identical or nearly identical records" in " ".join(tree.text_content().split())
    assert len(tree.xpath("//h2[@id='largest']/following-sibling::details[summary]")) >= min(
        10, summary["counts"]["clusters"]
    )
    names = {path.name for path in esdedup.report(store=tmp_path / "out" / "store.duckdb", out=tmp_path / "more")}
    assert ("kinds.svg" in names) == bool(summary["kinds"])


def test_the_commands_of_a_page_do_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (table(tmp_path / f"{name} x.csv", records(seed, 60)) for name, seed in (("it's", 1), ("b", 2)))
    options: dict[str, Any] = {"format": "tsv", "header": False, "id_column": "1", "text_column": "2"}
    scanning: dict[str, Any] = {"candidates": "queries", "reciprocal": True, "word_edit_distance": 9, "kinds": False}
    esdedup.run(one, two, out=tmp_path / "out", unit="record", min_chars=0, seed=5, **options, **scanning)
    [shown] = page(tmp_path / "out" / "report.html").xpath("//pre")
    monkeypatch.chdir(tmp_path)
    assert os.system(shown.text_content().replace("esdedup ", "python -m esdedup ")) == 0
    assert results(tmp_path / "found") == results(tmp_path / "out")
    assert (tmp_path / "found" / "report.html").read_bytes() == (tmp_path / "out" / "report.html").read_bytes()


def test_nothing_found_and_nothing_scanned(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    source = table(tmp_path / "news.tsv", [("a", "One text alone.")])
    esdedup.index(source, store=stores.at(tmp_path), unit="record", min_chars=0)
    with pytest.raises(StoreError, match="not scanned yet"):
        esdedup.report(store=stores.at(tmp_path), out=tmp_path / "out")
    run(source, out=tmp_path / "out", unit="record", min_chars=0, report=True)
    tree = page(tmp_path / "out" / "report.html")
    for name in ("kinds", "sizes", "largest"):
        assert section(tree, name) == "There are no clusters."
    assert section(tree, "contradictions") == section(tree, "templates") == "None found."


def test_a_page_of_very_many_and_very_large_clusters_stays_small(tmp_path: Path, run: RunJob) -> None:
    rows = [
        (f"c{number}", "The same sentence stands here again and again in very many places.") for number in range(3000)
    ]
    for frame in range(30):
        for number in range(40):
            rows.append(
                (f"t{frame}x{number}", f"In frame {frame} {'many words ' * 60} the number {number * 7919} stands.")
            )
    run(
        table(tmp_path / "many.tsv", rows),
        out=tmp_path / "out",
        unit="record",
        min_chars=0,
        max_chars=9999,
        report=True,
    )
    tree = page(tmp_path / "out" / "report.html")
    assert "3,000×" in section(tree, "largest")
    assert "and 2,996 more" in section(tree, "largest")
    assert (tmp_path / "out" / "report.html").stat().st_size < 1_000_000
