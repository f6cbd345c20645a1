"""Small runs of the whole command, each in its own process, as the basis of a forecast."""

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

from esdedup.engines import place_of
from esdedup.errors import EsdedupError, StoreError
from esdedup.evaluation.forecast import RunCost
from esdedup.jobs.lakes import store_in
from esdedup.store.registry import drop_store, open_store

TRIAL = 250_000
"""Sentences of the largest run."""

_PROBE = 200
"""Documents that are read to estimate the number of sentences per document."""

SHARE = 0.25
"""The share of the documents of the largest run that the other run of a forecast reads."""

_JOB = """
import json, sys, esdedup
job = json.load(sys.stdin)
print(json.dumps(esdedup.run(*job["sources"], **job["options"]).to_dict()))
"""


class Trials(NamedTuple):
    """The costs of the runs, and the store that the largest one has made."""

    costs: list[RunCost]
    store: str


@contextmanager
def trial_runs(
    sources: Sequence[str], options: dict[str, Any], files: int, server: str | None = None, *, runs: int = 2
) -> Iterator[Trials]:
    """Run the first documents of each of the `files` of `sources`, up to about `TRIAL` sentences in all. With two runs,
    run a part of them first.

    The store is in a temporary folder, as the engine makes it, or with `server` at that address with a unique suffix.
    It is deleted at the end. Raise `EsdedupError` if these documents have no sentences.
    """
    with _ended_by_sigterm(), tempfile.TemporaryDirectory(prefix="esdedup-plan-") as name:
        folder = Path(name)
        engine = str(place_of(options.get("engine") or "local"))
        address, part = (
            str(store_in(folder / out, engine)) if server is None else f"{server}-plan-{_ending(folder)}{ending}"
            for out, ending in (("out", ""), ("part", "-part"))
        )
        job = {**options, "engine": engine, "out": str(folder / "out"), "fresh": True}
        if server is not None:
            job["store"] = address
        most = sys.maxsize if options.get("limit") is None else options["limit"]

        def limit(documents: float) -> int:
            """Return how many documents of each file are so many in all."""
            return min(most, max(1, round(documents / files)))

        try:
            probe = _run(sources, job | {"limit": limit(_PROBE)}, address)
            wanted = TRIAL * probe.documents / max(1, probe.sentences)
            last = _run(sources, job | {"limit": limit(wanted)}, address) if wanted > probe.documents else probe
            if not last.sentences:
                raise EsdedupError(f"{sources[0]}: it has no sentences to plan with")
            costs = [last.cost]
            if runs > 1:
                some = job | {"limit": limit(SHARE * last.documents), "out": str(folder / "part")}
                if server is not None:
                    some["store"] = part
                costs.insert(0, _run(sources, some, part).cost)
            yield Trials(costs, address)
        finally:
            for made in (address, part) if server is not None else ():
                with suppress(StoreError):  # the store may not exist yet
                    drop_store(made)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Make SIGTERM raise an exception, so that temporary stores are deleted. Only the main thread may do that."""
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
    """Return a suffix that no other plan uses, valid in the name of an index."""
    return "".join(letter for letter in folder.name.lower() if letter.isalnum())[-8:]


def _run(sources: Sequence[str], options: dict[str, Any], address: str) -> _Trial:
    began = time.perf_counter()
    job = json.dumps({"sources": list(sources), "options": options})
    # do not import modules from the current folder
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
        last = (done.stderr.strip().splitlines() or ["it ended without a message"])[-1]
        raise EsdedupError(f"a trial run failed: {last.partition(': ')[2] or last}")
    summary = json.loads(done.stdout)
    with open_store(address, read_only=True) as store:
        disk = store.disk_bytes()
    counts, stages = summary["counts"], summary["stages"]
    sums = (sum(stage[name] for stage in stages) for name in ("seconds", "task_seconds", "shuffled_bytes"))
    costs = RunCost(counts["sentences_kept"], seconds, int(summary["peak_memory_mb"] * 2**20), disk, *sums)
    return _Trial(costs, counts["documents"])
