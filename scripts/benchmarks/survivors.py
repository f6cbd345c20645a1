"""Which copy stays: clusters of which it is known, from generated and real texts. A third was kept apart."""

from __future__ import annotations

import json
import random
import shutil
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

import esdedup
from esdedup.keeping.clean import Clean
from esdedup.keeping.consensus import consensus
from esdedup.keeping.protocol import ColumnPolicy, Policies, TextPolicy
from esdedup.keeping.ranking import rank_copies
from scripts.benchmarks.alterations import CHANGES, Altering
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.processes import ESDEDUP, processor_time
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.survivors import Cluster, clusters, part
from scripts.survivors.originals import passage

CLUSTERS, SMALL_CLUSTERS = 400, 60
SEED = 1
ROWS, SMALL_ROWS = 1_000_000, 5_000
_SHARE_OF_COPIES = 0.3
_FAULTS = 0.03
_CASES, _SMALL_CASES, _CASES_A_JOB = 200, 12, 50


def measure(bench: Bench) -> list[Row]:
    made = clusters(SMALL_CLUSTERS if bench.small else CLUSTERS, SEED, bench.data)
    judged = [cluster for cluster in made if part(cluster.name) == "judging"]
    chance = random.Random(1)
    damage = _damage(judged)
    kept: dict[str, Callable[[Cluster], int]] = {
        "the policy of each": lambda cluster: _kept(cluster, cluster.policy, damage),
        "longest": lambda cluster: _kept(cluster, "longest", damage),
        "first": lambda cluster: 0,
        "a random copy": lambda cluster: chance.randrange(len(cluster.copies)),
    }
    what = f"{len(judged)} clusters kept apart: the best copy stays"
    rows = []
    for name, choose in kept.items():
        share = sum(cluster.copies[choose(cluster)].id in cluster.best for cluster in judged) / len(judged)
        row = f"{what}, {name}"
        rows.append(at_least(row, share, "", 0.97) if name.startswith("the policy") else Row(row, share))
    return [*rows, _consensus([cluster.original for cluster in judged]), *_altered(bench), *_cost(bench)]


def _consensus(texts: Sequence[str]) -> Row:
    """The share of right characters in the text on which five copies agree, each with 3 % random faults."""
    chance = random.Random(SEED)
    right = wrong = 0
    for text in texts:
        copies = ["".join(_fault(sign, chance) for sign in text) for _ in range(5)]
        wrong += Levenshtein.distance(consensus(copies), text)
        right += len(text)
    return at_least(
        "consensus of five copies with 3 % faulty characters: right characters", 1 - wrong / right, "", 0.995
    )


def _fault(sign: str, chance: random.Random) -> str:
    """A character, or what a fault makes of it: another one, none, or two."""
    if chance.random() >= _FAULTS:
        return sign
    other = chance.choice(string.ascii_letters + string.digits + " .,")
    return chance.choice([other, "", sign + other])


def _altered(bench: Bench) -> list[Row]:
    """How many altered certificates and files `verify` finds, and how often it finds fault with a true one."""
    chance, made, folder = random.Random(SEED), bench.work / "certified", bench.work / "altered"
    cases = _SMALL_CASES if bench.small else _CASES
    found = alarms = 0
    for number in range(cases + cases // 4):
        if number % _CASES_A_JOB == 0:
            shutil.rmtree(made, ignore_errors=True)
            _certified(made, random.Random(number))
        held = Altering(made, folder, chance)
        if altered := number < cases:
            chance.choice(CHANGES)(held, chance)
            held.save(signed=chance.random() < 0.5)
        problems = esdedup.verify(held.path, input=folder, output=folder / "out").problems
        found += altered and bool(problems)
        alarms += not altered and bool(problems)
        shutil.rmtree(folder)
    return [
        at_least(f"verify: share found of {cases} altered cases, half of them signed again", found / cases, "", 1),
        at_most(f"verify: false alarms on {cases // 4} true cases", alarms, "", 0),
    ]


def _certified(folder: Path, chance: random.Random) -> None:
    """Two inputs, their outputs and a certificate."""
    folder.mkdir(parents=True)
    texts = [passage("en", chance) for _ in range(40)]
    for name in ("a", "b"):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as lines:
            for number, text in enumerate(texts):
                said = text if chance.random() < 0.3 else text.replace(". ", f". {chance.choice(texts)[:60]}. ", 1)
                row = {"id": f"{name}{number}", "text": said, "score": chance.randrange(9)}
                lines.write(json.dumps(row) + "\n")
    out = folder / "out"
    esdedup.dedupe(
        *sorted(folder.glob("*.jsonl")),
        out=out,
        keep="best:score",
        jaccard=0.5,
        certificate=out / "cert.json",
        quiet=True,
    )


def _damage(made: Sequence[Cluster]) -> dict[str, float]:
    """The damage of each text, by `clean`, which looks at all clusters together, as `dedupe` does."""
    texts = [list(dict.fromkeys(copy.text for copy in cluster.copies)) for cluster in made]
    groups = np.repeat(np.arange(len(texts)), [len(each) for each in texts])
    flat = [text for each in texts for text in each]
    return dict(zip(flat, Clean().text_keys(pa.array(flat, pa.large_string()), groups).tolist(), strict=True))


def _kept(cluster: Cluster, keep: str, damage: Mapping[str, float]) -> int:
    """The place of the copy that a list of policies keeps of a cluster, given as such."""
    policies = Policies.parse(keep)
    texts = pa.array([copy.text for copy in cluster.copies], pa.large_string())
    columns: dict[str, Sequence[Any]] = {
        "score": [copy.score for copy in cluster.copies],
        "updated": [copy.updated for copy in cluster.copies],
    }
    keys = []
    for policy in policies.deciding:
        if isinstance(policy, Clean):
            keys.append(np.array([damage[copy.text] for copy in cluster.copies]))
        elif isinstance(policy, TextPolicy):
            distinct = texts.unique()
            of = policy.text_keys(distinct, np.zeros(len(distinct), np.int64))
            keys.append(of[[distinct.index(text).as_py() for text in texts]])
        elif isinstance(policy, ColumnPolicy):
            keys.append(policy.keys(pa.array(columns[policy.column])))
    return int(np.argmin(rank_copies(keys, np.arange(len(texts)))))


def _cost(bench: Bench) -> list[Row]:
    """Processor time of `dedupe` with `--keep clean` and a certificate, and without both, in turns."""
    source = bench.work / "survivors.jsonl"
    rows = SMALL_ROWS if bench.small else ROWS
    _write(source, rows)
    out = bench.work / "survivors"
    times: dict[str, list[float]] = {"first": [], "clean": []}
    for turn in range(bench.runs + 1):
        for keep, spent in times.items():
            proof = ["--certificate", bench.work / "survivors.cert"] if keep == "clean" else []
            took = processor_time(
                [*ESDEDUP, "dedupe", source, "--out", out, "--fresh", "--keep", keep, "--quiet", *proof]
            )
            if turn:
                spent.append(took)
    source.unlink()
    more = median(one / other for one, other in zip(times["clean"], times["first"], strict=True)) - 1
    name = f"dedupe of {rows:,} rows, {_SHARE_OF_COPIES:.0%} of them copies"
    return [
        Row(f"{name}: processor time", median(times["first"]), "s"),
        at_most(f"{name}: --keep clean and --certificate, more processor time", more, "", 0.08),
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
