"""Who writes to a store: one command at a time, or the parts of one run.

A writer enters its name into a document beside the state and renews the entry every few seconds. An entry that is not
renewed is removed by the next writer, at once if the process was on this machine and is gone. The state is guarded
besides (see `esdedup.store.elasticsearch.journal`), so a writer that was only asleep can do no harm.
"""

from __future__ import annotations

import datetime
import logging
import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil

from esdedup.errors import StoreError, StoreLockedError
from esdedup.store.elasticsearch.journal import Guarded, State

log = logging.getLogger("esdedup")

BEAT = 5.0
"""Seconds between two renewals."""

EXPIRY = 30.0
"""Seconds without a renewal after which a writer counts as dead."""

_LOOK = 0.5
_SAID_AFTER = 3.0

_live: set[str] = set()
"""The entries of this process that are not released. A release may have failed to reach the server."""

Holders = dict[str, dict[str, Any]]


class Hold:
    """The right to write to a store, for the whole of it or for one `part` of a run.

    Raise `StoreLockedError`, with host, process and time, if another writer has it.
    """

    def __init__(self, state: State, address: str, part: str | None = None) -> None:
        self._leaving = Event()
        self._document: Guarded = state.guarded("hold", self._leaving)
        self._address = address
        self._key = part or ""
        self._released = Event()
        self._name = uuid.uuid4().hex
        self._own = {
            "host": socket.gethostname(),
            "machine": _machine(),
            "process": os.getpid(),
            "started": _started(os.getpid()),
            "since": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
            "name": self._name,
            "beats": 0,
        }
        self._enter()
        _live.add(self._name)
        self._renewing = Thread(target=self._renew, daemon=True)
        self._renewing.start()

    def release(self) -> None:
        """Let the next writer in."""
        self._released.set()
        self._leaving.set()  # a server that does not answer is not waited for again
        self._renewing.join()
        _live.discard(self._name)
        with suppress(StoreError):  # the entry expires
            self._change(lambda holders: holders.pop(self._key) if self._is_ours(holders) else None)

    def _enter(self) -> None:
        while True:
            _wait_for_others(self._document, self._address, self._key)
            if self._take():
                return

    def _take(self) -> bool:
        """Enter our name; of the others, only parts of the same run stay. Return False if another writer was faster."""
        parts = {key: one for key, one in self._holders().items() if self._key and key not in ("", self._key)}
        try:
            self._document.replace({"holders": {**parts, self._key: self._own}})
        except StoreLockedError:
            return False
        return True

    def _renew(self) -> None:
        while not self._released.wait(BEAT):
            with suppress(StoreError):  # the writer itself meets the error, or the next renewal succeeds
                self._change(self._beat)

    def _beat(self, holders: Holders) -> None:
        if self._is_ours(holders):
            holders[self._key]["beats"] += 1

    def _is_ours(self, holders: Holders) -> bool:
        return bool(holders.get(self._key, {}).get("name") == self._name)

    def _change(self, change: Callable[[Holders], Any]) -> None:
        while True:
            holders = {key: dict(one) for key, one in self._holders().items()}
            change(holders)
            if holders == self._holders():
                return
            with suppress(StoreLockedError):  # another part was faster, and the document has been read again
                self._document.replace({"holders": holders})
                return

    def _holders(self) -> Holders:
        return _holders(self._document)


def wait_for_writers(state: State, address: str) -> None:
    """Return when nobody writes to a store. Raise `StoreLockedError` if somebody is known to."""
    _wait_for_others(state.guarded("hold"), address, "")


def _holders(document: Guarded) -> Holders:
    return dict(document.value.get("holders", {}))


def _wait_for_others(document: Guarded, address: str, key: str) -> None:
    """Return when no writer is left but other parts of the same run, if `key` is one. Dead ones do not count."""
    begun, first = time.monotonic(), _holders(document)
    said = False
    while True:
        others = {name: one for name, one in _holders(document).items() if not key or name in ("", key)}
        for name, one in list(others.items()):
            if one != first.get(name) or _is_alive(one):
                raise StoreLockedError(
                    f"{address}: process {one['process']} on {one['host']} has been writing to this store "
                    f"since {one['since']}; run this command again after it ends"
                )
            if is_dead(one) or time.monotonic() - begun > EXPIRY:
                del others[name]
        if not others:
            return
        if not said and time.monotonic() - begun > _SAID_AFTER:
            one, said = next(iter(others.values())), True
            log.warning(
                "waiting up to %g s: process %s on %s may still write to this store", EXPIRY, one["process"],
                one["host"],
            )  # fmt: skip
        time.sleep(_LOOK)
        document.read()


@cache
def _machine() -> str:
    """Return a name for everything that sees the same processes: this machine since it was booted, or a container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{socket.gethostname()} {boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return f"{socket.gethostname()} {psutil.boot_time():.0f}"


def _started(process: int) -> float | None:
    """Return when a process was started, which tells it from a later one with its number; None if it has ended."""
    with suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return None if fields[0] == "Z" else float(fields[19])  # since the machine was booted, whatever its clock says
    with suppress(psutil.Error):
        found = psutil.Process(process)
        if found.status() != psutil.STATUS_ZOMBIE:
            return float(round(found.create_time(), 2))
    return None


def _is_alive(one: dict[str, Any]) -> bool:
    if one["machine"] != _machine() or one["started"] is None or _started(one["process"]) != one["started"]:
        return False
    return one["process"] != os.getpid() or one["name"] in _live


def is_dead(one: dict[str, Any]) -> bool:
    """Whether a holder was a process of this machine that has ended."""
    return one["machine"] == _machine() and not _is_alive(one)
