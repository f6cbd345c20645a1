"""Records compared field by field: in stores, by commands and from Python."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import esdedup
from esdedup.errors import SettingsError, StoreError, UsageError
from esdedup.jobs import steps
from esdedup.jobs.settings import Settings
from tests.support.commands import said
from tests.support.stores import RunJob
from tests.support.written import lines, results

FIRST = ("Anna", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hassan", "Ingrid", "Jonas", "Katya", "Luis")
LAST = ("Alberg", "Brenman", "Castor", "Dorski", "Elmark", "Falvik", "Garvik", "Holden", "Irving", "Jansen", "Kesder")
TOWNS = ("Norvik", "Tallow", "Westhaven", "Alder Bridge", "Marsh End", "Upper Kell")


def persons(seed: int, count: int) -> list[dict[str, str]]:
    chance = random.Random(seed)
    return [
        {
            "id": f"P{number:03}", "name": f"{chance.choice(FIRST)} {chance.choice(LAST)}",
            "born": f"{chance.randint(1940, 2005)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
            "town": chance.choice(TOWNS), "phone": f"0{chance.randint(20, 99)}/{chance.randint(100_000, 999_999)}",
        }
        for number in range(count)
    ]  # fmt: skip


def damaged(row: dict[str, str], number: int) -> dict[str, str]:
    """A copy as another table has it: another id, and one value that is other, exchanged or missing."""
    first, last = row["name"].split(" ")
    changes = ({"name": f"{first[0]}. {last}"}, {"name": f"{last} {first}"}, {"born": ""}, {"phone": row["phone"][:-1]})
    return {**row, **changes[number % 4], "id": f"Q{number:03}"}


def write(path: Path, rows: list[dict[str, str]], *, shuffled: int | None = None) -> Path:
    if shuffled is not None:
        random.Random(shuffled).shuffle(rows := list(rows))
    with path.open("w", encoding="utf-8", newline="") as file:
        written = csv.DictWriter(file, rows[0])
        written.writeheader()
        written.writerows(rows)
    return path


LEFT = persons(1, 60)
RIGHT = [*(damaged(row, number) for number, row in enumerate(LEFT[:20])),
         *({**row, "id": f"R{number:03}"} for number, row in enumerate(persons(2, 20)))]  # fmt: skip
TRUE = {(f"left/P{number:03}", f"right/Q{number:03}") for number in range(20)}


def two(folder: Path, shuffled: int | None = None) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    return write(folder / "left.csv", LEFT, shuffled=shuffled), write(folder / "right.csv", RIGHT, shuffled=shuffled)


def found_in(out: Path) -> dict[tuple[str, str], float]:
    return {(row["a"], row["b"]): row["probability"] for row in lines(out / "pairs.jsonl")}


def test_both_stores_and_any_order_give_the_same(tmp_path: Path, run: RunJob) -> None:
    run(*two(tmp_path), out=tmp_path / "out", preset="records")
    esdedup.run(*two(tmp_path / "other", 5), out=tmp_path / "file", preset="records", workers=1, report=False)
    found = found_in(tmp_path / "out")
    assert set(found) == TRUE
    assert min(found.values()) > 0.9
    assert found == found_in(tmp_path / "file")
    assert results(tmp_path / "out")["pairs.jsonl"] == results(tmp_path / "file")["pairs.jsonl"]
    told = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("out", "file")]
    assert told[0]["counts"] == told[1]["counts"]
    assert told[0]["kinds"] == {"record": 20}


def test_pairs_are_those_of_link(tmp_path: Path) -> None:
    esdedup.run(*two(tmp_path), out=tmp_path / "out", preset="records", report=False)
    linked = esdedup.link(pd.DataFrame(LEFT), pd.DataFrame(RIGHT))
    assert found_in(tmp_path / "out") == {
        (f"left/{row['a']}", f"right/{row['b']}"): pytest.approx(row["probability"], abs=1e-5)
        for row in linked.pairs.to_pylist()
    }


def test_what_speaks_for_a_pair(tmp_path: Path, address: str, run: RunJob) -> None:
    run(*two(tmp_path), out=tmp_path / "out", store=address, preset="records")
    found = esdedup.explain("left/P001", "right/Q001", store=address)
    assert found.verdict.startswith("a pair: probability 0.9") or found.verdict == "a pair: probability 1.000"
    assert found.probability == found_in(tmp_path / "out")["left/P001", "right/Q001"]
    fields = {row["field"]: row for row in found.fields}
    assert fields["name"]["level"] == "nearly equal, exchanged or a nickname"
    assert fields["born"]["level"] == "equal"
    assert fields["born"]["weight"] > 5
    other = esdedup.explain("left/P002", "right/Q001", store=address)
    assert other.verdict.startswith("not a pair: probability 0.0")
    assert other.probability < other.min_probability
    told = said("explain", "left/P001", "right/Q001", "--store", address).out
    assert "▓" in told
    assert "nearly equal, exchanged or a nickname" in told
    page = said("report", "--store", address, "--out", tmp_path / "page")
    assert page.code == 0
    assert "What the fields say" in (tmp_path / "page" / "report.html").read_text("utf-8")


def test_what_one_to_one_leaves_out_is_counted(tmp_path: Path) -> None:
    sources = (
        write(tmp_path / "left.csv", LEFT),
        write(tmp_path / "right.csv", [*RIGHT, {**damaged(LEFT[4], 6), "id": "twin"}]),
    )
    answer = said("run", *sources, "--preset", "records", "--out", tmp_path / "out")
    assert "have another partner, as likely or more" in answer.out
    assert set(found_in(tmp_path / "out")) == TRUE


def test_answers_of_a_person_are_learned(tmp_path: Path) -> None:
    sources, todo = two(tmp_path), tmp_path / "todo.csv"
    brief = [
        write(tmp_path / f"brief-{side}.csv", [{name: row[name] for name in ("id", "name", "town")} for row in rows])
        for side, rows in (("left", LEFT), ("right", RIGHT))
    ]
    options: dict[str, Any] = {"preset": "records", "across": "any", "report": False, "quiet": True}
    esdedup.run(*brief, out=tmp_path / "a", review=todo, **options)
    with todo.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["same", "probability", "a", "b", "a_text", "b_text"]
    doubts = [min(float(row["probability"]), 1 - float(row["probability"])) for row in rows]
    assert doubts == sorted(doubts, reverse=True)
    [one, two_] = "left/P003", "right/Q003"
    answers = tmp_path / "answers.csv"
    answers.write_text(f"a,b,same\n{one},{two_},no\nleft/P050,right/R010,yes\nnowhere,left/P001,no\n")
    esdedup.run(*sources, out=tmp_path / "b", labels=answers, **options)
    found = found_in(tmp_path / "b")
    assert (one, two_) not in found
    assert found["left/P050", "right/R010"] == 1.0
    assert "labels" not in (scanning := esdedup.status(store=tmp_path / "b" / "store.duckdb").last_scan.scanning)
    assert "review" not in scanning
    rows[0]["same"] = "yes"
    write(todo, rows)
    with pytest.raises(SettingsError, match="has answers; give it to --labels"):
        esdedup.run(*sources, out=tmp_path / "c", review=todo, **options)


def test_more_records_are_compared_with_the_weights_of_the_store(tmp_path: Path) -> None:
    left, right = two(tmp_path)
    store = tmp_path / "s.duckdb"
    esdedup.run(left, right, out=tmp_path / "out", store=store, preset="records", report=False)
    before = esdedup.status(store=store).last_scan.learned
    more = write(tmp_path / "more.csv", [damaged({**LEFT[30], "id": "x"}, 42)])
    added = esdedup.add(more, store=store, out=tmp_path / "more", preset="records", report=False)
    assert esdedup.status(store=store).last_scan.learned == before
    assert [row["id"] for row in added.matches] == ["more/Q042"]
    assert ("left/P030", "more/Q042") in found_in(tmp_path / "more")


def test_duplicates_are_removed_and_merged(tmp_path: Path) -> None:
    sources = two(tmp_path)
    answer = said(
        "dedupe", *sources, "--preset", "records", "--keep", "longest", "--merge", "born=most-complete", "-o",
        tmp_path / "out", "--certificate", tmp_path / "proof.json",
    )  # fmt: skip
    assert answer.code in (0, 2), answer.err
    answer = said("dedupe", *sources, "--preset", "records", "--keep", "longest", "-o", tmp_path / "out2")
    assert "100 records in · 80 kept · 20 dropped (20 near)" in answer.out
    against = said("dedupe", sources[1], "--against", sources[0], "--preset", "records", "-o", tmp_path / "new")
    assert "40 records in · 20 kept · 20 dropped (20 in reference)" in against.out


def test_tables_in_memory(tmp_path: Path) -> None:
    both = pd.DataFrame([*LEFT, *RIGHT])
    found = esdedup.dedupe(both, preset="records", quiet=True)
    assert len(found.kept) == 80
    assert esdedup.run(both, out=tmp_path / "out", preset="records", report=False, quiet=True).counts["clusters"] == 20
    with pytest.raises(UsageError, match="preset recrods: allowed: documents, lsh"):
        esdedup.dedupe(both, preset="recrods")
    with pytest.raises(SettingsError, match="the threshold is min-probability"):
        esdedup.dedupe(both, preset="records", jaccard=0.9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fields", "born:day"), "born is 'day'; allowed: name, date"),
        (("--fields", "birth:date"), "no column 'birth'; columns: name, born, town, phone"),
        (("--fields", "born"), "allowed: parts such as born:date"),
        (("--labels", "nowhere.csv"), "labels: nowhere.csv: No such file"),
        (("--separator", ";"), "there is only one column; if ',' separates them, give --separator ','"),
        (("--jaccard", "0.9"), "the threshold is min-probability"),
        (("--min-probability", "2"), "min-probability"),
        (("--engine", "spark"), "candidates records needs the local engine"),
        (("--verify", "exact"), "candidates records needs verify probability"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    answer = said("run", *two(tmp_path), "--preset", "records", "--out", tmp_path / "out", *options)
    assert (answer.code, words in answer.err) == (2, True), answer.err


def test_columns_with_other_names_are_found(tmp_path: Path) -> None:
    names = {"name": "Name", "born": "date of birth", "town": "place", "phone": "tel", "id": "id"}
    sources = (
        write(tmp_path / "left.csv", LEFT),
        write(tmp_path / "right.csv", [{names[name]: value for name, value in row.items()} for row in RIGHT]),
    )
    answer = said("run", *sources, "--preset", "records", "--out", tmp_path / "out")
    assert "phone and tel are taken for the same column" in answer.err
    assert set(found_in(tmp_path / "out")) == TRUE
    given = ("--fields", "left.phone=right.tel,born:date,born=date of birth,town:ignore")
    answer = said("run", *sources, "--preset", "records", "--out", tmp_path / "more", *given, "--across", "any")
    assert "town" not in answer.err
    assert set(found_in(tmp_path / "more")) == TRUE


def test_columns_that_are_one_elsewhere(tmp_path: Path) -> None:
    parted = [{"first": row["name"].split(" ")[0], "last": row["name"].split(" ")[1], **row} for row in LEFT]
    for row in parted:
        del row["name"]
    sources = write(tmp_path / "left.csv", parted), write(tmp_path / "right.csv", RIGHT)
    answer = said("run", *sources, "--preset", "records", "--out", tmp_path / "out", "--fields", "first+last=name")
    assert "first+last: name" in answer.err
    assert set(found_in(tmp_path / "out")) == TRUE
    twice = ("--fields", "first=name,last=name")
    answer = said("run", *sources, "--preset", "records", "--out", tmp_path / "other", *twice)
    assert (answer.code, "name is named twice; join columns" in answer.err) == (2, True)


def test_persons_of_one_household_are_several(tmp_path: Path) -> None:
    others = persons(3, 12)
    homes = [{**other, "id": f"H{at:03}", "phone": row["phone"], "town": row["town"]}
             for at, (row, other) in enumerate(zip(LEFT[30:42], others, strict=True))]  # fmt: skip
    for row, home in zip(LEFT[30:42], homes, strict=True):
        first = FIRST[(FIRST.index(row["name"].split(" ")[0]) + 5) % len(FIRST)]
        home["name"] = f"{first} {row['name'].split(' ')[1]}"
    rows = [*LEFT, *homes, *(row for row in RIGHT if row["id"].startswith("Q"))]
    answer = said("run", write(tmp_path / "all.csv", rows), "--preset", "records", "--out", tmp_path / "out")
    assert answer.code == 0
    assert set(found_in(tmp_path / "out")) == {(f"P{number:03}", f"Q{number:03}") for number in range(20)}


def test_a_store_whose_weights_are_damaged(tmp_path: Path) -> None:
    esdedup.run(*two(tmp_path), out=tmp_path / "out", preset="records", report=False)
    with esdedup.open_store(tmp_path / "out" / "store.duckdb", threads=1) as store:
        scan = store.ledger.get("scan")
        scan["summary"]["learned"]["levels"][1].pop()
        store.ledger.set(scan=scan)
        scan["summary"]["scanning"]["review"] = str(tmp_path / "evil.csv")
        store.ledger.set(scan=scan)
        assert steps.next_scanning(store, Settings.of()).flat()["review"] is None
    with pytest.raises(StoreError, match="damaged; scan again"):
        esdedup.explain("left/P001", "right/Q001", store=tmp_path / "out" / "store.duckdb")
