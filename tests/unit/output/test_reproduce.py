"""Commands that do it again: what they name, and that they mean what was done."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from esdedup.cli import cli
from esdedup.formats.reading_options import Reading
from esdedup.jobs.settings import Settings
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from esdedup.output.reproduce import commands, defaults, state
from esdedup.store.ledger import SourceCheckpoint

USUAL: dict[str, Any] = {**Signing().described(), **Scanning().described()}


def mark(path: str, name: str, *, qualified: bool = False, **reading: Any) -> SourceCheckpoint:
    how = Reading.of(**reading).remembered()
    return SourceCheckpoint(name, path, f"12 bytes, changed at 1700000000123456789, read with {how}", qualified)


def words(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", " "))


def test_nothing_but_the_source_is_named_where_all_is_as_usual() -> None:
    assert commands([mark("/data/a.xml", "a")], USUAL, "/old/s.duckdb") == [
        "esdedup run /data/a.xml --out found",
        "esdedup report --store found/store.duckdb --out found",
    ]


def test_names_are_quoted_and_secrets_stay_away() -> None:
    told = commands([mark("/my data/it's $HOME.xml", "it's $HOME")], USUAL, "https://me:secret@host:9200/wiki?key=1")
    assert words(told[0])[2] == "/my data/it's $HOME.xml"
    assert words(told[0])[3:5] == words(told[1])[2:4] == ["--store", "https://host:9200/wiki"]
    assert "secret" not in "".join(told)
    assert "cloud:/wiki" in commands([], USUAL, "cloud:/wiki")[1]


def test_sources_that_were_read_in_different_ways_have_their_own_commands() -> None:
    marks = [
        mark("/d/a.tsv", "a", qualified=True, limit=5),
        mark("/d/b.tsv", "b", qualified=True, limit=5),
        mark("/d/c.tsv", "other", qualified=True, id_column="line", header=False, namespaces=(0, 14)),
        mark("/d/texts/x/1.txt", "texts"),
        mark("/d/texts/y/2.txt", "texts"),
        mark("/d/e.tsv", "e", contributors=False),
    ]
    told = commands(marks, USUAL | {"min-chars": 9, "jaccard": 0.9, "kinds": False}, "s.duckdb")
    assert [words(command)[1:] for command in told] == [
        ["index", "/d/a.tsv", "/d/b.tsv", "--limit", "5", "--unit", "sentence", "--min-chars", "9",
         "--store", "found/store.duckdb"],
        ["index", "/d/c.tsv", "--no-header", "--id-column", "line", "--namespaces", "0,14", "--source-name", "other",
         "--store", "found/store.duckdb"],
        ["index", "/d/texts", "--store", "found/store.duckdb"],
        ["index", "/d/e.tsv", "--no-contributors", "--store", "found/store.duckdb"],
        ["scan", "--jaccard", "0.9", "--no-kinds", "--store", "found/store.duckdb", "--out", "found"],
        ["report", "--store", "found/store.duckdb", "--out", "found"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"hashes": 20, "draw": 10, "draws": 10, "linkage": "star"},
        {"candidates": "projection", "verify": "cosine", "cosine": 0.95, "vector_length": 64, "hamming": 3},
        {"candidates": "queries", "verify": "words", "word_edit_distance": 5, "reciprocal": True, "top": 3},
        {"candidates": "agreement", "agreement": 0.4, "signature": 100},
        {"unit": "sentence", "shingle": "word:3", "lang": "de", "seed": 7, "verify": "none", "across": "sources"},
    ],
    ids=str,
)
def test_flags_mean_what_was_done(options: dict[str, Any]) -> None:
    signing = {name: value for name, value in options.items() if name in Signing.all_names()}
    scanning = Scanning.of(**{name: value for name, value in options.items() if name not in signing})
    settings = {**Signing.of(**signing).described(), **scanning.described()}
    run = cli.get_command(None, "run")  # type: ignore[arg-type]
    assert run is not None
    given = run.make_context("run", words(commands([mark("/d/a.tsv", "a")], settings, "s.duckdb")[0])[2:]).params
    asked = {name: given[name] for name in options}
    assert asked == options
    assert Settings.of(**{name: value for name, value in given.items() if name in asked}).scanning == scanning


def test_settings_are_told_apart_from_what_is_usual() -> None:
    agreement = {**Signing().described(), **Scanning.of(candidates="agreement").described()}
    usual = defaults(agreement)
    assert {name for name, value in agreement.items() if value != usual[name]} == {"candidates"}
    assert defaults(USUAL) == USUAL


def test_the_state_of_a_source_is_told_as_people_read_it() -> None:
    assert state(mark("/d/a.tsv", "a")) == "12 bytes, changed at 2023-11-14T22:13:20Z"
    assert state(SourceCheckpoint("stdin", "-", "a stream, read with {}", False)) == "a stream"
    strange = f"12 bytes, changed at {10**25}"
    assert state(SourceCheckpoint("a", "a", f"{strange}, read with {{", False)) == strange
