"""The private database of a scan: where it lies, and what a killed scan leaves in it."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from esdedup.database import Database
from esdedup.errors import EsdedupError
from esdedup.settings import Resources, Scanning
from esdedup.stores.opening import is_on_server
from esdedup.stores.store import Store

KEPT_FROM = 1_000_000
"""Sentences from which on a scan leaves its work on disk to be gone on with: it takes half a minute and more."""


def scan_folder(address: str) -> Path:
    """The hidden folder of the scan of a store: beside its file, where there is room for the store.

    For a store on a server it lies in the system's temporary folder.
    """
    if is_on_server(address):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", address)
        return Path(tempfile.gettempdir()) / f"esdedup-{name}.scan"
    path = Path(address).resolve()
    if not path.parent.is_dir():
        return Path(tempfile.gettempdir()) / f"esdedup-{path.name}.scan"
    return path.with_name(f".{path.name}.scan")


def forget_scan(address: str) -> None:
    """Delete what a scan has left whose results are stored already: it was killed as it tidied up."""
    shutil.rmtree(scan_folder(address), ignore_errors=True)


@contextmanager
def scratch_database(store: Store, scanning: Scanning, resources: Resources, sentences: int) -> Iterator[Database]:
    """A database for one scan of `sentences` sentences. It spills beside the store, and goes away at the end.

    That of a large scan is a file: if the scan is killed, the next one of the same sentences with the same options
    finds it. What other scans have left is deleted.
    """
    folder = scan_folder(store.address)
    job = json.dumps([store.state(), asdict(scanning), resources.memory])
    mark = folder / "job.json"
    kept = sentences >= KEPT_FROM
    try:
        if not (kept and mark.exists() and mark.read_text("utf-8") == job):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark.write_text(job, "utf-8")
    except OSError as error:
        raise EsdedupError(f"{folder}: {error.strerror}; a scan needs to write beside its store") from error
    done = False
    try:
        with Database(
            folder / "scratch.duckdb" if kept else None,
            memory=resources.memory * 2 // 5,
            threads=resources.processes,
            spill=folder / "spill",
        ) as scratch:
            yield scratch
        done = True
    finally:
        if done or not kept:
            shutil.rmtree(folder, ignore_errors=True)
