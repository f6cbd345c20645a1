"""text-dedup: its minhash command, all cores, clusters of candidates unverified.

Its shingles are of words; here it is told that every character is one. Reading and saving, which it
does through files, are not counted: seconds are those of its steps MinHashing and Clustering.
"""

import os
import tempfile
from typing import Any

import numpy as np
from datasets import Dataset, disable_caching, disable_progress_bars
from serving import BANDS, ROWS, SHINGLE, Arrays, serve
from text_dedup import minhash
from text_dedup.utils import IOArgs, MetaArgs, MinHashArgs, Timer

disable_caching()  # a second run would find the signatures of the first
disable_progress_bars()


class Characters:
    def split(self, text: str) -> list[str]:
        return list(text)


class Stopwatch(Timer):  # type: ignore[misc]
    last: Any = None

    def __init__(self) -> None:
        super().__init__()
        Stopwatch.last = self


WORDS = minhash.NON_ALPHA
minhash.Timer = Stopwatch


def job(texts: list[str]) -> Arrays:
    minhash.NON_ALPHA = Characters()
    settings = MinHashArgs(
        ngram=SHINGLE, min_length=0, num_perm=BANDS * ROWS, b=BANDS, r=ROWS, hash_func="xxh3", hash_bits=32
    )
    return _deduplicated(texts, settings)


def documents(texts: list[str]) -> Arrays:
    """As its README shows it, with the defaults."""
    minhash.NON_ALPHA = WORDS
    found = _deduplicated(texts, MinHashArgs(), batch_size=10_000)
    return {"kept": found["label"] == np.arange(len(texts)), "seconds": found["seconds"]}


def _deduplicated(texts: list[str], settings: MinHashArgs, **more: int) -> Arrays:
    with tempfile.TemporaryDirectory() as folder:
        Dataset.from_dict({"text": texts}).save_to_disk(f"{folder}/in")
        minhash.main.callback(
            io_args=IOArgs(path=f"{folder}/in", output=f"{folder}/out", local=True, num_proc=os.cpu_count() or 1),
            meta_args=MetaArgs(column="text", **more),
            minhash_args=settings,
        )
    took = Stopwatch.last.elapsed_times
    label = np.array([minhash.uf.find(number) for number in range(len(texts))])
    return {"label": label, "seconds": took["MinHashing"] + took["Clustering"]}


serve({"job": job, "documents": documents})
