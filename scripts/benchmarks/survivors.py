"""Which copy stays: clusters of which it is known, from generated and real texts. A third was kept apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.keeping.protocol import ColumnPolicy, Policies, TextPolicy
from esdedup.keeping.ranking import rank_copies
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.processes import ESDEDUP, processor_time
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.survivors import Cluster, clusters, part

CLUSTERS, SMALL_CLUSTERS = 400, 60
SEED = 1
ROWS, SMALL_ROWS = 1_000_000, 5_000
_SHARE_OF_COPIES = 0.3


def measure(bench: Bench) -> list[Row]:
    made = clusters(SMALL_CLUSTERS if bench.small else CLUSTERS, SEED, bench.data)
    judged = [cluster for cluster in made if part(cluster.name) == "judging"]
    chance = random.Random(1)
    kept: dict[str, Callable[[Cluster], int]] = {
        "the policy of each": lambda cluster: _kept(cluster, cluster.policy),
        "longest": lambda cluster: _kept(cluster, "longest"),
        "first": lambda cluster: 0,
        "a random copy": lambda cluster: chance.randrange(len(cluster.copies)),
    }
    what = f"{len(judged)} clusters kept apart: the best copy stays"
    rows = []
    for name, choose in kept.items():
        share = sum(cluster.copies[choose(cluster)].id in cluster.best for cluster in judged) / len(judged)
        row = f"{what}, {name}"
        rows.append(at_least(row, share, "", 0.97) if name.startswith("the policy") else Row(row, share))
    return [*rows, *_cost(bench)]


def _kept(cluster: Cluster, keep: str) -> int:
    """The place of the copy that a list of policies keeps of a cluster, given as such."""
    policies = Policies.parse(keep)
    texts = pa.array([copy.text for copy in cluster.copies], pa.large_string())
    columns: dict[str, Sequence[Any]] = {
        "score": [copy.score for copy in cluster.copies],
        "updated": [copy.updated for copy in cluster.copies],
    }
    keys = []
    for policy in policies.deciding:
        if isinstance(policy, TextPolicy):
            distinct = texts.unique()
            of = policy.text_keys(distinct, np.zeros(len(distinct), np.int64))
            keys.append(of[[distinct.index(text).as_py() for text in texts]])
        elif isinstance(policy, ColumnPolicy):
            keys.append(policy.keys(pa.array(columns[policy.column])))
    return int(np.argmin(rank_copies(keys, np.arange(len(texts)))))


def _cost(bench: Bench) -> list[Row]:
    """Processor time of `dedupe` with `--keep clean`, and without it, in turns."""
    source = bench.work / "survivors.jsonl"
    rows = SMALL_ROWS if bench.small else ROWS
    _write(source, rows)
    out = bench.work / "survivors"
    times: dict[str, list[float]] = {"first": [], "clean": []}
    for turn in range(bench.runs + 1):
        for keep, spent in times.items():
            took = processor_time([*ESDEDUP, "dedupe", source, "--out", out, "--fresh", "--keep", keep, "--quiet"])
            if turn:
                spent.append(took)
    source.unlink()
    more = median(one / other for one, other in zip(times["clean"], times["first"], strict=True)) - 1
    name = f"dedupe of {rows:,} rows, {_SHARE_OF_COPIES:.0%} of them copies"
    return [
        Row(f"{name}: processor time", median(times["first"]), "s"),
        at_most(f"{name}: --keep clean, more processor time", more, "", 0.08),
    ]


def _write(path: Any, rows: int) -> None:
    """Rows of made-up words, of which some are copies of the one before with a word changed."""
    chance = np.random.default_rng(1)
    words = np.array(["".join(letters) for letters in chance.choice(list("abcdefghijklmnoprstuvwy"), (20_000, 6))])
    with path.open("w", encoding="utf-8") as lines:
        text: list[str] = []
        for number in range(rows):
            if text and chance.random() < _SHARE_OF_COPIES:
                text = [*text]
                text[chance.integers(len(text))] = str(words[chance.integers(len(words))])
            else:
                text = words[chance.integers(len(words), size=30)].tolist()
            lines.write(f'{{"id":{number},"text":"{" ".join(text).capitalize()}."}}\n')
