"""Pages and records that are huge, nested, unbalanced or full of strange characters: bounded time and memory."""

from __future__ import annotations

import json
import time
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

import esdedup
from tests.support.commands import said
from tests.support.corpus import corpus
from tests.support.sources import export, page, revision
from tests.system.robustness.helpers import child, one_line

DEEP = 100_000
SOUND = " ".join(corpus(1, 6))
PEAK_MIB = 1024  # what --memory is by default

PEAK = """
import sys
from esdedup.cli import main
from tests.support.memory import peak_mib
try:
    main()
finally:
    print(peak_mib(), file=sys.stderr)
"""


def wiki_of(folder: Path, *texts: str) -> Path:
    """Hostile pages, and a sound one behind them."""
    path = folder / "wiki.xml"
    pages = [page(n, f"Hostile {n}", revision(n, escape(text))) for n, text in enumerate(texts)]
    path.write_bytes(export(*pages, page(len(pages), "Sound", revision(len(pages), SOUND))))
    return path


def huge(size: int = 50_000_000) -> str:
    """What a wiki can be made to hold: prose, tables, nested templates, one endless word."""
    prose = "\n\n".join(corpus(2, 200))
    table = "\n{| class=wikitable\n" + "|-\n| a || b || [[c|d]]\n" * 1000 + "|}\n"
    part = f"{prose}{table}" + "{{box|{{inner|1}}}}" * 20_000 + "<!--" + "x" * 400_000 + "-->\n\n"
    text = part * (size // len(part))
    return text + "word" * ((size - len(text)) // 4)


def test_a_page_of_50_mb(tmp_path: Path) -> None:
    began = time.monotonic()
    answer = child("index", wiki_of(tmp_path, huge()), "--store", "s.duckdb", "--json", cwd=tmp_path, code=PEAK)
    assert answer.code == 0, answer.err
    assert time.monotonic() - began < 45
    assert int(answer.err) < PEAK_MIB
    done = json.loads(answer.out)
    assert done["counts"]["documents"] == 2
    assert done["counts"]["sentences_kept"] > 100


HOSTILE = {
    "templates, open": "{{" * DEEP,
    "templates, closed": "{{" * DEEP + "}}" * DEEP,
    "links, open": "[[" * DEEP,
    "links, closed": "[[a|" * DEEP + "]]" * DEEP,
    "tables": "\n{|" * DEEP,
    "references": "<ref>" * DEEP,
    "lists": "\n" + "*" * DEEP + " a",
    "crossing": "[[a|{{b|" * (DEEP // 4) + "]]}}" * (DEEP // 4),
    "unbalanced": "''' [[ {{ {| <ref> ]] }} </b> '' == <nowiki> <!-- __ &" * 2000,
    "one word": "x" * 2_000_000,
    "no spaces": "水" * 500_000,
    "full stops": "." * 1_000_000,
    "bidirectional": ("\u202eword\u2066 \u200fword\u202c " * 20 + ". ") * 500,
    "joiners": "\U0001f468\u200d" * 100_000,
}


def test_no_page_takes_long_on_its_whole_way(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    said("index", wiki_of(tmp_path, SOUND), "--store", store)  # compiled before the clock starts
    source = wiki_of(tmp_path, *HOSTILE.values())
    began = time.monotonic()
    answer = said("index", source, "--store", store, "--json", "--fresh")
    assert time.monotonic() - began < 20
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["counts"]["documents"] == len(HOSTILE) + 1


STRETCHES = {
    "quotes, never closed": "\u201c" * 150_000,
    "guillemets, never closed": "\u00ab " * 100_000,
    "corner brackets": "\u300c\u3002" * 60_000,
    "apostrophes": "'" * 300_000,
    "combining marks": "a" + "\u0316\u0301" * 60_000,
    "combining marks, the wrong way round": "a" + "\u0301" * 40_000 + "\u0316" * 40_000,
}


@pytest.mark.parametrize("name", STRETCHES)
def test_no_stretch_of_one_character_takes_time_by_its_square(tmp_path: Path, name: str) -> None:
    source = tmp_path / "a.tsv"
    source.write_text(f"1\t{SOUND}\n2\t{STRETCHES[name]}\n")
    said("status", "--store", tmp_path / "s.duckdb")
    began = time.monotonic()
    answer = said("index", source, "--store", tmp_path / "s.duckdb", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["counts"]["documents"] == 2
    assert time.monotonic() - began < 5


def test_a_page_that_the_reference_path_gives_up_on_is_counted(tmp_path: Path) -> None:
    source, out = wiki_of(tmp_path, HOSTILE["templates, closed"]), tmp_path / "out"
    answer = said("run", source, "--out", out, "--json", "--wikitext", "reference")
    assert (answer.code, answer.err) == (0, "")
    summary = json.loads(answer.out)
    assert summary["skipped"]["unparsable_page"] == 1
    [place] = summary["sources"][0]["skipped"]["places"]["unparsable_page"]
    assert place.startswith("Hostile 0: ")


def test_surrogates_nul_and_direction_marks_come_out_as_they_can(tmp_path: Path) -> None:
    sentence = corpus(3, 1)[0]
    texts = {
        "surrogate": f"\ud800 {sentence} \udfff",
        "surrogate again": f"\ud800 {sentence} \udfff",
        "nul": f"{sentence} \0 after",
        "nul again": f"{sentence} \0 after",
        "bidi": f"\u202e{sentence}\u202c \u2066\u200f",
        "bidi again": f"\u202e{sentence}\u202c \u2066\u200f",
        "escape": f"\x1b[31m{sentence}\x07",
        "id \ud83d": sentence,
    }
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"id": key, "title": key + "\udc00", "text": text}) + "\n" for key, text in texts.items())
    )
    out = tmp_path / "out"
    answer = said("run", path, "--out", out, "--unit", "record", "--min-chars", "0", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["counts"]["documents"] == len(texts)
    members = {
        member["document"]: member["text"]
        for line in (out / "clusters.jsonl").read_text("utf-8").splitlines()
        for member in json.loads(line)["members"]
    }
    assert set(members) >= {"surrogate", "nul", "bidi"}
    assert members["surrogate"] == f"\ufffd {sentence} \ufffd"
    assert members["nul"] == texts["nul"]
    assert members["bidi"] == texts["bidi"].strip()
    listed = said("clusters", "--store", out / "store.duckdb", "--limit", "100")
    assert listed.code == 0
    assert list(esdedup.clusters(store=out / "store.duckdb"))


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a\udcff.txt", "b\udcff.txt"):
        (folder / name).write_text(SOUND)
    (tmp_path / "c\udcff.tsv").write_text(f"1\t{SOUND}\n")
    (tmp_path / "d\udcff.tsv.gz").write_bytes(b"no gzip at all")
    arguments = (
        "run",
        folder,
        tmp_path / "c\udcff.tsv",
        tmp_path / "d\udcff.tsv.gz",
        "--unit",
        "sentence",
        "--keep-going",
    )
    answer = said(*arguments, "--out", tmp_path / "out", "--json")
    assert answer.code == 1
    first, last = answer.err.splitlines()
    assert "d\\xff.tsv.gz: damaged near byte" in first
    assert "1 damaged or missing source" in last
    summary = json.loads(answer.out)
    assert [source["name"] for source in summary["sources"]] == ["texts", "texts", "c\\xff", "d\\xff"]
    assert summary["counts"]["documents"] == 3
    members = (tmp_path / "out" / "clusters.jsonl").read_text("utf-8")
    assert '"texts/a\\\\xff.txt:0"' in members


def test_a_source_with_an_empty_name(tmp_path: Path) -> None:
    # what a shell makes of "$unset"
    assert "empty name" in one_line(said("index", "", "--store", tmp_path / "s.duckdb"), 2)
