"""Records matched field by field: tables of persons, films, restaurants and products with known pairs."""

from __future__ import annotations

import csv
import gzip
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import esdedup
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.record_peers import FASTEST, lines, peers
from scripts.benchmarks.rows import Row, at_least, at_most

Pairs = set[tuple[str, str]]

PERSONS, STORED, SMALL_PERSONS = 1_000_000, 100_000, 2_000
_ADDED = 0.01
_COPIES = 0.2
_MOST_SECONDS, _MOST_ERROR, _MOST_TO_ADD = 120, 0.03, 0.05
_BANDS = 10
HALVES = ("for building", "kept apart")
"""Of the entities of each table."""


class Task(NamedTuple):
    """Tables with an id each, the true pairs of ids, and the F1 that is aimed at."""

    name: str
    half: str
    left: list[dict[str, str]]
    right: list[dict[str, str]] | None
    true: Pairs
    aim: float


def measure(bench: Bench) -> list[Row]:
    rows = []
    for half in HALVES:
        for task in _tasks(bench.data, half):
            rows += _measured(task)
    rows += _added(bench, SMALL_PERSONS if bench.small else STORED)
    return [*rows, *_persons(SMALL_PERSONS if bench.small else PERSONS)]


def _measured(task: Task) -> Iterator[Row]:
    clock = time.process_time()
    found = esdedup.link(_table(task.left), None if task.right is None else _table(task.right))
    took = time.process_time() - clock
    if task.right is None:
        taken = {pair for group in found.groups for pair in combinations(sorted(group), 2)}
    else:
        taken = {(row["a"], row["b"]) for row in found.pairs.to_pylist()}
    what = f"{task.name}, half of the entities, {task.half}"
    precision, recall, f1 = _scores(taken, task.true)
    yield Row(f"{what}: precision", precision)
    yield Row(f"{what}: recall", recall)
    yield at_least(f"{what}: F1", f1, "", task.aim)
    yield at_most(f"{what}: calibration error", _calibration(found.candidates, task), "", _MOST_ERROR)
    yield Row(f"{what}: processor time", took, "s")
    if task.half == HALVES[-1]:
        for peer, seconds, found_there in peers(task.name, task.left, task.right):
            yield Row(f"{what}: F1 of {peer} ({lines(peer, task.name)} lines)", _scores(found_there, task.true)[2])
            yield Row(f"{what}: processor time of {peer}", seconds, "s")


def _scores(taken: Pairs, true: Pairs) -> tuple[float, float, float]:
    precision, recall = len(taken & true) / max(1, len(taken)), len(taken & true) / len(true)
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def _calibration(candidates: pa.Table, task: Task) -> float:
    """How far probabilities are from the share of true pairs, on average over bands of them."""
    ends = [candidates[end].to_pylist() for end in ("a", "b")]
    named = (
        zip(*ends, strict=True) if task.right is not None else (tuple(sorted(pair)) for pair in zip(*ends, strict=True))
    )
    true = np.array([pair in task.true for pair in named], np.float64)
    said = candidates["probability"].to_numpy()
    band = np.minimum((said * _BANDS).astype(np.int64), _BANDS - 1)
    apart = np.abs(np.bincount(band, said, _BANDS) - np.bincount(band, true, _BANDS))
    return float(apart.sum() / max(1, len(said)))


def _table(rows: Sequence[dict[str, str]]) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([row.get(name) or None for row in rows], pa.string()) for name in names})


def _tasks(data: Path, half: str) -> Iterator[Task]:
    folder = data / "records"
    left, right = (_read(folder / f"febrl4{side}.csv.gz", "rec_id", _entity, half) for side in "ab")
    pairs = {(row["id"], row["id"].replace("org", "dup-0")) for row in left}
    yield Task("febrl4", half, left, right, pairs, 0.995)
    rows = _read(folder / "febrl1.csv", "rec_id", _entity, half)
    yield Task("febrl1", half, rows, None, _of_groups(rows, _entity), 0.995)
    rows = _read(folder / "fake_1000.csv", "unique_id", lambda row: row["cluster"], half)
    clusters = {row["id"]: row.pop("cluster") for row in rows}
    yield Task("fake_1000", half, rows, None, _of_groups(rows, lambda row: clusters[row["id"]]), 0.95)
    yield _titles(folder, half)
    for name, aim in (("restaurant", 0.98), ("abtbuy", 0.6), ("imdbtmdb", 0.75)):
        yield _linked(data, name, aim, half)


