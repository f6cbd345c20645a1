"""Small runs of the whole command, each in a process of its own: what a forecast is made from."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.errors import EsdedupError, StoreError
from esdedup.evaluation.forecast import RunCost
from esdedup.store.registry import drop_store, open_store

TRIAL = 250_000
"""Sentences of the largest run."""

_PROBE = 200
"""Documents from which it is learnt how many sentences a document has."""

SHARE = 0.25
"""Of the documents of the largest run, in the other run of a forecast."""

_JOB = """
import json, sys, esdedup
job = json.load(sys.stdin)
print(json.dumps(esdedup.run(*job["sources"], **job["options"]).to_dict()))
"""


class Trials(NamedTuple):
    """What the runs cost, and the store that the largest one has made."""

    costs: list[RunCost]
    store: str


@contextmanager
def trial_runs(
    sources: Sequence[str], options: dict[str, Any], server: str | None = None, *, runs: int = 2
) -> Iterator[Trials]:
    """Run the first documents of `sources`, up to about `TRIAL` sentences; with two runs, first a part of them.

    The store is a file of a temporary folder or, with `server`, at that address with an ending of its own; it goes
    away at the end. `EsdedupError` where there are no sentences in those documents.
    """
    with _ended_by_sigterm(), tempfile.TemporaryDirectory(prefix="esdedup-plan-") as name:
        folder = Path(name)
        address = str(folder / "store.duckdb") if server is None else f"{server}-plan-{_ending(folder)}"
        part = str(folder / "part.duckdb") if server is None else f"{address}-part"
        job = {**options, "out": str(folder / "out"), "store": address, "fresh": True}
        most = sys.maxsize if options.get("limit") is None else options["limit"]
        try:
            probe = _run(sources, job | {"limit": min(most, _PROBE)})
            wanted = round(TRIAL * probe.documents / max(1, probe.sentences))
            last = _run(sources, job | {"limit": min(most, wanted)}) if wanted > probe.documents else probe
            if not last.sentences:
                raise EsdedupError(f"{sources[0]}: no sentences in it to make a plan from")
            costs = [last.cost]
            if runs > 1:
                some = job | {"limit": max(1, round(SHARE * last.documents)), "store": part}
                costs.insert(0, _run(sources, some).cost)
            yield Trials(costs, address)
        finally:
            for made in (address, part) if server is not None else ():
                with suppress(StoreError):  # it did not come to that
                    drop_store(made)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM raise, so that what was made goes away; only the main thread may ask for that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Trial(NamedTuple):
    cost: RunCost
    documents: int

    @property
    def sentences(self) -> int:
        return self.cost.sentences


def _ending(folder: Path) -> str:
    """A name that no other plan has, of letters that an index may have."""
    return "".join(letter for letter in folder.name.lower() if letter.isalnum())[-8:]


def _run(sources: Sequence[str], options: dict[str, Any]) -> _Trial:
    began = time.perf_counter()
    job = json.dumps({"sources": list(sources), "options": options})
    # neither the folder that we are in nor its files are to be taken for modules
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-P", "-c", _JOB],
        input=job,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise EsdedupError(f"a trial run failed: {last.partition(': ')[2] or last}")
    summary = json.loads(done.stdout)
    with open_store(options["store"], read_only=True) as store:
        disk = store.disk_bytes()
    counts = summary["counts"]
    costs = RunCost(counts["sentences_kept"], seconds, int(summary["peak_memory_mb"] * 2**20), disk)
    return _Trial(costs, counts["documents"])
