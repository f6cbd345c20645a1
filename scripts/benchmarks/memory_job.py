"""The whole job in memory, list of strings to clusters, against other libraries; and with store and files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import median

import numpy as np

import esdedup
from scripts.benchmarks.bench import Bench, interleaved, ratio, seconds
from scripts.benchmarks.peer import Peer, PeerError
from scripts.benchmarks.rows import Row, at_most, without_value
from scripts.benchmarks.sample import LIKE_SENTENCES, Sample, read_sample

PEERS: dict[str, tuple[str, dict[str, int]]] = {
    "gaoya": ("with_gaoya", {}),
    # it judges by the same values that it indexes: more of them, better pairs
    "gaoya with 128 hashes": ("with_gaoya", {"bands": 32}),
    "rensa": ("with_rensa", {}),
    "datasketch": ("with_datasketch", {}),
    "text-dedup": ("with_text_dedup", {}),
    "pari": ("with_pari", {}),
}
OTHERS = ("rensa", "datasketch", "text-dedup")
OURS, STORED, USUAL = "esdedup", "esdedup with store", "esdedup with its defaults for records"


def measure(bench: Bench) -> list[Row]:
    sample = read_sample(bench.data, bench.small)
    folder = bench.work / "memory-job"
    table = folder / "sentences.tsv"
    folder.mkdir(parents=True, exist_ok=True)
    table.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(sample.texts)), "utf-8")
    ours = partial(esdedup.cluster_texts, sample.texts, **LIKE_SENTENCES)
    stored = partial(esdedup.run, table, out=folder / "out", **LIKE_SENTENCES, fresh=True)
    usual = partial(esdedup.cluster_texts, sample.texts)
    jobs: dict[str, Callable[[], float]] = {
        OURS: partial(seconds, ours),
        STORED: partial(seconds, stored),
        USUAL: partial(seconds, usual),
    }
    failed: dict[str, str] = {}
    found: list[Row] = []
    with ExitStack() as stack:
        for name, (script, settings) in PEERS.items():
            try:
                peer = stack.enter_context(Peer(script, sample.texts))
                found += _found(name, sample, **peer.result("job", **settings))
                jobs[name] = partial(peer.run, "job", **settings)
            except PeerError as error:
                failed[name] = str(error)
        times = interleaved(jobs, bench.runs)
    shutil.rmtree(folder)
    rows = [
        Row(f"in memory, {len(sample.texts):,} sentences to clusters: {name}", median(took), "s")
        for name, took in times.items()
        if name != STORED
    ]
    rows += [without_value(f"in memory: {name}", why) for name, why in failed.items()]
    rows += _against(times, failed)
    rows.append(
        at_most(
            "in memory with the defaults, times with the settings above", ratio(times[USUAL], times[OURS]), "x", 2.5
        )
    )
    if "pari" in times:
        rows.append(
            at_most("in memory with the defaults, times pari's time", ratio(times[USUAL], times["pari"]), "x", 0.1)
        )
    limit = 1.5 * median(times[OURS]) + 1
    took = median(times[STORED])
    rows.append(
        Row("with the store and all outputs", took, "s", f"≤ 1.5 × in memory + 1 s = {limit:.3g}", took <= limit)
    )
    answer = ours()
    return rows + _found(OURS, sample, answer.label, answer.a, answer.b) + found


def _against(times: dict[str, list[float]], failed: dict[str, str]) -> list[Row]:
    rows = []
    if "gaoya" in times:
        rows.append(at_most("in memory, times gaoya's time", ratio(times[OURS], times["gaoya"]), "x", 0.5))
    else:
        rows.append(without_value("in memory, times gaoya's time", failed["gaoya"], "≤ 0.5"))
    others = [name for name in OTHERS if name in times]
    if others:
        fastest = min(others, key=lambda name: median(times[name]))
        measure = f"in memory, times that of {fastest}, the fastest of {', '.join(others)}"
        rows.append(at_most(measure, ratio(times[OURS], times[fastest]), "x", 0.35))
    else:
        rows.append(without_value("in memory, times the fastest other", "none runs", "≤ 0.35"))
    return rows


def _found(
    name: str,
    sample: Sample,
    label: np.ndarray,
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
) -> list[Row]:
    """Recall and precision: of the pairs reported, or of all pairs of a cluster where only clusters are."""
    if a is None or b is None:
        what, (recall, precision) = "pairs of one cluster", sample.found_together(label)
    else:
        what, (recall, precision) = "pairs reported", sample.found(a, b)
    return [
        Row(f"{name}: recall of the {what}", recall),
        Row(f"{name}: precision of the {what}", precision),
    ]
