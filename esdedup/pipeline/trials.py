"""Small runs of the whole command, each in a process of its own: what a forecast is made from."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.errors import EsdedupError
from esdedup.evaluation.forecast import Took
from esdedup.stores.opening import drop_store, open_store

TRIAL = 100_000
"""Sentences of the largest run."""

_PROBE = 200
"""Documents from which it is learnt how many sentences a document has."""

SHARES = (0.25, 1.0)
"""Of the sentences of the largest run, in each run of a forecast."""

_JOB = """
import json, sys, esdedup
job = json.load(sys.stdin)
print(json.dumps(esdedup.run(*job["sources"], **job["options"])))
"""


class Trials(NamedTuple):
    """What the runs took, and the store that the largest one has made."""

    took: list[Took]
    store: str


@contextmanager
def trial_runs(
    sources: Sequence[str], options: dict[str, Any], server: str | None = None, shares: Sequence[float] = SHARES
) -> Iterator[Trials]:
    """Run the first documents of `sources`, up to about these `shares` of `TRIAL` sentences, the largest last.

    The store is a file of a temporary folder or, with `server`, at that address with an ending of its own; it goes
    away at the end.
    """
    with tempfile.TemporaryDirectory(prefix="esdedup-plan-") as name:
        folder = Path(name)
        address = str(folder / "store.duckdb") if server is None else f"{server}-plan-{_ending(folder)}"
        job = {**options, "out": str(folder / "out"), "store": address, "fresh": True}
        most = options.get("limit") or sys.maxsize
        try:
            probe = _run(sources, job | {"limit": min(most, _PROBE)})
            a_document = max(1, probe.sentences) / min(most, _PROBE)
            took = [
                _run(sources, job | {"limit": max(1, min(most, round(share * TRIAL / a_document)))}) for share in shares
            ]
            yield Trials(took, address)
        finally:
            if server is not None:
                drop_store(address)


def _ending(folder: Path) -> str:
    """A name that no other plan has, of letters that an index may have."""
    return "".join(letter for letter in folder.name.lower() if letter.isalnum())[-8:]


def _run(sources: Sequence[str], options: dict[str, Any]) -> Took:
    began = time.perf_counter()
    job = json.dumps({"sources": list(sources), "options": options})
    done = subprocess.run([sys.executable, "-c", _JOB], input=job, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise EsdedupError(f"a trial run failed: {last.partition(': ')[2] or last}")
    summary = json.loads(done.stdout)
    with open_store(options["store"], read_only=True) as store:
        disk = store.disk_bytes()
    return Took(summary["counts"]["sentences_kept"], seconds, int(summary["peak_memory_mb"] * 2**20), disk)
