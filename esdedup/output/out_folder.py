"""The folder for the results of a job: one command at a time writes there, and a list names what esdedup wrote."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from esdedup.errors import EsdedupError, OutLockedError, UsageError
from esdedup.files import hold, whole_file
from esdedup.formats.compression.opener import readable
from esdedup.formats.locations import Source
from esdedup.formats.protocol import FORMATS
from esdedup.formats.remote.remote_path import RemotePath
from esdedup.output import remote_folder
from esdedup.output.remote_folder import MANIFEST
from esdedup.store.duckdb.file_address import FileAddress
from esdedup.store.lake.lake_address import LAKE
from esdedup.store.registry import open_store

LOCK = ".esdedup.lock"
STORE = FileAddress.name_in_results
"""The name of the store in a folder of results, unless an engine makes a lake there."""
DROPS = "drops.jsonl"

RESULTS = (
    "pairs.jsonl", "pairs.parquet", "clusters.jsonl", "clusters.parquet", "clusters.txt", "cluster-sizes.png",
    "cluster-sizes.svg", "kinds.png", "kinds.svg", "report.html", "summary.json",
)  # fmt: skip
"""The files of a run. They are known by their names, and need no list."""

_SHOWN = 5

_log = logging.getLogger("esdedup")


class OutFolder:
    """A folder that this command alone writes to, and the files there that are ours."""

    def __init__(self, path: Path, sources: Iterable[Source], *, fresh: bool, shown: Path | None = None) -> None:
        self.path = path
        self.shown = shown or path
        """What the user calls it."""
        self._sources = {source.path.resolve() for source in sources if source.path}
        self.folds_case = (path / LOCK.upper()).exists()
        """Whether names that differ only in case are one file here."""
        self._fresh = fresh
        self._known = _listed(path) | _results(path)
        if fresh and not (path / MANIFEST).exists():
            self._known |= _of_older_version(path)
        self._claimed: set[str] = set()

    def claim(self, *names: str) -> None:
        """Note files that will be written, before they are: after a kill they are known to be ours."""
        self._claimed |= set(names)
        self._save(self._known | self._claimed)

    def refuse_others(self, names: Iterable[str]) -> None:
        """Raise `UsageError` if a folder elsewhere has outputs of another job. Here, its store says so."""
        if isinstance(self.shown, RemotePath) and not self._fresh:
            others = sorted(remote_folder.listed(self.shown) - {*names, *RESULTS, DROPS})
            if others:
                raise UsageError(
                    f"{self.shown}: has files of another job, such as {others[0]}; use another folder, or replace them "
                    "with --fresh"
                )

    def written(self) -> set[str]:
        """Return the names of what this command wrote."""
        return self._claimed

    def finish(self) -> None:
        """Note what was written. After a fresh run, delete what an earlier one left, and name what is not ours."""
        if self._fresh and self._claimed:
            for name in sorted(self._known - self._claimed):
                self._delete(name)
            self._name_others()
        self._save(self._claimed if self._fresh and self._claimed else self._known | self._claimed)

    def _delete(self, name: str) -> None:
        path = self.path / name
        if not path.parent.resolve().is_relative_to(self.path.resolve()):  # through a link out of the folder
            return
        with suppress(OSError):
            path.unlink()
            for parent in path.relative_to(self.path).parents[:-1]:
                (self.path / parent).rmdir()  # if it is empty

    def _name_others(self) -> None:
        others: list[str] = []
        for parent, folders, names in os.walk(self.path):
            at = Path(parent).relative_to(self.path)
            folders[:] = [name for name in folders if not name.startswith((".", STORE)) and (at / name) != Path(LAKE)]
            others += [
                found
                for name in names
                if not name.startswith((".", STORE))
                and (found := (at / name).as_posix()) not in self._claimed
                and (self.path / found).resolve() not in self._sources
            ]
        if others:
            shown = ", ".join(map(readable, sorted(others)[:_SHOWN])) + (" …" if len(others) > _SHOWN else "")
            _log.warning("%s: files that esdedup did not write there are left as they are: %s", self.path, shown)

    def _save(self, names: set[str]) -> None:
        names = {name for name in names if name in self._claimed or (self.path / name).exists()}
        if names <= set(RESULTS):
            (self.path / MANIFEST).unlink(missing_ok=True)
        else:
            with whole_file(self.path / MANIFEST) as part:
                part.write_text(json.dumps({"files": sorted(names)}, ensure_ascii=True), "utf-8")


def _listed(folder: Path) -> set[str]:
    """Return the names in the list of a folder; none of a list that somebody else made."""
    try:
        return remote_folder.names_in((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return set()


def _results(folder: Path) -> set[str]:
    """Return the files of a run in a folder; none if their summary is not there."""
    try:
        told = json.loads((folder / "summary.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    ours = isinstance(told, dict) and {"version", "cluster_sizes"} <= told.keys()
    return {name for name in RESULTS if ours and (folder / name).exists()}


def _of_older_version(folder: Path) -> set[str]:
    """Return what an esdedup without a list wrote: drops.jsonl, and the outputs of the sources in its store."""
    if not (folder / DROPS).is_file() or not (folder / STORE).is_file():
        return set()
    found = {DROPS}
    formats = [FORMATS.make(name, {}) for name in FORMATS.names]
    with suppress(EsdedupError), open_store(folder / STORE, read_only=True) as store:
        for path in (Path(source.path) for source in store.ledger.sources()):
            names = {path.name, *(each.output_name(path.name) for each in formats)}
            # a text file stands below the folder that was named, which is not known
            below = {"/".join(path.parts[-depth:]) for depth in range(2, len(path.parts))}
            found |= {name for name in names | below if (folder / name).is_file()}
    return found


@contextmanager
def out_folder(path: Path, sources: Iterable[Source] = (), *, fresh: bool = False) -> Iterator[OutFolder]:
    """Make a folder for the files of a job over these sources if it does not exist, and keep other commands out of it.
    Delete it if the job fails and leaves it empty.

    Raises `OutLockedError` while another command writes there.
    """
    if str(path) == "-":
        raise UsageError("--out -: the results are files, and need a folder")
    if isinstance(path, RemotePath):
        here = remote_folder.begin(path)
        with _locked(here):
            folder = OutFolder(here, sources, fresh=fresh, shown=path)
            yield folder
            remote_folder.send(here, path, folder.written(), fresh=fresh)
        return
    made = []
    with suppress(OSError):  # it cannot be created either
        made = [each for each in (path, *path.parents) if not each.exists()]
    try:
        with _locked(path):
            folder = OutFolder(path, sources, fresh=fresh)
            yield folder
            folder.finish()
    except BaseException:
        with suppress(OSError):
            for each in made:
                each.rmdir()
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = hold(lock, make=True)
    except OSError as error:
        raise EsdedupError(f"--out {folder}: {error.strerror}; use a writable folder") from error
    if held is None:
        raise OutLockedError(f"{folder}: {_holder(lock)} writes to this folder; wait until it ends, or use another one")
    try:
        os.truncate(held, 0)
        os.write(held, json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}).encode())
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(held)


def _holder(lock: Path) -> str:
    """Return who holds a lock, in words."""
    try:
        told = json.loads(lock.read_text("utf-8"))
        pid, host = int(told["pid"]), str(told["host"])
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(told["since"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return "another esdedup command"
    if host != socket.gethostname():
        return f"process {pid} on {host} (since {since})"
    return "another thread of this process" if pid == os.getpid() else f"process {pid} (since {since})"
