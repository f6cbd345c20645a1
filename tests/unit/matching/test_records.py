"""Records matched field by field, against what was planted, and against plain loops."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from esdedup.matching.records import term_pairs
from esdedup.matching.records.field_kinds import KINDS, Text
from esdedup.matching.records.matching import Matched, best_threshold, match_records
from esdedup.matching.records.mixture import common_partners, one_partner
from esdedup.matching.records.record_fields import cosines, fields_of
from esdedup.matching.records.record_options import IGNORED, KIND_NAMES

FIRST = ["Anna", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hassan", "Ingrid", "Jonas", "Karim", "Lucia"]
STREETS = ["Mill Lane", "High Street", "Park Road", "Station Road", "Church Hill", "Bridge Street"]


def letters(chance: random.Random, most: int) -> str:
    return "".join(chance.choice("aeioubdfgklmnprst") for _ in range(chance.randint(4, most))).title()


def persons(chance: random.Random, count: int) -> list[list[str | None]]:
    surnames, towns = [letters(chance, 9) for _ in range(count // 2)], [letters(chance, 8) for _ in range(30)]
    return [
        [
            chance.choice(FIRST), chance.choice(surnames), f"{chance.randint(1, 200)} {chance.choice(STREETS)}",
            chance.choice(towns), f"{chance.randint(1930, 2005)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
            f"{chance.randint(10_000_000, 99_999_999)}",
        ]
        for _ in range(count)
    ]  # fmt: skip


def damaged(row: list[str | None], chance: random.Random) -> list[str | None]:
    row = list(row)
    for place in chance.sample(range(len(row)), chance.randint(0, 3)):
        value = row[place]
        at = chance.randrange(len(value or ""))
        wrong = chance.choice([f"{(value or '')[:at]}{(value or '')[at + 1 :]}", None])
        row[place] = wrong or None
    return row


def columns(rows: list[list[str | None]]) -> dict[str, pa.Array]:
    names = ("first", "last", "street", "town", "born", "account")
    return {name: pa.array(values, pa.string()) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def found_in(matched: Matched) -> set[tuple[int, int]]:
    return set(zip(matched.a[matched.pairs].tolist(), matched.b[matched.pairs].tolist(), strict=True))


@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("tables", [1, 2])
def test_planted_copies_are_found(tables: int, all_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    rows = persons(chance, 600)
    copies = [damaged(rows[number], chance) for number in range(300)]
    true = {(number, 600 + number) for number in range(300)}
    if not all_pairs:
        monkeypatch.setattr(term_pairs, "_ALL_PAIRS", 0)
    found = match_records(columns(rows + copies), 600 if tables == 2 else None, {})
    assert [field.kind.name for field in found.fields] == ["name", "name", "address", "name", "date", "code"]
    hits = len(found_in(found) & true)
    assert hits >= 0.98 * len(true)
    assert len(found_in(found)) - hits <= 3
    of_pairs = {(int(a), int(b)): p for a, b, p in zip(found.a, found.b, found.probability, strict=True)}
    assert all_pairs == (len(of_pairs) == term_pairs.possible_pairs(900, 600 if tables == 2 else None))


def test_order_changes_nothing() -> None:
    chance = random.Random(6)
    rows = persons(chance, 200)
    rows += [damaged(row, chance) for row in rows[:80]]
    rows += rows[:5]  # equal to others
    order = list(range(len(rows)))
    chance.shuffle(order)
    one, two = match_records(columns(rows), None, {}), match_records(columns([rows[at] for at in order]), None, {})
    assert one.weights == two.weights
    assert one.threshold == two.threshold
    back = {(min(order[a], order[b]), max(order[a], order[b])): p for a, b, p in pairs(two)}
    assert {(a, b): p for a, b, p in pairs(one)} == back


def pairs(matched: Matched) -> list[tuple[int, int, float]]:
    return list(zip(matched.a.tolist(), matched.b.tolist(), matched.probability.tolist(), strict=True))


@pytest.mark.parametrize(
    ("kind", "one", "two", "level"),
    [
        ("name", "Marta", "Martha", "nearly equal, exchanged or a nickname"),
        ("name", "Bob Lee", "Robert Lee", "nearly equal, exchanged or a nickname"),
        ("name", "Anna Maria", "Maria Anna", "nearly equal, exchanged or a nickname"),
        ("name", "Al", "Alexander", "alike, or one begins with the other"),
        ("name", "Ångström", "Angstrom", "equal"),
        ("name", "Smith", "Kowalski", "other"),
        ("date", "1971-06-24", "1971-05-24", "one digit differs, or day and month exchanged"),
        ("date", "1971-05-04", "04.05.1971", "equal"),
        ("date", "1971-05-04", "1971-04-05", "one digit differs, or day and month exchanged"),
        ("date", "1971-05-04", "1988-12-30", "other"),
        ("number", "$1,000.00", "1000", "equal"),
        ("number", "100", "101", "within 2 %"),
        ("code", "AB-123", "ab123", "equal"),
        ("code", "AB-123", "AB-132", "one sign differs"),
        ("phone", "+1 310/246-1501", "310-246-1501", "equal"),
        ("email", "q@one.org", "q@two.org", "same name, other host"),
        ("category", "red", "Red", "equal"),
    ],
)
def test_levels(kind: str, one: str, two: str, level: str) -> None:
    [field] = fields_of({"x": pa.array([one, two, "else", None])}, {"x": kind})
    found = field.levels(np.array([0, 1, 0]), np.array([1, 0, 3]))
    assert [field.kind.levels[value] for value in found[:2]] == [level, level]
    assert found[2] == -1


def test_free_text_is_three_things() -> None:
    text = Text.shaped("Sony Turntable - PS-LX350H, 33-1/3 RPM, 3 pieces")
    assert Text.parted(text) == ("sony turntable ps rpm pieces", "pslx350h", "3 33-1/3")
    assert Text.parted(Text.shaped("北京是首都 XK350")) == ("北京 京是 是首 首都", "xk350", "")
    values = pa.array(
        [f"A long text about the thing with the number {n} and the code XK{n}50 in it" for n in range(30)]
    )
    assert [field.name for field in fields_of({"about": values}, {})] == [
        "about: words",
        "about: codes",
        "about: figures",
    ]


def test_kinds_are_guessed() -> None:
    chance = random.Random(1)
    held = {
        "email": [f"{letters(chance, 8)}@mail.example" for _ in range(60)],
        "phone": [f"0{chance.randint(10, 99)}/{chance.randint(100000, 999999)}" for _ in range(60)],
        "number": [f"{chance.randint(1, 99)}.{chance.randint(10, 99)}" for _ in range(60)],
        "category": [chance.choice(["red", "green", "blue"]) for _ in range(60)],
        "date": [f"{chance.randint(1, 28)}/{chance.randint(1, 12)}/19{chance.randint(10, 99)}" for _ in range(60)],
        "name": [f"{letters(chance, 8)} {letters(chance, 8)}" for _ in range(60)],
    }
    found = fields_of(
        {name: pa.array(values) for name, values in held.items()} | {"none": pa.nulls(60, pa.string())}, {}
    )
    assert [field.kind.name for field in found] == list(held)


def test_cosines_are_those_of_a_plain_loop() -> None:
    values = ["a b c", "a b", "c d e", "a", "e f a b"]
    [field] = fields_of({"x": pa.array(values)}, {"x": "name"})
    weight = {word: np.log(6 / (sum(word in value.split() for value in values) + 0.5)) for word in "abcdef"}

    def dot(one: str, two: str) -> float:
        return float(sum(weight[word] ** 2 for word in set(one.split()) & set(two.split())))

    one, two = map(np.array, zip(*[(a, b) for a in range(5) for b in range(5)], strict=True))
    expected = [
        dot(values[a], values[b]) / np.sqrt(dot(values[a], values[a]) * dot(values[b], values[b]))
        for a, b in zip(one, two, strict=True)
    ]
    assert cosines(field.word_sets, 5, one, two) == pytest.approx(expected)


def test_partners() -> None:
    odds = np.log(np.array([4.0, 4.0, 9.0]))
    assert one_partner(odds, np.array([0, 0, 1]), np.array([5, 6, 7]), 8) == pytest.approx([4 / 9, 4 / 9, 0.9])
    sure, weak = 40.0, 0.0
    a, b = np.array([0, 0, 1, 3, 2]), np.array([1, 2, 2, 4, 3])  # two groups, and a weak pair between them
    found = common_partners(np.array([sure, sure, sure, sure, weak]), a, b, 5)
    assert found[:3] == pytest.approx([1, 1, 1], abs=0.2)
    assert found[4] < 0.3
    alone = common_partners(np.array([0.5]), np.array([0]), np.array([1]), 2)
    assert alone == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_the_threshold_of_the_highest_expected_f1() -> None:
    assert best_threshold(np.array([0.9, 0.1, 0.8, 0.05])) == pytest.approx((0.9 + 0.8) / (2 + 1.85))
    assert best_threshold(np.empty(0)) == best_threshold(np.array([1e-9, 1e-8])) == 0.3


def test_nothing_to_compare() -> None:
    found = match_records({"x": pa.array(["a", None, "b"])}, None, {})
    assert len(found.pairs) == 0
    assert len(match_records({"x": pa.array(["a"])}, None, {}).a) == 0


@pytest.mark.parametrize(("name", "least"), [("restaurant", 108), ("febrl4", 4975)])
def test_real_tables(name: str, least: int, data_folder: Path) -> None:
    """Of 112 and 5,000 true pairs, with few wrong ones."""
    if name == "restaurant":
        left, right = (read(data_folder / "restaurant" / f"{side}.csv") for side in ("fodors", "zagats"))
        with (data_folder / "restaurant" / "matches.csv").open() as lines:
            true = {(row["fodors_id"], row["zagats_id"]) for row in csv.DictReader(lines)}
    else:
        left, right = (read(data_folder / "records" / f"febrl4{side}.csv.gz") for side in "ab")
        true = {(row[0], row[0].replace("org", "dup-0")) for row in left.values()}
    ids, names = [*left, *right], next(iter(left.values()))[1]
    rows = [row for _, row in [*left.values(), *right.values()]]
    found = match_records({column: pa.array([row[column] or None for row in rows]) for column in names}, len(left), {})
    named = {(ids[a], ids[b]) for a, b in found_in(found)}
    assert len(named & true) >= least
    assert len(named - true) <= 0.02 * len(true)


def read(path: Path) -> dict[str, tuple[str, dict[str, str]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as lines:
        rows = [{name.strip(): value.strip() for name, value in row.items()} for row in csv.DictReader(lines)]
    key = next(iter(rows[0]))
    return {row[key]: (row[key], {name: value for name, value in row.items() if name != key}) for row in rows}


def test_options_name_every_kind() -> None:
    assert (*KINDS, IGNORED) == KIND_NAMES