def _titles(folder: Path, half: str) -> Task:
    """Titles of products. Its pairs are not closed: those of a group are not all listed."""
    pairs = [(row["lid"], row["rid"]) for row in _rows(folder / "sigmod2022_Y1.csv")]
    first: dict[str, str] = {}
    for one, two in pairs:
        ends = [first.setdefault(end, end) for end in (one, two)]
        first |= {each: min(ends) for each, held in first.items() if held in ends}
    rows = _read(folder / "sigmod2022_X1.csv", "id", lambda row: first.get(row["id"], row["id"]), half)
    there = {row["id"] for row in rows}
    return Task("sigmod", half, rows, None, {(min(pair), max(pair)) for pair in pairs if pair[0] in there}, 0.15)


def _linked(data: Path, name: str, aim: float, half: str) -> Task:
    """Two tables and a file of pairs. What has no partner is an entity, too."""
    if name == "restaurant":
        folder, files, ids = data / name, ("fodors.csv", "zagats.csv", "matches.csv"), ("fodors_id", "zagats_id")
    else:
        folder, sides = data / "records", {"abtbuy": ("abt", "buy"), "imdbtmdb": ("imdb", "tmdb")}[name]
        files, ids = tuple(f"{name}_{side}.csv.gz" for side in (*sides, "gt")), ("D1", "D2")
    pairs = [(row[ids[0]], row[ids[1]]) for row in _rows(folder / files[2])]
    partner = {right: left for left, right in pairs}
    left = _read(folder / files[0], "id", lambda row: row["id"], half)
    right = _read(folder / files[1], "id", lambda row: partner.get(row["id"], f"r{row['id']}"), half)
    there = {row["id"] for row in left}
    return Task(name, half, left, right, {pair for pair in pairs if pair[0] in there}, aim)


def _entity(row: dict[str, str]) -> str:
    return row.get("rec_id", row.get("id", "")).split("-")[1]


def _of_groups(rows: Sequence[dict[str, str]], entity: Callable[[dict[str, str]], str]) -> Pairs:
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(entity(row), []).append(row["id"])
    return {pair for group in groups.values() for pair in combinations(sorted(group), 2)}


def _read(path: Path, key: str, entity: Callable[[dict[str, str]], str], half: str) -> list[dict[str, str]]:
    """The rows of half of the entities, with their key as id."""
    which = HALVES.index(half)
    rows = [row for row in _rows(path) if hashlib.sha256(entity(row).encode()).digest()[0] % 2 == which]
    return [{"id": row[key], **{name: value for name, value in row.items() if name != key}} for row in rows]


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        head = lines.readline()
        reader = csv.DictReader(lines, csv.reader([head], delimiter="|" if "|" in head else ",").__next__(),
                                delimiter="|" if "|" in head else ",")  # fmt: skip
        return [{name.strip(): (value or "").strip() for name, value in row.items() if name} for row in reader]


def _added(bench: Bench, count: int) -> Iterator[Row]:
    """What it takes to add a hundredth to a store, beside the run that made it."""
    table, _ = persons(np.random.default_rng(4), count, _COPIES)
    table = table.append_column("id", pa.array([str(number) for number in range(count)]))
    cut = int(count * (1 - _ADDED))
    folder = bench.work / "records-added"
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "most.parquet", folder / "more.parquet"
    for path, part in zip(paths, (table.slice(0, cut), table.slice(cut)), strict=True):
        pq.write_table(part, path)
    options: dict[str, Any] = {"preset": "records", "report": False, "lookup": False, "quiet": True}
    clock = time.process_time()
    esdedup.run(paths[0], out=folder / "out", store=folder / "s.duckdb", fresh=True, **options)
    whole, clock = time.process_time() - clock, time.process_time()
    esdedup.add(paths[1], store=folder / "s.duckdb", **options)
    what = f"{count:,} made-up persons in a store"
    yield Row(f"{what}: processor time of the run", whole, "s")
    yield at_most(f"{what}: adding {_ADDED:.0%}, of that", (time.process_time() - clock) / whole, "", _MOST_TO_ADD)


