"""Small nasty files of our own, each as a source of its own, through the whole command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names
from tests.support.commands import said
from tests.support.sources import export, page, revision
from tests.system.robustness.helpers import one_line

SEEDS = Path(__file__).parent / "seeds"
SOURCES = sorted(path.name for path in SEEDS.iterdir() if path.suffix in (".tsv", ".csv", ".jsonl", ".xml", ".txt"))
PAGES = sorted(path.name for path in SEEDS.glob("*.wiki"))

WRONG_USAGE = {"no-text.csv"}
DAMAGED = {
    "cut.xml", "two-roots.xml", "doctype.xml", "doctype-with-mark.xml", "entity.xml", "strange-root.xml",
    "characters.xml", "wrong-encoding.xml", "unknown-encoding.xml", "no-xml.xml", "carriage-returns.tsv",
    "unclosed.csv",
}  # fmt: skip
DOCUMENTS = {
    "bidi.tsv": 3, "nul.tsv": 2, "bad-utf8.tsv": 0, "bom.tsv": 2, "utf16.tsv": 1, "same-ids.tsv": 6,
    "large-numbers.tsv": 5, "quotes.csv": 5, "unclosed.csv": 1, "header-only.csv": 0, "same-names.csv": 1, "bom.csv": 1,
    "bytes.csv": 1, "ragged.csv": 2, "deep.jsonl": 1, "bom.jsonl": 1, "surrogates.jsonl": 3, "numbers.jsonl": 4,
    "same-keys.jsonl": 1, "sound.xml": 2, "no-root.xml": 2, "no-root-with-mark.xml": 2, "cut.xml": 1,
    "two-roots.xml": 1, "doctype.xml": 0, "entity.xml": 1, "prefixes.xml": 1, "utf16.xml": 1, "latin1.xml": 1,
    "no-wiki.xml": 0, "white-space.txt": 0, "controls.txt": 1, "bad-utf8.txt": 1, "quotes.txt": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """One run over all that can be sources: what it said, and its summary."""
    folder = tmp_path_factory.mktemp("seeds")
    # the ending goes into the stem, which names a source
    copies = [
        shutil.copy(SEEDS / name, folder / f"{name}{Path(name).suffix}") for name in SOURCES if name not in WRONG_USAGE
    ]
    answer = said("run", *copies, "--out", folder / "out", "--min-chars", "0", "--unit", "sentence",
                  "--keep-going", "--json")  # fmt: skip
    assert answer.code == 1
    for line in (folder / "out" / "clusters.jsonl").read_text("utf-8").splitlines():
        json.loads(line)
    return answer.err, json.loads(answer.out)


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in WRONG_USAGE])
def test_a_seed_is_read_up_to_its_damage(together: tuple[str, dict[str, Any]], name: str) -> None:
    said_of_it = [line for line in together[0].splitlines() if f"/{name}" in line]
    # texts of one folder are one source, and share its name
    [source] = [source for source in together[1]["sources"] if f"/{name}" in source["path"]]
    assert source["skipped"]["counts"].get("damaged_source", 0) == (name in DAMAGED)
    assert len(said_of_it) <= 1
    if name in DAMAGED:
        assert said_of_it[0] == f"esdedup: {source['skipped']['places']['damaged_source'][0]}"
    if name in DOCUMENTS:
        assert source["documents"] == DOCUMENTS[name]


def test_every_seed_that_is_spoken_of_is_there() -> None:
    assert set(SOURCES) >= WRONG_USAGE | DAMAGED | DOCUMENTS.keys()
    assert len(PAGES) > 5


def test_all_seeds_together_end_in_one_summary(together: tuple[str, dict[str, Any]]) -> None:
    err, summary = together
    assert err.endswith(f"esdedup: {len(DAMAGED)} damaged or missing sources; the rest is done\n")
    assert "Traceback" not in err
    assert len(summary["damaged"]) == len(DAMAGED)
    assert summary["counts"]["clusters"] > 0


@pytest.mark.parametrize("name", sorted(DAMAGED | WRONG_USAGE))
def test_a_seed_alone_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    source = shutil.copy(SEEDS / name, tmp_path / name)
    answer = said("index", source, "--store", tmp_path / "s.duckdb")
    assert str(source) in one_line(answer, 2 if name in WRONG_USAGE else 1)


@pytest.fixture(scope="module")
def reference() -> Iterator[ReferenceCleaner]:
    with ReferenceCleaner(Names()) as cleaner:
        yield cleaner


@pytest.mark.parametrize("name", PAGES)
def test_a_seed_of_markup_is_cleaned_by_both_paths(reference: ReferenceCleaner, name: str) -> None:
    text = (SEEDS / name).read_bytes().decode()
    fast = FastCleaner(Names())
    cleaned = fast.clean(text)
    assert cleaned == fast.clean(text)
    assert "\n\n\n" not in cleaned
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
    path.write_bytes(export(*(page(n, PAGES[n], revision(n, text)) for n, text in enumerate(texts))))
    results = []
    for way in ("fast", "reference"):
        answer = said("run", path, "--out", tmp_path / way, "--wikitext", way, "--min-chars", "0", "--json")
        assert (answer.code, answer.err) == (0, "")
        results.append(esdedup.status(store=tmp_path / way / "store.duckdb")["counts"]["documents"])
    assert results == [len(PAGES), len(PAGES)]
