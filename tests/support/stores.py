"""What is tested here must hold on every store: each of these tests runs on a file and on a real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.store.corpus import Corpus
from esdedup.store.duckdb.corpus import FileCorpus
from esdedup.store.elasticsearch.corpus import ServerCorpus
from esdedup.store.elasticsearch.results import PublishedResults
from esdedup.store.results import Results
from tests.support.full import few

KINDS = ("embedded", "server")

on_opensearch_too = pytest.mark.parametrize("stores", [*KINDS, "opensearch"], indirect=True)
"""Tests of all that a store on a server is asked for; the others ask OpenSearch nothing else."""

on_opensearch_if_full = pytest.mark.parametrize("stores", few([*KINDS, "opensearch"], 0, 1), indirect=True)
"""Tests that an ordinary run does not try on OpenSearch, too."""

RunJob = Callable[..., dict[str, Any]]
"""`esdedup.run` with a store of the kind that is tested."""


class Stores:
    """Stores of one kind, by the folder that they belong to."""

    def __init__(self, kind: str, server: str) -> None:
        self.on_server = kind != "embedded"
        self._server = server
        self._known: dict[Path, str] = {}

    def at(self, folder: Path) -> str:
        """The address of the store of a folder."""
        if not self.on_server:
            return str(folder / "store.duckdb")
        return self._known.setdefault(folder, f"{self._server}-{len(self._known)}")

    def run(self, *sources: Path | str, out: Path, **options: Any) -> dict[str, Any]:
        """`esdedup.run`, whose store is that of `out` unless it is named. Page and lookup are made if asked for."""
        return esdedup.run(*sources, out=out, **{"store": self.at(out), "report": False, "lookup": False, **options})

    def corpus_class(self) -> type[Corpus]:
        """What holds the corpus of these stores."""
        return ServerCorpus if self.on_server else FileCorpus

    def results_class(self) -> type[Results]:
        """What holds the results of these stores."""
        return PublishedResults if self.on_server else Results


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest) -> Stores:
    """Stores of one kind."""
    if request.param == "embedded":
        return Stores("embedded", "")
    server = "elastic" if request.param == "server" else "opensearch"
    url, prefix = (request.getfixturevalue(f"{server}_{name}") for name in ("url", "prefix"))
    return Stores("server", f"{url}/{prefix}")


@pytest.fixture
def run(stores: Stores) -> RunJob:
    return stores.run


@pytest.fixture
def address(stores: Stores, tmp_path: Path) -> str:
    """Where a store may be made."""
    return stores.at(tmp_path)
