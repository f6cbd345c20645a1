"""A certificate holds of what was written, and of nothing else: whatever is changed is found."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.cli import main
from esdedup.errors import EsdedupError, SourceError, UsageError
from esdedup.jobs.certifying import checksum_of, digest_of
from scripts.benchmarks.alterations import CHANGES, Altering, rows_of
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.stores import Stores
from tests.support.written import lines

TEXTS = corpus(21, 120)
ROWS = [
    {"id": f"r{number}", "text": text + (f" {TEXTS[number - 3]}" if number % 5 == 0 else ""), "score": number * 37 % 11}
    for number, text in enumerate(TEXTS)
]


def sources(folder: Path) -> list[Path]:
    found = []
    for name, rows in (("a", ROWS[:70]), ("b", ROWS[70:])):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        found.append(path)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the inputs, and in `out` outputs and certificate."""
    folder = tmp_path_factory.mktemp("certified")
    out = folder / "out"
    esdedup.dedupe(*sources(folder), out=out, keep="best:score", certificate=out / "cert.json")
    return folder


def test_a_certificate_says_what_became_of_each_removed_text(made: Path) -> None:
    certificate = json.loads((made / "out" / "cert.json").read_text("utf-8"))
    rows, texts = rows_of(made / "out" / "cert.json"), {f"{name}/{row['id']}": row for name, row in named()}
    drops = lines(made / "out" / "drops.jsonl")
    assert [{name: row[name] for name in drop} for row, drop in zip(rows, drops, strict=True)] == drops
    assert certificate["rows"]["rows"] == len(rows) == sum(certificate["records"]["dropped"].values()) > 20
    for row in rows:
        assert texts[row["id"]] == ROWS[70 * row["file"] + row["place"] - 1]
        assert texts[row["kept"]] == ROWS[70 * row["kept_file"] + row["kept_place"] - 1]
        own, other = (set(sentences(texts[row[end]]["text"])) for end in ("id", "kept"))
        assert row["reason"] == "identical" or row["lost"] == len(own - other)
    assert certificate["lost"]["sentences"] == sum(row["lost"] or 0 for row in rows) > 0
    for each in certificate["inputs"] + certificate["outputs"]:
        path = made / ("out" if "input" in each else "") / Path(each["path"]).name
        assert each["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def named() -> Iterator[tuple[str, dict[str, Any]]]:
    for place, row in enumerate(ROWS):
        yield "a" if place < 70 else "b", row


def sentences(text: str) -> list[str]:
    return ["".join(filter(str.isalnum, sentence.casefold())) for sentence in esdedup.split(text)]


def test_the_same_certificate_of_both_stores(tmp_path: Path, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources(tmp_path)
    held = []
    for store in (stores.at(Path("out")), tmp_path / "again.duckdb"):
        esdedup.dedupe("a.jsonl", "b.jsonl", out="out", store=store, fresh=True, keep="clean", certificate="cert.json")
        held.append((Path("cert.json").read_bytes(), [path.read_bytes() for path in tmp_path.glob("cert.*.jsonl")]))
        assert esdedup.verify("cert.json").to_dict() == {
            "rows": len(rows_of(Path("cert.json"))), "compared": len(rows_of(Path("cert.json"))), "share": 1.0,
            "problems": [], "not_checked": [],
        }  # fmt: skip
    assert held[0] == held[1]


@pytest.mark.parametrize("options", [{"unit": "sentence"}, {"annotate": True}, {"contained": 0.9}, {"keep": "none"}])
def test_a_true_certificate_holds(options: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    esdedup.dedupe(*sources(tmp_path), out=out, certificate=tmp_path / "cert.json", **options)
    found = esdedup.verify(tmp_path / "cert.json")
    assert found.problems == []
    assert found.rows > 0
    assert (found.compared == found.rows) == (options.keys() <= {"unit", "annotate"})
    assert bool(found.not_checked) == (found.compared < found.rows)
    assert 0 < esdedup.verify(tmp_path / "cert.json", sample=0.5).compared < found.rows or found.compared < found.rows


def test_of_a_dry_run_and_of_a_wiki_it_is_said_what_is_not_checked(tmp_path: Path) -> None:
    first, second = sources(tmp_path)
    esdedup.dedupe(first, dry_run=True, certificate=tmp_path / "dry.json")
    found = esdedup.verify(tmp_path / "dry.json")
    assert (found.problems, found.not_checked) == ([], [f"{first}: nothing was written (--dry-run)"])
    esdedup.sample("wiki").write(tmp_path)
    [dump] = tmp_path.glob("*.xml*")
    esdedup.dedupe(dump, out=tmp_path / "out", certificate=tmp_path / "wiki.json")
    found = esdedup.verify(tmp_path / "wiki.json")
    assert found.problems == []
    assert found.not_checked[0] == f"{dump}: texts with markup, so only hashes and counts are checked"
    assert second.exists()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_is_found(
    change: Callable[[Altering, random.Random], None], signed: bool, made: Path, tmp_path: Path
) -> None:
    chance = random.Random(f"{change.__name__} {signed}")
    for number in range(4):
        held = Altering(made, tmp_path / str(number), chance)
        change(held, chance)
        held.save(signed=signed)
        found = esdedup.verify(held.path, input=held.folder, output=held.folder / "out")
        assert found.problems, (change.__name__, signed, number)


def test_an_unchanged_copy_elsewhere_holds(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "there")
    there = tmp_path / "there"
    moved = esdedup.verify(there / "out" / "cert.json", input=[there / "a.jsonl", there], output=there / "out")
    assert (moved.problems, moved.not_checked) == ([], [])
    shutil.rmtree(there / "out", ignore_errors=True)
    shutil.copytree(made / "out", there / "out")
    (there / "a.jsonl").unlink()
    (there / "out" / "b.jsonl").unlink()
    found = esdedup.verify(there / "out" / "cert.json", input=there, output=there / "out")
    assert any("a.jsonl: this input is not there; name it" in problem for problem in found.problems)
    assert any("b.jsonl: this output is not there" in problem for problem in found.problems)


def test_the_command_ends_with_1_if_something_is_not_true(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = Altering(made, tmp_path / "there", random.Random(1))
    arguments = ["verify", str(held.path), "--input", str(held.folder), "--output", str(held.folder / "out")]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--sample", "50%"])
    assert not ended.value.code
    assert "the certificate holds" in capsys.readouterr().out
    held.rows.pop()
    held.save(signed=False)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert "was changed: it does not have the rows that the certificate names" in capsys.readouterr().out


def test_what_is_no_certificate_is_said_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "cert.json"
    for content, said in (
        ("{", "is not JSON"),
        ("[1]", "is not a certificate"),
        ('{"certificate": 1}', "is not a cert"),
    ):
        path.write_text(content, "utf-8")
        with pytest.raises(EsdedupError, match=said):
            esdedup.verify(path)
    with pytest.raises(EsdedupError, match="No such file"):
        esdedup.verify(tmp_path / "nothing.json")
    with pytest.raises(UsageError, match="sample is 2"):
        esdedup.verify(path, sample=2)
    with pytest.raises(UsageError, match="certificate does not apply to a table"):
        esdedup.dedupe(["a", "b"], certificate=path)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match=r"certificate: .* is no folder; make it first"):
        esdedup.dedupe(*sources(tmp_path), out=tmp_path / "out", certificate=tmp_path / "no" / "cert.json")


def test_warnings_and_the_page(tmp_path: Path) -> None:
    hall = "The old town hall of Norvik was built in 1790 and had 3,412 books in its library, which <b>they</b> had."
    middle = "A ferry to the island goes at nine, at ten and at noon. It waits for the mail. The captain is never late."
    head = middle.replace("A ferry", "A large white ferry with two decks and a kitchen that the town had bought")
    tail = middle.replace("late.", "late, and the crew of the boat knows everybody who crosses the strait.")
    texts = [hall, hall.replace("3,412", "5,700"), middle, head, tail]
    source = tmp_path / "a.jsonl"
    source.write_text(
        "".join(json.dumps({"id": f"r{n}", "text": text}) + "\n" for n, text in enumerate(texts)), "utf-8"
    )
    proof = tmp_path / "cert.json"
    esdedup.dedupe(source, out=tmp_path / "out", jaccard=0.5, certificate=proof, report=True)
    held = json.loads(proof.read_text("utf-8"))
    assert held["contradictions"] == 1
    said = "\n".join(held["warnings"])
    assert "r1: removed, though it states another fact than r0" in said
    assert "a: 3 of 5 texts were removed" in said
    assert held["recall"] == {"texts": 5, "pairs": 3, "found": 3, "low": 0.4385, "high": 1.0}
    page = (tmp_path / "cert.html").read_text("utf-8")
    assert "5,700" in page
    assert "&lt;b&gt;they" in page
    assert "<b>they" not in page
    assert not esdedup.verify(proof).problems
    with pytest.raises(UsageError, match="add certificate"):
        esdedup.dedupe(source, out=tmp_path / "out", report=True)


def test_ends_that_are_not_alike(tmp_path: Path) -> None:
    words = ["".join(letters) for letters in product("ptk", "aeiou", "lmn")]
    middle, one, two = words[:40], words[:26], words[14:40]
    source, proof = tmp_path / "a.jsonl", tmp_path / "cert.json"
    rows = [{"id": name, "text": " ".join(some)} for name, some in (("m", middle), ("x", one), ("y", two))]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    esdedup.dedupe(source, out=tmp_path / "out", jaccard=0.6, shingle="word:1", certificate=proof)
    assert [row["id"] for row in rows_of(proof)] == ["x", "y"]
    far = [line for line in json.loads(proof.read_text("utf-8"))["warnings"] if "not alike" in line]
    assert len(far) == 0  # 12 of 40 words in common is half of .6
    rows[1]["text"], rows[2]["text"] = " ".join(words[:25]), " ".join(words[15:40])
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    esdedup.dedupe(source, out=tmp_path / "out", jaccard=0.6, shingle="word:1", certificate=proof, fresh=True)
    far = [line for line in json.loads(proof.read_text("utf-8"))["warnings"] if "not alike" in line]
    assert far == [line for line in far if "x and y were removed" in line]
    assert len(far) == 1


def test_the_certificate_of_a_table(tmp_path: Path) -> None:
    found = esdedup.dedupe(ROWS, columns="text", keep="best:score")
    held = found.certificate()
    assert held["checksum"] == checksum_of(held)
    assert held["records"] == found.records
    assert [{name: row[name] for name in drop} for row, drop in zip(held["rows"], found.dropped, strict=True)] == (
        found.dropped
    )
    [source] = [tmp_path / "all.jsonl"]
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    proof = tmp_path / "cert.json"
    esdedup.dedupe(source, out=tmp_path / "out", keep="best:score", certificate=proof)
    of_files = json.loads(proof.read_text("utf-8"))
    for name in ("rows", "sentences", "columns", "first_records"):
        assert held["lost"][name] == of_files["lost"][name]
    assert 0 < held["lost"]["columns"]["score"] == sum("other_values" in row for row in held["rows"])
    assert held["contradictions"] == of_files["contradictions"]


HOUSE = "The grey house at the river has seven rooms, two cellars and a garden behind it."
HOUSES = [
    {"id": "a", "text": HOUSE, "price": "10", "seen": "", "agent": "Ann"},
    {"id": "b", "text": HOUSE, "price": "12", "seen": "", "agent": "Ann"},
    {"id": "c", "text": f"{HOUSE} Yes.", "price": "", "seen": "June", "agent": "Ann"},
]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet", "arrow"])
def test_values_that_the_kept_record_has_not(ending: str, tmp_path: Path) -> None:
    source, frame = tmp_path / f"a.{ending}", pl.DataFrame(HOUSES)
    if ending in ("jsonl", "json"):
        source.write_text(
            json.dumps(HOUSES) if ending == "json" else "".join(json.dumps(row) + "\n" for row in HOUSES), "utf-8"
        )
    elif ending in ("csv", "tsv"):
        separator, quote = (",", "necessary") if ending == "csv" else ("\t", "never")
        frame.write_csv(source, separator=separator, quote_style=quote)
    else:
        (frame.write_parquet if ending == "parquet" else frame.write_ipc)(source)
    options: dict[str, Any] = {"header": True} if ending == "tsv" else {}
    proof = tmp_path / "cert.json"
    esdedup.dedupe(source, out=tmp_path / "out", certificate=proof, report=True, **options)
    lost = json.loads(proof.read_text("utf-8"))["lost"]
    assert lost["columns"] == {"price": 1, "seen": 1}
    assert [(each["id"], each["columns"]) for each in lost["first_records"]] == [
        ("b", {"price": ["12", "10"]}),
        ("c", {"seen": ["June", ""]}),
    ]
    assert [row["other_values"] for row in rows_of(proof)] == [["price"], ["seen"]]
    assert "<code>price</code></bdi> 1, <bdi><code>seen" in (tmp_path / "cert.html").read_text("utf-8")
    assert not esdedup.verify(proof).problems
    esdedup.dedupe(source, out=tmp_path / "out", certificate=proof, merge="price=lowest:price,seen=most", **options)
    assert json.loads(proof.read_text("utf-8"))["lost"]["columns"] == {"price": 1}


def test_what_precedes_damage_is_certified(tmp_path: Path) -> None:
    """Also where columns decide and are merged."""
    whole, cut = tmp_path / "whole.arrow", tmp_path / "cut.arrow"
    rows = [{"id": f"r{number}", "text": text, "score": 1} for number, text in enumerate([*TEXTS, *TEXTS[:5]])]
    table = pa.Table.from_pylist([*rows, *rows])
    with pa.ipc.new_file(whole, table.schema) as writer:
        for begin in range(0, table.num_rows, 25):
            writer.write_table(table.slice(begin, 25))
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    options: dict[str, Any] = {"keep": "best:score", "merge": "score=most", "out": tmp_path / "out"}
    with pytest.raises(SourceError, match="cannot be read as Arrow"):
        esdedup.dedupe(cut, **options)
    proof = tmp_path / "cert.json"
    found = esdedup.dedupe(cut, certificate=proof, keep_going=True, **options)
    assert len(found.damaged) == 1
    assert found.records["kept"] < found.records["in"] < table.num_rows
    checked = esdedup.verify(proof)
    assert (checked.problems, checked.compared) == ([], len(rows_of(proof)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.jsonl", "the job itself reads or writes"),
        ("out/a.jsonl", "the job itself reads or writes"),
        ("out/drops.jsonl", "the job itself reads or writes"),
        ("out/store.duckdb", "the job itself reads or writes"),
        ("out/.esdedup.json", "the job itself reads or writes"),
        ("out", "the job itself reads or writes"),
        ("elsewhere", "is a folder; name a file"),
        ("none/cert.json", "is no folder; make it first"),
        ("cert.html", "the page gets its name with .html"),
        ("b.json", "the job itself reads or writes .*b.html"),
    ],
)
def test_a_certificate_overwrites_nothing(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = sources(Path())
    (tmp_path / "elsewhere").mkdir()
    second.rename("b.html")
    before = first.read_bytes()
    with pytest.raises(UsageError, match=said):
        esdedup.dedupe(first, "b.html", out="out", certificate=name, report=True, format="jsonl")
    assert first.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_files_of_one_name_are_found_by_their_bytes_and_a_format_may_be_named(tmp_path: Path) -> None:
    for folder, rows in (("x", ROWS[:40]), ("y", ROWS[40:])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    proof, folders = tmp_path / "cert.json", [tmp_path / "x", tmp_path / "y"]
    esdedup.dedupe(*folders, out=tmp_path / "out", certificate=proof, format="jsonl")
    files = [folder / "part" for folder in reversed(folders)]
    for given in ((), folders, folders[::-1], files):
        assert esdedup.verify(proof, input=given).problems == []


@pytest.mark.parametrize("column", few(["file", "place", "position", "lost", "gave", "other_values"], 0, 3))
def test_a_column_named_as_a_field_of_rows_is_told_under_another_name(column: str, tmp_path: Path) -> None:
    source, proof = tmp_path / "a.jsonl", tmp_path / "cert.json"
    rows = [{"id": row["id"], "text": row["text"], column: row["score"]} for row in ROWS]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    esdedup.dedupe(source, out=tmp_path / "out", keep=f"best:{column}", certificate=proof)
    assert all(f"{column}_value" in row for row in rows_of(proof) if row.get("by") == f"best:{column}")
    assert esdedup.verify(proof).problems == []


def test_what_contained_texts_and_those_of_references_lose_is_counted(tmp_path: Path) -> None:
    whole = " ".join(f"{text}." for text in TEXTS[:4])
    rows = [{"id": "whole", "text": whole}, {"id": "part", "text": f"{' '.join(whole.split()[:40])}. And Zorbla."}]
    source, reference, proof = tmp_path / "a.jsonl", tmp_path / "ref.jsonl", tmp_path / "cert.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    old = {"id": "old", "text": rows[1]["text"].replace("Zorbla", "Grumble")}
    reference.write_text(json.dumps(old) + "\n", "utf-8")
    esdedup.dedupe(source, out=tmp_path / "out", contained=0.7, certificate=proof, report=True)
    [row] = rows_of(proof)
    assert (row["id"], row["kept"], row["reason"]) == ("part", "whole", "contained")
    assert row["lost"] >= 1
    held = json.loads(proof.read_text("utf-8"))["lost"]
    assert (held["rows"], held["sentences"]) == (1, row["lost"])
    assert any("Zorbla" in sentence for sentence in held["first"][0]["sentences"])
    assert "Zorbla" in (tmp_path / "cert.html").read_text("utf-8")
    assert esdedup.verify(proof).problems == []
    esdedup.dedupe(source, out=tmp_path / "other", against=reference, certificate=proof)
    [row] = rows_of(proof)
    assert (row["reason"], row["reference"], row["lost"]) == ("in_reference", "old", 1)
    assert (esdedup.verify(proof).problems, esdedup.verify(proof).compared) == ([], 1)


def test_a_merged_text_loses_nothing_that_it_has(tmp_path: Path) -> None:
    cut = f"{HOUSE} It has a red roof. It was sold in"
    rows = [{"id": "cut", "text": cut, "n": None}, {"id": "whole", "text": f"{cut} May. Nobody lives there.", "n": 2}]
    source, proof = tmp_path / "a.jsonl", tmp_path / "cert.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    merge = "text=longest,n=best:n"
    esdedup.dedupe(source, out=tmp_path / "out", merge=merge, certificate=proof, jaccard=0.5)
    lost = json.loads(proof.read_text("utf-8"))["lost"]
    assert (lost["rows"], lost["columns"]) == (0, {})
    assert esdedup.verify(proof).problems == []
    table = esdedup.dedupe(rows, merge=merge, jaccard=0.5).certificate()
    assert (table["lost"]["rows"], table["lost"]["columns"], table["settings"]["merge"]) == (0, {}, merge)
    said = hashlib.sha256((rows[1]["text"] + "\0").encode()).hexdigest()
    assert table["output"] == {"rows": 1, "sha256": said}


def test_times_that_python_has_not_and_numbers_that_json_has_not(tmp_path: Path) -> None:
    far = pa.array([2**55, 2**55 + 1], pa.int64())
    columns = {
        "id": ["a", "b"], "text": [HOUSE, HOUSE],
        "ns": far.cast(pa.timestamp("ns")), "far": far.cast(pa.timestamp("us")),
        "took": far.cast(pa.duration("ns")), "clock": pa.array([1, 10**9]).cast(pa.time64("ns")),
        "deep": pa.array([[{"x": float("nan"), "t": 1}], [{"x": 1.5, "t": 2}]],
                         pa.list_(pa.struct([("x", pa.float64()), ("t", pa.timestamp("ns"))]))),
    }  # fmt: skip
    source, proof = tmp_path / "a.parquet", tmp_path / "cert.json"
    pq.write_table(pa.table(columns), source)
    esdedup.dedupe(source, out=tmp_path / "out", certificate=proof)
    lost = json.loads(proof.read_text("utf-8"), parse_constant=lambda sign: pytest.fail(sign))["lost"]
    assert lost["columns"] == dict.fromkeys(("clock", "deep", "far", "ns", "took"), 1)
    assert esdedup.verify(proof).problems == []


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.update(records={}),
        lambda held: held.update(sources=[{}]),
        lambda held: held.update(settings={}),
        lambda held: held["inputs"][0].pop("path"),
        lambda held: held["rows"].update(path=""),
        lambda held: held["records"].update(kept="5"),
        lambda held: held.update(lost={}),
    ],
)
def test_a_certificate_of_another_form_is_a_problem(
    change: Callable[[dict[str, Any]], Any], made: Path, tmp_path: Path
) -> None:
    held = Altering(made, tmp_path / "there", random.Random(1))
    certificate = json.loads(held.path.read_text("utf-8"))
    change(certificate)
    held.path.write_text(json.dumps(certificate | {"checksum": checksum_of(certificate)}), "utf-8")
    assert esdedup.verify(held.path, input=held.folder, output=held.folder / "out").problems


def test_other_ids_in_an_output_are_found(made: Path, tmp_path: Path) -> None:
    held = Altering(made, tmp_path / "there", random.Random(1))
    output = held.folder / "out" / "a.jsonl"
    rows = [json.loads(line) | {"id": "other"} for line in output.read_text("utf-8").splitlines()]
    output.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    certificate = json.loads(held.path.read_text("utf-8"))
    certificate["outputs"][0] |= digest_of(output)
    held.path.write_text(json.dumps(certificate | {"checksum": checksum_of(certificate)}), "utf-8")
    [problem] = esdedup.verify(held.path, input=held.folder, output=held.folder / "out").problems
    assert "is not" in problem
    assert "without the removed texts" in problem


def test_a_certificate_of_a_table_is_not_for_verify(tmp_path: Path) -> None:
    proof = tmp_path / "cert.json"
    proof.write_text(json.dumps(esdedup.dedupe(ROWS, columns="text").certificate()), "utf-8")
    with pytest.raises(EsdedupError, match="of a table in memory"):
        esdedup.verify(proof)