def _persons(count: int) -> Iterator[Row]:
    """Made-up persons, of whom some stand twice, with up to three damaged values."""
    chance = np.random.default_rng(3)
    columns, source = persons(chance, count, _COPIES)
    clock = time.process_time()
    found = esdedup.link(columns)
    took = time.process_time() - clock
    first = count - len(source)
    true = {(int(a), first + place) for place, a in enumerate(source.tolist())}
    taken = {(row["a"], row["b"]) for row in found.pairs.to_pylist()}
    what = f"{count:,} made-up persons, {_COPIES:.0%} of them copies"
    yield Row(f"{what}: share of copies that are found", len(taken & true) / len(true))
    yield at_most(f"{what}: processor time", took, "s", _MOST_SECONDS)
    rows = [{"id": str(number), **row} for number, row in enumerate(columns.to_pylist())]
    named = {(str(a), str(b)) for a, b in true}
    for peer, seconds, found_there in peers("persons", rows, None, (FASTEST,)):
        either = {pair[::-1] for pair in found_there} | found_there
        yield Row(f"{what}: share of copies that {peer} finds", len(either & named) / len(true))
        yield Row(f"{what}: processor time of {peer}", seconds, "s")


def persons(chance: np.random.Generator, count: int, copies: float) -> tuple[pa.Table, Any]:
    """A table, and of each of its last rows the row that it is a copy of."""
    letters = np.array(list("aeiouybcdfghklmnprstvw"))

    def words(size: int) -> Any:
        return np.array(["".join(chance.choice(letters, chance.integers(4, 9))) for _ in range(size)])

    def often(size: int) -> Any:
        return np.minimum(chance.zipf(1.3, count) - 1, size - 1)

    towns, town = words(2_000), often(2_000)
    streets, houses = words(8_000)[chance.integers(0, 8_000, count)], chance.integers(1, 200, count).astype(str)
    days = (chance.integers(1930, 2010, count), chance.integers(1, 13, count), chance.integers(1, 29, count))
    columns = {
        "first": words(3_000)[chance.permutation(3_000)[often(3_000)]],
        "last": words(30_000)[often(30_000)],
        "street": np.char.add(np.char.add(streets, " street "), houses),
        "town": towns[town],
        "postcode": np.char.zfill((town * 37 % 90_000 + chance.integers(0, 5, count) + 10_000).astype(str), 5),
        "born": np.array([f"{year}-{month:02}-{day:02}" for year, month, day in zip(*days, strict=True)]),
        "phone": np.array([f"0{a}-{b}" for a, b in chance.integers([100, 1_000_000], [999, 9_999_999], (count, 2))]),
    }
    rows = np.stack([column.astype(object) for column in columns.values()], axis=1)
    source = chance.integers(0, count - int(copies * count), int(copies * count))
    for place, row in zip(range(count - len(source), count), source.tolist(), strict=True):
        rows[place] = rows[row]
        for field in chance.choice(len(columns), chance.integers(1, 4), replace=False):
            rows[place, field] = None if chance.random() < 0.25 else _mistyped(rows[place, field], chance)
    return pa.table({name: pa.array(rows[:, at].tolist(), pa.string()) for at, name in enumerate(columns)}), source


def _mistyped(value: str, chance: np.random.Generator) -> str:
    """A value with a letter that is other, missing, added or exchanged."""
    at = int(chance.integers(0, len(value) - 1))
    other = str(chance.integers(0, 10)) if value[at].isdigit() else chr(97 + int(chance.integers(0, 26)))
    changed = (
        other + value[at + 1 :],
        value[at + 1 :],
        other + value[at:],
        value[at + 1] + value[at] + value[at + 2 :],
    )
    return value[:at] + changed[int(chance.integers(0, 4))]
