"""One collection on each kind of store, and a server for each, made when a test first asks for it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import pytest

import esdedup
from tests.support.elastic import clear
from tests.support.stores import KINDS
from tests.system.web.browser import browser, page, visit  # noqa: F401 (fixtures)
from tests.system.web.corpus import OPTIONS, write_sources
from tests.system.web.served import Site, serving


class Collection:
    """The collection in a store, with the files of the run that made it."""

    def __init__(self, store: str, out: Path) -> None:
        self.store = store
        self.out = out


Get = Callable[[str], Collection]


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files that every collection is made of."""
    return write_sources(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="session")
def embedded_collection(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Collection:
    out = tmp_path_factory.mktemp("embedded")
    store = str(out / "store.duckdb")
    esdedup.run(*sources, out=out, store=store, **OPTIONS)
    return Collection(store, out)


@pytest.fixture(scope="session")
def server_collection(
    sources: list[Path], tmp_path_factory: pytest.TempPathFactory, elastic_url: str
) -> Iterator[Collection]:
    out, prefix = tmp_path_factory.mktemp("server"), f"t-web-{uuid.uuid4().hex[:8]}"
    store = f"{elastic_url}/{prefix}"
    esdedup.run(*sources, out=out, store=store, **OPTIONS)
    yield Collection(store, out)
    clear(elastic_url, prefix)


def served(collection: Collection, log: Path) -> AbstractContextManager[Site]:
    return serving(collection.store, log, "--article-url", "https://wiki.example/{title}")


@pytest.fixture(scope="session")
def embedded_site(embedded_collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(embedded_collection, tmp_path_factory.mktemp("logs") / "embedded") as site:
        yield site


@pytest.fixture(scope="session")
def server_site(server_collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(server_collection, tmp_path_factory.mktemp("logs") / "server") as site:
        yield site


@pytest.fixture
def collections(request: pytest.FixtureRequest) -> Get:
    """The collection in a store of a kind; Elasticsearch starts when it is first asked for."""
    return lambda kind: cast(Collection, request.getfixturevalue(f"{kind}_collection"))


@pytest.fixture
def sites(request: pytest.FixtureRequest) -> Callable[[str], Site]:
    """A server of the collection in a store of a kind."""
    return lambda kind: cast(Site, request.getfixturevalue(f"{kind}_site"))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of store."""
    return str(request.param)


@pytest.fixture
def collection(kind: str, collections: Get) -> Collection:
    return collections(kind)


@pytest.fixture
def site(kind: str, sites: Callable[[str], Site]) -> Site:
    """A server of a collection, on each kind of store."""
    return sites(kind)


@pytest.fixture
def one_site(embedded_site: Site) -> Site:
    """A server where the kind of store makes no difference."""
    return embedded_site
