"""What the scripts of this folder share: jobs told on standard input, one JSON object a line."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

SHINGLE = 12
BANDS, ROWS = 10, 4
THRESHOLD = 0.8

Arrays = dict[str, Any]


def use_cores() -> None:
    """Stay on as many cores as the caller allows; to be called before a library starts its threads."""
    cores = int(os.environ["ESDEDUP_BENCH_CORES"])
    if cores:
        os.environ["RAYON_NUM_THREADS"] = str(cores)
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def serve(jobs: dict[str, Callable[..., Arrays]]) -> None:
    """Answer each request with the seconds of its job; a job that knows better returns them as `seconds`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    texts = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter()
        arrays = jobs[request["job"]](texts, **request["arguments"])
        seconds = float(arrays.pop("seconds", time.perf_counter() - began))
        if request["result"]:
            np.savez(request["result"], **arrays)
        answers.write(json.dumps({"seconds": seconds}) + "\n")
        answers.flush()


def shingles(text: str) -> list[str]:
    return [text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1))]


def strings(texts: Any) -> Arrays:
    """Texts, or lists of texts, as an answer."""
    return {"texts": np.frombuffer(json.dumps(texts).encode(), np.uint8)}


def clusters(neighbours: Sequence[Sequence[int]]) -> Arrays:
    """Clusters of texts from the list of neighbours of each, and the pairs that these lists hold."""
    count = len(neighbours)
    b = np.fromiter(chain.from_iterable(neighbours), np.int64)
    a = np.repeat(np.arange(count), [len(found) for found in neighbours])
    a, b = a[a < b], b[a < b]
    _, label = connected_components(coo_matrix((np.ones(len(a), bool), (a, b)), (count, count)), directed=False)
    return {"label": label, "a": a, "b": b}
