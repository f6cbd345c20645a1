"""What all tests share: where the real data is."""

from __future__ import annotations

import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support.elastic import elastic_prefix, elastic_url, short_lived, three_nodes  # noqa: F401 (fixtures)
from tests.support.full import FULL
from tests.support.opensearch_node import opensearch_prefix, opensearch_url  # noqa: F401 (fixtures)
from tests.support.orphans import Guard, guarded
from tests.support.spark import has_spark, spark_cluster  # noqa: F401 (fixtures)
from tests.support.stores import address, run, stores  # noqa: F401 (fixtures)

# the first example may compile a kernel
settings.register_profile("esdedup", deadline=None)
settings.load_profile("esdedup")


def pytest_configure(config: pytest.Config) -> None:
    # programs that nohup or cron start ignore interrupts, and so would all that the tests start
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "server: about stores on a server; set by itself")
    config.addinivalue_line("markers", "full: more of what other tests try too; only scripts/test full runs it")
    config.addinivalue_line("markers", "both_stores: tried on a server too in every run, not only in a full one")


ABOUT_SERVERS = re.compile(r"test_server_|on_a_server|[\[-]server\b|/kibana/|elastic_proxy|test_real_data|both_stores")
LONGEST = ("test_spark.py", "test_real_data.py", "test_history.py", "test_killed.py", "test_server_nodes_lost.py")


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # which has no types
    """A worker does whole files. One worker, and so one node of Elasticsearch, does all that is about servers."""

    def _split_scope(self, nodeid: str) -> str:
        if "opensearch" in nodeid:
            return "opensearch"
        return "servers" if _is_about_servers(nodeid) else nodeid.partition("::")[0]


def _is_about_servers(nodeid: str) -> bool:
    """Like `_is_of_a_server`, by the name alone: the process that gives out tests has nothing else of them."""
    return ABOUT_SERVERS.search(nodeid) is not None and "/spark/" not in nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    return Groups(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # a worker takes one group after another: the longest first, so that none is left alone with one
    items.sort(key=lambda item: (not _is_about_servers(item.nodeid), item.path.name not in LONGEST))
    without = [item.nodeid for item in items if _has_no_cases(item)]
    if without:
        raise pytest.UsageError(f"no cases to run with: {', '.join(without)}")
    for item in items:
        if _is_of_a_server(item):
            item.add_marker("server")
    if not FULL:
        left_out = {item: _is_full(item) for item in items}
        config.hook.pytest_deselected(items=[item for item in items if left_out[item]])
        items[:] = [item for item in items if not left_out[item]]


def _is_full(item: pytest.Item) -> bool:
    """Whether an ordinary run leaves a test out. It tries each verb on a server; all else that is the same for every
    store, it tries on one: that stores are alike is what tests/contract tests.
    """
    on_server = _value_of(item, "stores") == "server" or _value_of(item, "kind") == "server"
    return item.get_closest_marker("full") is not None or (on_server and item.get_closest_marker("both_stores") is None)


def _value_of(item: pytest.Item, name: str) -> object:
    varied = getattr(item, "callspec", None)
    return None if varied is None else varied.params.get(name)


def _has_no_cases(item: pytest.Item) -> bool:
    """Whether a test is parametrised with an empty list: pytest would skip it."""
    reasons = (str(mark.kwargs.get("reason")) for mark in item.iter_markers("skip"))
    return any("empty parameter set" in reason for reason in reasons)


def _is_server(parameter: object) -> bool:
    """Whether a parameter of a test is a server, by name or as a kind of store. A table would compare oddly."""
    kind = getattr(parameter, "kind", parameter)
    return isinstance(kind, str) and kind in ("server", "opensearch")


def _is_of_a_server(item: pytest.Item) -> bool:
    """Whether a test asks a server, also where it is run on every kind of store, or its file is about servers."""
    varied = getattr(item, "callspec", None)
    return (
        "elastic_url" in getattr(item, "fixturenames", ())
        or (varied is not None and any(_is_server(value) for value in varied.params.values()))
        or item.path.name.startswith("test_server_")
    )


@pytest.fixture(scope="session", autouse=True)
def guard() -> Iterator[Guard]:
    """Ends what this process has started, also when it is killed."""
    with guarded() as guard:
        yield guard


@pytest.fixture(autouse=True)
def log_as_it_was() -> Iterator[None]:
    """The command line takes over the log; a library has none of its own."""
    yield
    log = logging.getLogger("esdedup")
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.NOTSET)


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Scans of stores on a server work in no folder of the person who tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ESDEDUP_SCRATCH", str(tmp_path_factory.mktemp("scans")))
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The shared folder of real data; without it the test skips, except under CI, where it fails."""
    folder = Path(os.environ.get("ESDEDUP_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        message = f"no real data at {folder}; set ESDEDUP_TEST_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
