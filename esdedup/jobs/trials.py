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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.engines import ENGINES, place_of
from esdedup.errors import EsdedupError, StoreError
from esdedup.evaluation.forecast import RunCost
from esdedup.jobs.lakes import store_in
from esdedup.jobs.progress_bar import Bar
from esdedup.store.registry import drop_store, open_store

TRIAL = 250_000
"""Sentences of the largest run."""

_PROBE = 200
"""Documents that are read to estimate the number of sentences per document."""

_LOOK = 0.5  # seconds between two looks at a run

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
    sources: Sequence[str],
    options: dict[str, Any],
    files: int,
    server: str | None = None,
    *,
    runs: int = 2,
    quiet: bool = True,
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
        if server is None:
            ENGINES[engine].check_place(engine)
        most = sys.maxsize if options.get("limit") is None else options["limit"]

        def limit(documents: float) -> int:
            """Return how many documents of each file are so many in all."""
            return min(most, max(1, round(documents / files)))

        try:
            with Bar("plan", 0, "run", not quiet) as bar:

                def run(what: str, documents: float, where: dict[str, Any], store: str) -> _Trial:
                    some = limit(documents)
                    note = f"{what} run, up to {some * files:,} documents"
                    return _run(sources, {**job, **where, "limit": some}, store, lambda: bar.follow(0, 0, note))

                probe = run("first trial", _PROBE, {}, address)
                wanted = TRIAL * probe.documents / max(1, probe.sentences)
                last = run("large trial", wanted, {}, address) if wanted > probe.documents else probe
                if not last.sentences:
                    raise EsdedupError(f"{sources[0]}: it has no sentences to plan with")
                costs = [last.cost]
                if runs > 1:
                    other = {"out": str(folder / "part"), **({} if server is None else {"store": part})}
                    costs.insert(0, run("small trial", SHARE * last.documents, other, part).cost)
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


def _run(sources: Sequence[str], options: dict[str, Any], address: str, meanwhile: Callable[[], None]) -> _Trial:
    began = time.perf_counter()
    job: str | None = json.dumps({"sources": list(sources), "options": options})
    # do not import modules from the current folder
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _JOB], env={**os.environ, "PYTHONPATH": path}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            while True:
                meanwhile()
                with suppress(subprocess.TimeoutExpired):
                    answer, said = process.communicate(job, timeout=_LOOK)
                    break
                job = None  # it is sent once
        except BaseException:
            process.kill()
            raise
    seconds = time.perf_counter() - began
    if process.returncode:
        last = (said.strip().splitlines() or ["it ended without a message"])[-1]
        raise EsdedupError(f"a trial run failed: {last.partition(': ')[2] or last}")
    summary = json.loads(answer)
    with open_store(address, read_only=True) as store:
        disk = store.disk_bytes()
    counts, stages = summary["counts"], summary["stages"]
    sums = (sum(stage[name] for stage in stages) for name in ("seconds", "task_seconds", "shuffled_bytes"))
    costs = RunCost(counts["sentences_kept"], seconds, int(summary["peak_memory_mb"] * 2**20), disk, *sums)
    return _Trial(costs, counts["documents"])
