"""What stands in a reference collection is dropped, and nothing of the collection is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import EsdedupError, SourceError, StoreSettingsError, UsageError
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.stores import Stores
from tests.support.written import lines

OLD = corpus(31, 120)
NEW = corpus(77, 60)


def jsonl(path: Path, rows: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in rows.items()), "utf-8")
    return path


def one_word(text: str) -> str:
    words = text.split()
    words[len(words) // 2] = "zebra"
    return " ".join(words)


LEAKS = {
    "identical": OLD[3],
    "word": one_word(OLD[7]),
    "case": OLD[11].upper().replace(".", ""),
    "inside": " ".join(OLD[15].split()[2:-2]),
}


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "new.jsonl", {**{f"n{at}": text for at, text in enumerate(NEW)}, **LEAKS})


@pytest.mark.parametrize("at_once", few([20, 100_000], 0))
def test_sources_and_stores(
    tmp_path: Path, new: Path, stores: Stores, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esdedup.jobs.against._OLD_AT_ONCE", at_once)
    monkeypatch.setattr("esdedup.jobs.against._TOKENS_AT_ONCE", 10 * at_once)
    source = jsonl(tmp_path / "old.jsonl", {f"o{at}": text for at, text in enumerate(OLD)})
    (tmp_path / "reference").mkdir()
    reference = stores.at(tmp_path / "reference")
    esdedup.index(source, store=reference)
    alone = esdedup.dedupe(new, out=tmp_path / "alone")
    of_source = esdedup.dedupe(new, out=tmp_path / "a", store=stores.at(tmp_path / "a"), against=source)
    of_store = esdedup.dedupe(new, out=tmp_path / "b", store=stores.at(tmp_path / "b"), against=[reference])
    assert of_source.records == of_store.records
    for name in ("new.jsonl", "drops.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    drops = {row["id"]: row for row in lines(tmp_path / "a" / "drops.jsonl") if row["reason"] == "in_reference"}
    assert {key: drops[key]["reference"] for key in ("identical", "word", "case")} == {
        "identical": "o3", "word": "o7", "case": "o11",
    }  # fmt: skip
    assert drops["word"]["reference_text"] == OLD[7]
    assert "inside" not in drops
    # what is new is deduplicated among itself as before
    assert of_source.records["dropped"]["near"] <= alone.records["dropped"]["near"]
    assert not [path for path in (tmp_path / "a").iterdir() if path.name.startswith(".references")]


def test_inside_a_longer_text(tmp_path: Path, new: Path) -> None:
    source = jsonl(tmp_path / "old.jsonl", {f"o{at}": text for at, text in enumerate(OLD)})
    esdedup.dedupe(new, out=tmp_path / "a", against=source, contained=0.9)
    [row] = [row for row in lines(tmp_path / "a" / "drops.jsonl") if row["id"] == "inside"]
    assert (row["reason"], row["kept"]) == ("in_reference", None)
    assert row["share"] >= 0.9
    assert row["reference_text"] == OLD[int(row["reference"][1:])]
    both = jsonl(tmp_path / "both.jsonl", {"short": LEAKS["inside"], "long": OLD[15]})
    esdedup.dedupe(both, out=tmp_path / "b", contained=0.9, jaccard=0.99)
    [row] = lines(tmp_path / "b" / "drops.jsonl")
    assert (row["id"], row["reason"], row["kept"]) == ("short", "contained", "long")


def test_other_settings_than_those_of_the_reference(tmp_path: Path, new: Path) -> None:
    store = tmp_path / "old.duckdb"
    esdedup.index(jsonl(tmp_path / "old.jsonl", {"o": OLD[0]}), store=store)
    with pytest.raises(StoreSettingsError, match=r"shingle char:5, you requested char:9"):
        esdedup.dedupe(new, out=tmp_path / "a", against=store, shingle="char:9")


def test_pages_that_hold_a_question_are_marked(tmp_path: Path) -> None:
    train, asked = questions(tmp_path)
    esdedup.dedupe(
        train, out=tmp_path / "out", against=asked, against_text_column="question", containing=0.9, against_only=True,
        annotate=True,
    )  # fmt: skip
    told = lines(tmp_path / "out" / "train.jsonl")
    assert len(told) == len(lines(train))
    assert {row["id"] for row in told if not row["esdedup"]["keep"]} == {"n4", "n8"}


@pytest.mark.parametrize("name", ["q.jsonl", "q.csv"])
def test_the_advice_about_a_reference_is_about_it(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    train, _ = questions(tmp_path)
    asked = tmp_path / name
    asked.write_text('{"question": "Who?"}\n' if name == "q.jsonl" else "no,question\n1,Who?\n")
    with pytest.raises(EsdedupError, match="--against-text-column") as told:
        esdedup.dedupe(train, out=tmp_path / "out", against=asked)
    assert " --text-column" not in caplog.text + str(told.value)
    assert not (tmp_path / "out").exists()


def test_references_that_cannot_be_compared_with(tmp_path: Path, new: Path) -> None:
    old = jsonl(tmp_path / "old.jsonl", {f"o{at}": text for at, text in enumerate(OLD)})
    sentences, records, other = (tmp_path / f"{name}.duckdb" for name in ("sentences", "records", "other"))
    esdedup.index(old, store=sentences, unit="sentence")
    esdedup.index(old, store=records)
    esdedup.index(old, store=other, shingle="char:7")
    empty = jsonl(tmp_path / "empty.jsonl", {"a": "", "b": " "})
    out = tmp_path / "out"
    wrong: list[tuple[object, type[Exception], str]] = [
        (sentences, StoreSettingsError, "holds sentences, and what is new would be compared as records; .*--unit"),
        (
            [records, other],
            StoreSettingsError,
            r"records.duckdb has shingle .* and .*other.duckdb has .*; compare",
        ),
        (empty, SourceError, "none of its texts can be compared: 2 without text"),
        ([old, empty], SourceError, "empty.jsonl: none of its texts can be compared"),
        (new, UsageError, "is a source and also --against"),
        (tmp_path / "no.jsonl", SourceError, "no such file"),
    ]
    for reference, error, message in wrong:
        with pytest.raises(error, match=message):
            esdedup.dedupe(new, out=out, against=reference)
        assert not out.exists()
    with pytest.raises(UsageError, match="is --store and also --against"):
        esdedup.dedupe(new, out=out, store=records, against=records)
    with pytest.raises(StoreSettingsError, match="holds sentences"):
        esdedup.dedupe(NEW, against=sentences)
    assert esdedup.dedupe(new, out=out, against=sentences, unit="sentence").unit == "sentence"


def test_ids_of_several_references_begin_with_their_names(tmp_path: Path, new: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        esdedup.index(jsonl(tmp_path / folder / "old.jsonl", {"o": OLD[3]}), store=tmp_path / folder / "old.duckdb")
    source = jsonl(tmp_path / "more.jsonl", {"m": OLD[7]})
    stores = [tmp_path / folder / "old.duckdb" for folder in ("one", "two")]
    found = esdedup.dedupe(new, out=tmp_path / "out", against=[*stores, source])
    named = {row["id"]: row["reference"] for row in lines(tmp_path / "out" / "drops.jsonl") if "reference" in row}
    assert named == {"identical": f"{stores[0]}/o", "word": "more/m"}
    assert found.records["dropped"]["in_reference"] == 2


def test_a_dry_run_writes_nothing(tmp_path: Path, new: Path) -> None:
    before = sorted(tmp_path.iterdir())
    found = esdedup.dedupe(new, dry_run=True)
    assert sorted(tmp_path.iterdir()) == before
    assert found.files == []
    assert [loss["lost"] for loss in found.losses] == sorted((loss["lost"] for loss in found.losses), reverse=True)
    again = esdedup.dedupe(new, out=tmp_path / "a")
    assert found.records == again.records


def questions(tmp_path: Path) -> tuple[Path, Path]:
    """A training set, in which questions stand inside pages, and the questions."""
    rows = {f"n{at}": " ".join(NEW[at : at + 3]) for at in range(0, 40, 4)}
    rows["n4"] += f" {OLD[3].upper()}"
    rows["n8"] = f"{OLD[5].replace(' ', ', ')} {rows['n8']}"
    train = jsonl(tmp_path / "train.jsonl", rows | {"copy": rows["n12"]})
    asked = tmp_path / "questions.jsonl"
    asked.write_text("".join(json.dumps({"id": f"q{at}", "question": OLD[at]}) + "\n" for at in range(8)))
    return train, asked


@pytest.mark.both_stores
def test_pages_that_hold_a_question_go(tmp_path: Path, stores: Stores) -> None:
    train, asked = questions(tmp_path)
    for only in (False, True):
        out = tmp_path / str(only)
        done = esdedup.dedupe(
            train, out=out, store=stores.at(out), against=asked, against_text_column="question", containing=0.9,
            against_only=only,
        )  # fmt: skip
        drops = {row["id"]: row for row in lines(out / "drops.jsonl")}
        assert drops.keys() == {"n4", "n8"} | (set() if only else {"copy"})
        for key, question in (("n4", "q3"), ("n8", "q5")):
            assert (drops[key]["reason"], drops[key]["reference"]) == ("in_reference", question)
            assert (drops[key]["share"], drops[key]["jaccard"], drops[key]["kept"]) == (1.0, None, None)
        assert done.records["kept"] == len(lines(out / "train.jsonl"))
        table = esdedup.dedupe(
            lines(train), against=asked, against_text_column="question", containing=0.9, against_only=only
        )
        assert [{"source": "train", **row} for row in table.dropped] == [
            {"source": "train", **{name: row[name] for name in row if name != "source"}} for row in drops.values()
        ]


def test_a_reference_whose_texts_are_not_found(tmp_path: Path) -> None:
    train, asked = questions(tmp_path)
    with pytest.raises(SourceError, match="name it with --against-text-column"):
        esdedup.dedupe(train, out=tmp_path / "out", against=asked)
    for options in ({"containing": 0.5}, {"against_only": True}, {"against_text_column": "question"}):
        with pytest.raises(UsageError, match="reference collection"):
            esdedup.dedupe(train, out=tmp_path / "out", **options)
    with pytest.raises(UsageError, match="exclude each other"):
        esdedup.dedupe(train, out=tmp_path / "out", against=asked, against_only=True, contained=0.9)


def test_what_stands_inside_a_reference_is_in_it(tmp_path: Path) -> None:
    new = jsonl(tmp_path / "new.jsonl", {"part": " ".join(OLD[9].split()[2:-2]), "whole": OLD[20]})
    old = jsonl(tmp_path / "old.jsonl", {"o": OLD[9]})
    esdedup.dedupe(new, out=tmp_path / "out", against=old, contained=0.9, jaccard=0.99)
    [row] = lines(tmp_path / "out" / "drops.jsonl")
    assert (row["id"], row["reason"], row["reference"], row["share"]) == ("part", "in_reference", "o", 1.0)
    [row] = esdedup.dedupe(lines(new), against=lines(old), contained=0.9, jaccard=0.99).dropped
    assert (row["reason"], row["share"]) == ("in_reference", 1.0)


def test_records_are_ranked_against_a_reference(tmp_path: Path) -> None:
    """By the cosine of rare pairs of characters, whose threshold is not Jaccard's."""
    options = {"verify": "cosine", "candidates": "queries", "query_by": "shingles", "shingle": "char:2"}
    old = jsonl(tmp_path / "old.jsonl", {f"o{at}": text for at, text in enumerate(OLD[:30])})
    new = jsonl(tmp_path / "new.jsonl", {"a": one_word(OLD[7]), "b": NEW[5]})
    esdedup.dedupe(new, out=tmp_path / "out", against=old, cosine=0.35, **options)
    assert [(row["id"], row["reference"]) for row in lines(tmp_path / "out" / "drops.jsonl")] == [("a", "o7")]
    with pytest.raises(UsageError, match="the threshold is cosine"):
        esdedup.dedupe(new, out=tmp_path / "out", against=old, jaccard=0.9, **options)
