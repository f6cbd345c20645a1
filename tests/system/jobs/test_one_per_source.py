"""Clean tables are linked: a cluster has one record of each source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import StoreError, UsageError
from tests.support.stores import Stores
from tests.support.written import lines

PEOPLE = [
    "Anna Müller, Hauptstrasse 12, 10115 Berlin, born 1971-03-04",
    "Anna Mueller, Hauptstrasse 12, 10115 Berlin, born 1971-03-05",
    "Bernd Schmidt, Nordweg 3, 20095 Hamburg, born 1980-12-01",
    "Bernt Schmidt, Nordweg 5, 20095 Hamburg, born 1980-12-11",
]


def tables(folder: Path) -> list[Path]:
    found = []
    for name, end in (("a", ""), ("b", "."), ("c", "!")):
        path = folder / f"{name}.jsonl"
        rows = [{"id": f"{name}{number}", "text": text + end} for number, text in enumerate(PEOPLE)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        found.append(path)
    return found


def test_one_record_of_each_table(tmp_path: Path, stores: Stores) -> None:
    a, b, c = tables(tmp_path)
    found = []
    for name, sources in (("one", (a, b, c)), ("two", (c, a, b))):
        out = tmp_path / name
        store = stores.at(out)
        summary = esdedup.run(*sources, out=out, store=store, unit="record", jaccard=0.3, one_per_source=True)
        assert summary.skipped["other_of_source"] > 0
        groups = [{member["id"] for member in row["members"]} for row in lines(out / "clusters.jsonl")]
        assert sorted(map(sorted, groups)) == [[f"{each}/{each}{number}" for each in "abc"] for number in range(4)]
        found.append([(out / name).read_bytes() for name in ("pairs.jsonl", "clusters.txt")])
        with pytest.raises(StoreError, match="decided by a whole scan"):
            esdedup.add(a, store=store)
    assert sorted(found[0][1].split(b"\n")) == sorted(found[1][1].split(b"\n"))
    assert sorted(found[0][0].split(b"\n")) == sorted(found[1][0].split(b"\n"))


def test_what_dedupe_drops(tmp_path: Path) -> None:
    a, b, _ = tables(tmp_path)
    with b.open("a") as more:  # a table that is not clean: its own copies stay
        more.write(json.dumps({"id": "b9", "text": PEOPLE[0] + "."}) + "\n")
    out = tmp_path / "out"
    esdedup.dedupe(a, b, out=out, jaccard=0.3, one_per_source=True)
    assert {row["id"]: row["kept"] for row in lines(out / "drops.jsonl")} == {
        f"b/b{number}": f"a/a{number}" for number in range(4)
    }


def test_where_nothing_is_alike(tmp_path: Path) -> None:
    for name, text in (("a", PEOPLE[0]), ("b", "A ferry to the island goes at nine, and it waits for the mail.")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": text}) + "\n", "utf-8")
    done = esdedup.dedupe(tmp_path / "a.jsonl", tmp_path / "b.jsonl", out=tmp_path / "out", one_per_source=True)
    assert done.records.kept == 2


def test_what_it_does_not_go_with(tmp_path: Path) -> None:
    [source, *_] = tables(tmp_path)
    with pytest.raises(UsageError, match="do not apply to a table in memory"):
        esdedup.dedupe(PEOPLE, one_per_source=True)
    with pytest.raises(UsageError, match="contained excludes"):
        esdedup.dedupe(source, out=tmp_path / "out", contained=0.9, one_per_source=True)
    with pytest.raises(UsageError, match="one-per-source need"):
        esdedup.cluster_texts(PEOPLE, one_per_source=True)
