"""A job of several commands on a store of a server, small but in many pages and bodies; and what it must come to."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.exports.tables import export_results
from tests.elastic_proxy import Proxy, Request
from tests.pipeline.test_run import records, table

HOW: dict[str, Any] = {"unit": "record", "min_chars": 0, "source_name": "news"}
GONE = ("news/r3", "news/r50", "news/r131")

Bytes = dict[str, bytes]


class Job(NamedTuple):
    """Two sources, of which the second replaces some documents of the first, and what there is after each command."""

    a: Path
    b: Path
    texts: list[str]
    expected: dict[str, Bytes]

    def commands(self, store: str) -> dict[str, Callable[[], Any]]:
        """The job, command by command."""
        return {
            "index": lambda: esdedup.index(self.a, store=store, **HOW),
            "scan": lambda: esdedup.scan(store=store),
            "add": lambda: esdedup.add(self.b, store=store, **HOW),
            "remove": lambda: esdedup.remove(*GONE, store=store),
        }

    def questions(self, store: str) -> list[Any]:
        """What people ask, with the answers."""
        asked = self.texts[::70]
        return [
            [esdedup.similar(text, store=store) for text in asked],
            [esdedup.suggest(text[:12], store=store) for text in asked],
            list(esdedup.clusters(store=store, min_size=3)),
            esdedup.status(store=store)["counts"],
        ]

    def check(self, verb: str, store: str, folder: Path) -> None:
        """Whether the store is as if nothing had happened."""
        if verb != "index":
            assert results(store, folder) == self.expected[verb]
        assert counts(store) == self.expected[f"{verb} counts"]
        assert esdedup.status(store=store)["unfinished"] is None


def make_job(folder: Path) -> Job:
    """The sources in a folder, and what comes of them on an embedded store."""
    rows = records(31, 300)
    rows[7] = (rows[6][0], rows[7][1])  # an id that is there twice
    changed = [(key, text + " And more.") for key, text in rows[:12]]
    a, b = (
        table(folder / "a.tsv", rows[:240]),
        table(folder / "b.tsv", [*changed, *rows[12:30], *rows[240:], rows[299]]),
    )
    job = Job(a, b, [text for _, text in rows], {})
    store = str(folder / "s.duckdb")
    for verb, command in job.commands(store).items():
        command()
        if verb != "index":
            job.expected[verb] = results(store, folder / "out")
        job.expected[f"{verb} counts"] = counts(store)
    job.expected["questions"] = job.questions(store)
    return job


def results(store: str, folder: Path) -> Bytes:
    """The files that tell of pairs and clusters."""
    folder.mkdir(exist_ok=True)
    with esdedup.open_store(store, read_only=True) as opened:
        export_results(opened, folder, "jsonl")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def counts(store: str) -> dict[str, int]:
    """How much there is."""
    told = esdedup.status(store=store)["counts"]
    return {name: told[name] for name in ("documents", "sentences_read", "sentences_kept")}
