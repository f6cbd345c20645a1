"""One collection on each kind of store, and a server for each, as long as a process tests."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import esdedup
from tests.elastic import clear
from tests.pipeline.conftest import KINDS
from tests.web.browser import browser, page, visit  # noqa: F401 (fixtures)
from tests.web.corpus import OPTIONS, write_sources
from tests.web.served import Site, serving


class Collection:
    """The collection in a store, with the files of the run that made it."""

    def __init__(self, store: str, out: Path) -> None:
        self.store = store
        self.out = out


Get = Callable[[str], Collection]


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory, elastic_url: str) -> Iterator[Get]:
    """The collection in a store of this kind, which is made once, and goes away before the node does."""
    made: dict[str, Collection] = {}
    folder = tmp_path_factory.mktemp("web")
    sources = write_sources(folder)
    with ExitStack() as ends:

        def get(kind: str) -> Collection:
            if kind not in made:
                out = folder / kind
                store = str(out / "store.duckdb")
                if kind == "server":
                    prefix = f"t-web-{uuid.uuid4().hex[:8]}"
                    store = f"{elastic_url}/{prefix}"
                    ends.callback(clear, elastic_url, prefix)
                esdedup.run(*sources, out=out, store=store, **OPTIONS)
                made[kind] = Collection(store, out)
            return made[kind]

        yield get


@pytest.fixture(scope="session")
def sites(collections: Get, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Site]]:
    """A server of the collection in a store of this kind, which is started once."""
    made: dict[str, Site] = {}
    log = tmp_path_factory.mktemp("logs")
    with ExitStack() as ends:

        def get(kind: str) -> Site:
            if kind not in made:
                server = serving(collections(kind).store, log / kind, "--article-url", "https://wiki.example/{title}")
                made[kind] = ends.enter_context(server)
            return made[kind]

        yield get


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
def one_site(sites: Callable[[str], Site]) -> Site:
    """A server where the kind of store makes no difference."""
    return sites("embedded")
