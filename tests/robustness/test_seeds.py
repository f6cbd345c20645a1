"""Small nasty files of our own, each as a source of its own, through the whole command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import esdedup
from esdedup.wikitext.fast import FastCleaner
from esdedup.wikitext.reference import ReferenceCleaner
from esdedup.wikitext.rules import Names
from tests.robustness.helpers import only_line, said
from tests.sources.helpers import export, page, revision

SEEDS = Path(__file__).parent / "seeds"
SOURCES = sorted(path.name for path in SEEDS.iterdir() if path.suffix in (".tsv", ".csv", ".jsonl", ".xml", ".txt"))
PAGES = sorted(path.name for path in SEEDS.glob("*.wiki"))

WRONG_USAGE = {"no-text.csv"}
DAMAGED = {
    "cut.xml", "two-roots.xml", "doctype.xml", "doctype-with-mark.xml", "entity.xml", "strange-root.xml",
    "characters.xml", "wrong-encoding.xml", "unknown-encoding.xml", "no-xml.xml",
}  # fmt: skip
DOCUMENTS = {
    "bidi.tsv": 3, "nul.tsv": 2, "bad-utf8.tsv": 0, "bom.tsv": 2, "utf16.tsv": 0, "same-ids.tsv": 6,
    "large-numbers.tsv": 5, "quotes.csv": 5, "unclosed.csv": 1, "header-only.csv": 0, "same-names.csv": 1, "bom.csv": 1,
    "bytes.csv": 1, "ragged.csv": 2, "deep.jsonl": 1, "bom.jsonl": 1, "surrogates.jsonl": 3, "numbers.jsonl": 4,
    "same-keys.jsonl": 1, "sound.xml": 2, "no-root.xml": 2, "no-root-with-mark.xml": 2, "cut.xml": 1, "two-roots.xml": 1,
    "doctype.xml": 0, "entity.xml": 1, "prefixes.xml": 1, "utf16.xml": 1, "latin1.xml": 1, "no-wiki.xml": 0,
    "white-space.txt": 0, "controls.txt": 1, "bad-utf8.txt": 1, "quotes.txt": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_seed_is_read_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    source = shutil.copy(SEEDS / name, tmp_path / name)
    store = tmp_path / "s.duckdb"
    answer = said("index", source, "--store", store, "--min-chars", "0", "--json")
    assert answer.code == (2 if name in WRONG_USAGE else 1 if name in DAMAGED else 0), answer.err
    if answer.code:
        assert str(source) in only_line(answer.err)
        answer = said("index", source, "--store", store, "--min-chars", "0", "--json", "--keep-going")
        assert answer.code == (2 if name in WRONG_USAGE else 1)
    elif answer.err:
        only_line(answer.err)
    if name in DOCUMENTS:
        assert esdedup.status(store=store)["counts"]["documents"] == DOCUMENTS[name]


def test_all_seeds_together(tmp_path: Path) -> None:
    sources = []
    for name in sorted(set(SOURCES) - WRONG_USAGE):
        # file names without their endings name sources, and must differ
        seed = SEEDS / name
        sources.append(shutil.copy(seed, tmp_path / f"{seed.stem}-{seed.suffix[1:]}{seed.suffix}"))
    answer = said("run", *sources, "--out", tmp_path / "out", "--min-chars", "0", "--keep-going", "--json")
    assert answer.code == 1
    assert answer.err.endswith(f"esdedup: {len(DAMAGED)} damaged or missing sources; the rest is done\n")
    assert "Traceback" not in answer.err
    summary = json.loads(answer.out)
    assert len(summary["damaged"]) == len(DAMAGED)
    assert summary["counts"]["clusters"] > 0
    for line in (tmp_path / "out" / "clusters.jsonl").read_text("utf-8").splitlines():
        json.loads(line)


@pytest.mark.parametrize("name", PAGES)
def test_a_seed_of_markup_is_cleaned_by_both_paths(tmp_path: Path, name: str) -> None:
    text = (SEEDS / name).read_bytes().decode()
    fast = FastCleaner(Names())
    cleaned = fast.clean(text)
    assert cleaned == fast.clean(text)
    assert "\n\n\n" not in cleaned
    with ReferenceCleaner(Names()) as reference:
        assert reference.clean(text) == reference.clean(text)


def test_seeds_of_markup_as_pages_of_a_wiki(tmp_path: Path) -> None:
    from lxml.etree import Element, tostring

    texts = []
    for name in PAGES:
        element = Element("text")
        # what XML cannot carry a dump does not hold
        element.text = "".join(c for c in (SEEDS / name).read_bytes().decode() if c >= " " or c in "\t\n\r")
        texts.append(tostring(element, encoding="unicode")[len("<text>") : -len("</text>")])
    path = tmp_path / "wiki.xml"
    path.write_bytes(
        export(*(page(n, name, revision(n, text)) for n, (name, text) in enumerate(zip(PAGES, texts, strict=True), 1)))
    )
    results = []
    for way in ("fast", "reference"):
        answer = said("run", path, "--out", tmp_path / way, "--wikitext", way, "--min-chars", "0", "--json")
        assert (answer.code, answer.err) == (0, "")
        results.append(esdedup.status(store=tmp_path / way / "store.duckdb")["counts"]["documents"])
    assert results == [len(PAGES), len(PAGES)]
