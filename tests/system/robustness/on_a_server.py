"""A job of several commands on a store of a server, small but in many pages and bodies; and what it must come to."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import esdedup
from esdedup.output.result_files import export_results
from tests.support.elastic_proxy import Request
from tests.support.records import records, table

HOW: dict[str, Any] = {"unit": "record", "min_chars": 0, "source_name": "news"}
"""How the sources are read: the second replaces documents of the first, as both have one name."""

REMOVED, REMOVED_TOO = ("news/r3", "news/r50", "news/r131"), ("news/r200", "news/r201")

Bytes = dict[str, bytes]


class Job(NamedTuple):
    """Two sources, commands, and what there is after each of them."""

    a: Path
    b: Path
    texts: list[str]
    expected: dict[str, Any]

    def commands(self, store: str) -> dict[str, Callable[[], Any]]:
        """The job, command by command."""
        return {
            "index": lambda: esdedup.index(self.a, store=store, **HOW),
            "scan": lambda: esdedup.scan(store=store),
            "add": lambda: esdedup.add(self.b, store=store, **HOW),
            "remove": lambda: esdedup.remove(*REMOVED, store=store),
        }

    def arguments(self, verb: str, store: str) -> list[str]:
        """A command of the job as a person types it."""
        read = ["--unit", "record", "--min-chars", "0", "--source-name", "news"]
        given = {"index": [str(self.a), *read], "scan": [], "add": [str(self.b), *read], "remove": list(REMOVED)}
        return [verb, *given[verb], "--store", store, "--quiet"]

    def questions(self, store: str) -> list[Any]:
        """What people ask, with the answers that are the same on every store."""
        asked = self.texts[::70]
        return [
            [esdedup.similar(text, store=store, min_similarity=1) for text in asked],
            [esdedup.suggest(text[:12], store=store, limit=1) for text in asked],
            list(esdedup.clusters(store=store, min_size=3)),
        ]

    def check(self, verb: str, store: str, folder: Path) -> None:
        """Whether the store is, after this command, as if nothing had happened to it."""
        status = esdedup.status(store=store)
        assert (status["unfinished"], _counts(status)) == (None, self.expected[f"{verb} counts"])
        if verb != "index":
            assert results(store, folder) == self.expected[verb]


def make_job(folder: Path) -> Job:
    """The sources in a folder, and what comes of them on an embedded store."""
    rows = records(31, 300)
    rows[7] = (rows[6][0], rows[7][1])  # an id that is there twice
    changed = [(key, text + " And more.") for key, text in rows[:8]]
    a = table(folder / "a.tsv", rows[:270])
    b = table(folder / "b.tsv", [*changed, *rows[8:30], *rows[270:], rows[299]])
    job = Job(a, b, [text for _, text in rows], {})
    store = str(folder / "s.duckdb")
    for verb, command in job.commands(store).items():
        command()
        job.expected[f"{verb} counts"] = _counts(esdedup.status(store=store))
        if verb != "index":
            job.expected[verb] = results(store, folder / "out")
    job.expected["questions"] = job.questions(store)
    esdedup.remove(*REMOVED_TOO, store=store)
    job.expected["remove too"] = results(store, folder / "out")
    return job


def results(store: str, folder: Path) -> Bytes:
    """The files that tell of pairs and clusters."""
    folder.mkdir(exist_ok=True)
    with esdedup.open_store(store, read_only=True) as opened:
        export_results(opened, folder, "jsonl")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _counts(status: dict[str, Any]) -> dict[str, int]:
    return {name: status["counts"][name] for name in ("documents", "sentences_read", "sentences_kept")}


def make_small(patch: pytest.MonkeyPatch) -> None:
    """Many pages, slices, lookups, bodies and pieces; and pauses that tests can wait for."""
    for name, value in {
        "formats.batches.MAX_BYTES": 4_000,
        "jobs.indexing._FLUSH_ROWS": 90,
        "store.elasticsearch.reading.PAGE": 50,
        "store.elasticsearch.searches.PAGE": 50,
        "store.elasticsearch.reading.SLICE": 120,
        "store.elasticsearch.reading.ASKED": 64,
        "store.elasticsearch.changes.ASKED": 64,
        "store.elasticsearch.bulk.BODY_BYTES": 20_000,
        "store.elasticsearch.journal._PIECE_BYTES": 8_000,
        "store.elasticsearch.connection.FIRST_PAUSE": 0.002,
        "store.elasticsearch.connection.LONGEST_PAUSE": 0.01,
    }.items():
        patch.setattr(f"esdedup.{name}", value)


def is_bulk(request: Request) -> bool:
    """Whether it writes many documents at once."""
    return request.path.endswith("/_bulk")


def kind(request: Request) -> str:
    """What sort of request it is: its method and what it is about, without names that differ from store to store."""
    parts = request.path.strip("/").split("/")
    about = re.sub(r"^.*?-(?=(state|documents|sentences|pairs|clusters|members|stale)\b)", "", parts[0])
    rest = "/".join(re.sub(r"[0-9a-f]{32}.*", "", part) for part in parts[1:])
    about = re.sub(r"-[0-9]{8}t[0-9]+", "", about) if "," not in about else "several"
    return f"{request.method} {about}/{rest}".rstrip("/") if rest else f"{request.method} {about}"
