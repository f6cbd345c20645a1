"""Which copy stays: the same one of files, tables and stores, and every dropped row says why it lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import esdedup
from esdedup.errors import UsageError
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.stores import Stores
from tests.support.written import lines

TEXTS = corpus(21, 160)
ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{number}",
        "text": text,
        "score": None if number % 7 == 3 else (number * 37) % 11 / 10,
        "day": "soon" if number % 9 == 4 else f"2026-{1 + number * 5 % 12:02}-{1 + number * 7 % 28:02}",
        "from": ("web", "archive", "mail")[number % 3],
        "meta": {"rank": number * 13 % 17},
    }
    for number, text in enumerate(TEXTS)
]
KEEPS = (
    "longest",
    "clean",
    "best:score",
    "lowest:score,longest",
    "newest:day",
    "oldest:day,best:meta.rank",
    "prefer:from=archive,mail,longest",
)


def jsonl(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("keep", few(KEEPS, 1, 5))
def test_files_tables_and_stores_keep_the_same_rows(keep: str, tmp_path: Path, stores: Stores) -> None:
    source = jsonl(tmp_path / "news.jsonl")
    found = esdedup.dedupe(ROWS, columns="text", keep=keep)
    out = tmp_path / "out"
    written = esdedup.dedupe(source, out=out, store=stores.at(out), keep=keep)
    assert lines(out / "news.jsonl") == found.kept
    assert [{**row, "source": "news"} for row in found.dropped] == lines(out / "drops.jsonl")
    assert written.no_value == found.no_value
    rows = {row["id"]: row for row in ROWS}
    assert len(found.dropped) > 20
    for drop in found.dropped:
        assert drop["by"] in {*keep.replace("archive,mail", "archive;mail").split(","), keep, "first"} | {
            "prefer:from=archive,mail"
        }
        if drop["by"] == "best:score":
            assert (drop["score"], drop["kept_score"]) == (rows[drop["id"]]["score"], rows[drop["kept"]]["score"])
            assert drop["score"] is None or drop["score"] < drop["kept_score"]
        if drop["by"] == "longest":
            lengths = [len(rows[drop[end]]["text"]) for end in ("id", "kept")]
            assert [drop["length"], drop["kept_length"]] == lengths
            assert lengths[0] < lengths[1]


def test_every_format_has_columns(tmp_path: Path) -> None:
    plain = [{name: value for name, value in row.items() if name != "meta"} for row in ROWS]
    frame = pl.DataFrame(plain)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "b.arrow")
    frame.write_csv(tmp_path / "c.csv")
    values = [["" if value is None else value for value in row.values()] for row in plain]
    tsv = "".join("\t".join(map(str, row)) + "\n" for row in (plain[0], *values))
    (tmp_path / "d.tsv").write_text(tsv, "utf-8")
    (tmp_path / "e.json").write_text(json.dumps(plain), "utf-8")
    jsonl(tmp_path / "f.jsonl", plain)
    expected = [drop["id"] for drop in esdedup.dedupe(frame, keep="best:score,newest:day").dropped]
    for source in sorted(tmp_path.glob("?.*")):
        out = tmp_path / source.stem
        header: dict[str, Any] = {"header": True} if source.suffix == ".tsv" else {}
        esdedup.dedupe(source, out=out, keep="best:score,newest:day", text_column="text", **header)
        assert [drop["id"] for drop in lines(out / "drops.jsonl")] == expected, source


def test_a_time_with_an_offset_is_a_moment() -> None:
    text = "The ferry to the island of Halm leaves the old harbour at nine, with the mail and the milk."
    times = ["2020-05-02T01:00:00+00:00", "2020-05-01T23:30:00-05:00", "2020-05-02 02:00", "2020-05-02T04:00:00+0200"]
    rows = [{"id": str(place), "text": text + "." * place, "day": time} for place, time in enumerate(times)]
    [kept] = esdedup.dedupe(rows, columns="text", keep="newest:day", jaccard=0.6).kept
    assert kept["id"] == "1"
    [kept] = esdedup.dedupe(rows, columns="text", keep="oldest:day", jaccard=0.6).kept
    assert kept["id"] == "0"


def test_sources_are_preferred_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    short = "One text about the harbour of the town, and its ships."
    one = jsonl(tmp_path / "one.jsonl", [{"id": "a", "text": short}, {"id": "b", "text": short + " Yes."}])
    two = jsonl(tmp_path / "two.jsonl", [{"id": "c", "text": short + " Yes, it is so."}])
    for sources, kept in (((one, two), "b"), ((two, one), "c")):
        out = tmp_path / kept
        esdedup.dedupe(*sources, out=out, keep="source-order,longest")
        drops = lines(out / "drops.jsonl")
        assert {drop["kept"].rpartition("/")[2] for drop in drops} == {kept}
        assert {drop["by"] for drop in drops} <= {"source-order", "longest"}
    with pytest.raises(UsageError, match="a table in memory has none"):
        esdedup.dedupe(ROWS, columns="text", keep="source-order")


def test_a_page_of_a_wiki_has_a_timestamp(tmp_path: Path) -> None:
    esdedup.sample("wiki").write(tmp_path)
    [dump] = tmp_path.glob("*.xml*")
    esdedup.dedupe(dump, out=tmp_path / "out", keep="newest:timestamp")
    by = {drop["by"] for drop in lines(tmp_path / "out" / "drops.jsonl")}
    assert "newest:timestamp" in by
    with pytest.raises(UsageError, match="a page of a wiki has timestamp"):
        esdedup.dedupe(dump, out=tmp_path / "no", keep="best:score")


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("best", "give best:COLUMN"),
        ("prefer:from", "give prefer:COLUMN=A,B"),
        ("longest:3", "give longest"),
        ("newst:day", "allowed: first, longest, none, clean, newest:COLUMN"),
        ("none,first", "leaves no draw"),
        ("longest,longest", "twice"),
        ("best:scroe", "scroe"),
        ("best:text", "no record has a value of 'text' that best can compare"),
        (["best:score", 3], "allowed: first"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said(keep: Any, said: str, tmp_path: Path) -> None:
    source = jsonl(tmp_path / "news.jsonl")
    for thing in (lambda: esdedup.dedupe(ROWS, columns="text", keep=keep),
                  lambda: esdedup.dedupe(source, out=tmp_path / "out", keep=keep)):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            thing()
    assert not (tmp_path / "out").exists()
    lined = tmp_path / "a.txt"
    lined.write_text("One line.\nAnother line.\n")
    with pytest.raises(UsageError, match="lines has no columns"):
        esdedup.dedupe(lined, out=tmp_path / "out", format="lines", keep="best:score")


def test_a_clean_copy_stays_and_a_killed_job_goes_on(tmp_path: Path) -> None:
    clean = "The ferry left the old harbour at nine, and the winter storm drove it back before it reached the island."
    damaged = [
        clean.replace("winter", "wintwintwinter"), clean.replace("back", "back <<< PAGE BREAK >>> \ufffd\ufffd"),
        clean.replace("harbour", "har- bour").replace("storm", "st0rm"), clean[:-14],
        clean.replace(" ", "  ").replace("the", "<b>the</b>"), clean.replace("é", "Ã©") + " Read more",
    ]  # fmt: skip
    for place in range(len(damaged) + 1):
        texts = [*damaged[:place], clean, *damaged[place:]]
        found = esdedup.dedupe(texts, keep="clean", jaccard=0.4)
        assert clean in found.kept
        assert all(row["damage"] > row["kept_damage"] for row in found.dropped if row["by"] == "clean")


HALL = "The old town hall of Norvik was built in 1790 and had 3,412 books in its library, which the pilots paid for."


def test_what_contradicts_stays(tmp_path: Path, stores: Stores) -> None:
    other = HALL.replace("3,412", "5,700")
    texts = [HALL, other, HALL.replace("paid for", "had paid for"), other, HALL]
    rows = [{"id": f"r{number}", "text": text} for number, text in enumerate(texts)]
    source, out = jsonl(tmp_path / "halls.jsonl", rows), tmp_path / "out"
    found = esdedup.dedupe(rows, columns="text", jaccard=0.6, keep_contradictions=True)
    assert found.kept == [rows[0], rows[1]]
    assert {row["id"]: (row["kept"], row["reason"]) for row in found.dropped} == {
        "r2": ("r0", "near"), "r3": ("r1", "identical"), "r4": ("r0", "identical"),
    }  # fmt: skip
    assert [cluster["members"] for cluster in found.clusters] == [["r0", "r2", "r4"], ["r1", "r3"]]
    proof = tmp_path / "cert.json"
    done = esdedup.dedupe(
        source, out=out, store=stores.at(out), jaccard=0.6, keep_contradictions=True, certificate=proof
    )
    assert done.contradictions == 1
    assert lines(out / "halls.jsonl") == found.kept
    assert lines(out / "drops.jsonl") == [{**row, "source": "halls"} for row in found.dropped]
    assert not esdedup.verify(proof).problems
    with pytest.raises(UsageError, match="keep none exclude"):
        esdedup.dedupe(source, out=out, keep="none", keep_contradictions=True)


def test_terms_of_damage_are_explained(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": HALL}, {"id": "b", "text": HALL.replace("books", "bookbookbooks \ufffd")}]
    for keep in ("clean", "first"):
        esdedup.dedupe(jsonl(tmp_path / "a.jsonl", rows), out=tmp_path / keep, keep=keep, jaccard=0.6)
        found = esdedup.explain("a", "b", store=tmp_path / keep / "store.duckdb").to_dict()
        if keep == "first":
            assert "damage" not in found
            continue
        one, two = found["damage"]
        assert {"replacement", "doubled inside words"} <= two.keys() - one.keys()
        assert sum(two.values()) > sum(one.values())
