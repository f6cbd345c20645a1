"""A node's data folder: its files, and its lock.

    data/      what Elasticsearch stores
    logs/      node.log, its warnings; console.log, what the process printed
    config/    made again at every start
    node.json  how the node was started last
    pid        process id of the server while it runs
    lock       locked from the beginning of a start to the end of the server

The lock decides whether a node runs. The command that starts a node takes it, and its server inherits it. So it is
free again when the server has ended, for whatever reason. A pid is ignored if nobody holds the lock, or if the process
is not the server of this folder.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from esdedup.errors import NodeError
from esdedup.files import hold

SERVER = "esdedup.node.server"
"""The module that is run as `python -m SERVER DATA`."""
PID = "pid"
CONFIG = "node.json"
_LOCK = "lock"
_PATIENCE = 0.3  # seconds; checking the lock takes it for an instant


@dataclass(frozen=True, slots=True)
class Running:
    """A running node. `started` is true if this call started it.

    `health` is that of its cluster: green, yellow, red, `no master` while it waits for other nodes, or `None` while it
    does not answer.
    """

    data: Path
    pid: int
    name: str
    address: str
    transport: str
    version: str
    single: bool  # not a member of a larger cluster
    health: str | None = None
    nodes: int | None = None
    started: bool = False


def default_folder() -> Path:
    """Return the default folder of a node's data: `ESDEDUP_NODE_DATA`, or a folder of the user."""
    given = os.environ.get("ESDEDUP_NODE_DATA")
    base = os.environ.get("XDG_DATA_HOME") or Path("~/.local/share").expanduser()
    return Path(given) if given else Path(base) / "esdedup" / "node"


def make(folder: Path) -> None:
    """Create the folder. Raises `NodeError` if it is not writable."""
    try:
        for made in (folder, folder / "config", folder / "logs"):
            made.mkdir(parents=True, exist_ok=True)
        (folder / _LOCK).touch()
    except OSError as error:
        raise NodeError(f"{error.filename}: {error.strerror}; choose a writable folder with --data") from error


def claim(folder: Path) -> int | None:
    """Take the folder's lock. Return its file descriptor, or `None` if a node or another start holds it."""
    until = time.monotonic() + _PATIENCE
    while (held := hold(folder / _LOCK)) is None and time.monotonic() < until:
        time.sleep(0.05)
    if held is not None:
        (folder / PID).unlink(missing_ok=True)  # left by a server that was killed
    return held


def is_held(folder: Path) -> bool:
    """Return whether a node runs in this folder, or is being started."""
    try:
        held = hold(folder / _LOCK, shared=True)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if held is not None:
        os.close(held)
    return held is None


def running(folder: Path) -> Running | None:
    """Return the node that runs in this folder; `None` if there is none, or its server has not started yet."""
    if not is_held(folder):
        return None
    try:
        pid = int((folder / PID).read_text("ascii"))
        config: dict[str, Any] = json.loads((folder / CONFIG).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if not _is_server(pid, folder):
        return None
    return Running(
        folder, pid, config["name"], config["address"], config["transport"], config["version"], config["single"]
    )


def last_line(folder: Path) -> tuple[str, Path]:
    """Return the last line that the server printed (without stack traces), and the file that contains it."""
    console = folder / "logs" / "console.log"
    lines = [line.strip() for line in console.read_text("utf-8", "replace").splitlines()]
    printed = [line for line in lines if line and not line.startswith(("at ", "..."))]
    return (printed[-1] if printed else "it printed no message"), console


def size(folder: Path) -> int:
    """Return the bytes on disk."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(where, name).stat().st_size
            except FileNotFoundError:  # a merged segment
                continue
    return total


def _is_server(pid: int, folder: Path) -> bool:
    try:
        return bool(psutil.Process(pid).cmdline()[-2:] == [SERVER, str(folder)])
    except psutil.Error:
        return False
