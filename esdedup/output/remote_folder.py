"""Results in a store of objects: made in a folder of this machine, and sent when all of them are complete."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath

from esdedup.errors import SourceError
from esdedup.files import user_cache
from esdedup.formats.remote.protocol import server_of
from esdedup.formats.remote.remote_path import RemotePath

MANIFEST = ".esdedup.json"
"""The list of the files that esdedup wrote to a folder."""


def begin(folder: RemotePath) -> Path:
    """Return the folder of this machine where the results are made. It is the same for an interrupted job.

    Raise `UsageError` if nothing can be written to such an address.
    """
    server_of(folder.url).check_writable(folder.url)
    made = user_cache() / "results" / sha256(str(folder).encode()).hexdigest()[:16]
    made.mkdir(parents=True, exist_ok=True)
    return made


def listed(folder: RemotePath) -> set[str]:
    """Return the names in the list of a folder; none if it has no list that can be read."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            return names_in(file.read())
    except SourceError:
        return set()


def names_in(manifest: bytes | str) -> set[str]:
    """Return the names in a list; none of a list that somebody else made."""
    try:
        names = json.loads(manifest)["files"]
        paths = {name: PurePosixPath(name) for name in names}
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()
    return {name for name, path in paths.items() if not path.is_absolute() and ".." not in path.parts and path.parts}


def send(made: Path, folder: RemotePath, names: Collection[str], *, fresh: bool) -> None:
    """Send the files with these names, and then their list. After a fresh run, delete what an earlier one has sent.

    Each object is there as a whole or not at all; the list comes last. Then the folder of this machine is deleted.
    """
    server, before = server_of(str(folder)), listed(folder)
    present = sorted(name for name in names if (made / name).is_file())
    for name in present:
        server.put(made / name, str(folder / name))
    gone = before - set(present) if fresh else before & set(names) - set(present)
    for name in sorted(gone):
        server.delete(str(folder / name))
    files = sorted((set() if fresh else before - gone) | set(present))
    (made / MANIFEST).write_text(json.dumps({"files": files}), "utf-8")
    server.put(made / MANIFEST, str(folder / MANIFEST))
    shutil.rmtree(made)


@contextmanager
def sent(file: Path) -> Iterator[Path]:
    """Yield where a file is written: the place itself or, if it is in a store of objects, one here; it is sent then."""
    if not isinstance(file, RemotePath):
        yield file
        return
    made = begin(file)
    yield made / file.name
    server_of(file.url).put(made / file.name, file.url)
    shutil.rmtree(made)
