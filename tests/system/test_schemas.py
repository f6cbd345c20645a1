"""Real output of every command is as its schema says, and changed output is not."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

from esdedup.cli import main
from esdedup.node.folder import Running
from esdedup.output.contents.json_schema import schema_of
from scripts.files_page.contents import ANSWERS, FILES
from scripts.files_page.examples import examples

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
ROWS = {each.name: each.row for each in (*FILES, *ANSWERS)}
ALL = sorted(ROWS)
WITHOUT_A_NODE = [name for name in ALL if name != "node-start"]

Outputs = dict[str, list[Any]]


def named(name: str) -> dict[str, Any]:
    return schema_of(ROWS[name])


def run(*arguments: object, code: int = 0) -> str:
    out, messages = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(messages):
        try:
            main([*map(str, arguments), "--quiet"])
            ended = 0
        except SystemExit as end:
            ended = int(end.code or 0)
    assert ended == code, messages.getvalue()
    return out.getvalue()


def values(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def said(*arguments: object, code: int = 0) -> list[Any]:
    return values(run(*arguments, "--json", code=code))


def held(path: Path) -> list[Any]:
    return values(path.read_text("utf-8"))


def jsonl(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"id": f"r{at}", "text": text}) + "\n" for at, text in enumerate(texts)))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.fixture(scope="module")
def outputs(folder: Path) -> Outputs:
    """What every command has written and printed, by its schema."""
    found: Outputs = {name: [] for name in ALL} | {name: [value] for name, value in examples().items()}
    for part in (runs(folder), answers(folder), updates(folder), rewritten(folder), others(folder)):
        for name, some in part.items():
            found[name] += some
    return found


def runs(folder: Path) -> Outputs:
    """Results of several kinds of scans, and the files of each."""
    towns, facts = EXAMPLES / "towns.xml", EXAMPLES / "facts.tsv"
    no_words = folder / "few.csv"
    no_words.write_text("id,text\n1,…\n1,An old bridge.\n2,\n3,An old bridge.\n", "utf-8")
    found: Outputs = {"run": [], "clusters": [], "pairs": [], "summary": []}
    for name, options in {
        "found": (towns, "--revisions", "all", "--jaccard", "0.7"),
        "facts": (facts, "--no-kinds", "--linkage", "star"),
        "exact": (facts, no_words, "--candidates", "exact", "--word-edit-distance", "3"),
        "unverified": (facts, "--verify", "none", "--unit", "sentence", "--min-chars", "80", "--seed", "7"),
        "agreement": (facts, "--preset", "documents", "--min-chars", "0"),
    }.items():
        found["run"] += said("run", *options, "--out", folder / name)
        found["clusters"] += held(folder / name / "clusters.jsonl")
        found["pairs"] += held(folder / name / "pairs.jsonl")
        found["summary"].append(json.loads((folder / name / "summary.json").read_text("utf-8")))
    return found


def answers(folder: Path) -> Outputs:
    """Answers about stores."""
    store = ("--store", folder / "found" / "store.duckdb")
    facts = ("--store", folder / "facts" / "store.duckdb")
    agreement = ("--store", folder / "agreement" / "store.duckdb")
    two = folder / "exact" / "store.duckdb"
    true_pairs = folder / "true.tsv"
    true_pairs.write_text("1:0\t2:0\n1:1\t2:1\t1.0\n3:1\t4:1\t0.795276\n", "utf-8")
    golden = ("--golden", folder / "found" / "clusters.txt")
    return {
        "status": [*said("status", *store), *said("status", *facts)],
        "suggest": [*said("suggest", "in 1904", *store), *said("suggest", "the museum", *facts)],
        "explain": [*said("explain", "1:1", "4:0", *store), *said("explain", "1", "2", *agreement)],
        "clusters-listed": [*said("clusters", *store), *said("clusters", *facts)],
        "overlap": [*said("overlap", *store), *said("overlap", "--by", "sources", "--store", two)],
        "evaluate": [
            *said("evaluate", "--truth", "exact", *golden, *store),
            *said("evaluate", "--truth", true_pairs, *store),
        ],
    }


def updates(folder: Path) -> Outputs:
    """A store that grows and shrinks."""
    store = ("--store", folder / "growing.duckdb")
    first = jsonl(folder / "first.jsonl", "An old bridge over the river.", "A new one.", "A new one.")
    more = jsonl(folder / "more.jsonl", "An old bridge over a river.", "An old bridge over the river.", "A new one.")
    found: Outputs = {"index": said("index", first, *store), "status": said("status", *store)}
    found["remove"] = said("remove", "r2", *store)
    found["run"] = said("scan", "--out", folder / "before", *store)
    found["add"] = said("add", more, "--out", folder / "after", *store)
    found["summary"] = [json.loads((folder / "after" / "summary.json").read_text("utf-8"))]
    found["clusters-listed"] = said("clusters", "--since", folder / "before", *store)
    found["remove"] += said("remove", "more/r2", "r9", *store, code=1)
    found["clusters-listed"] += said("clusters", "--since", folder / "after", *store)
    found["status"] += said("status", *store)
    changes = {row.get("change") for row in found["clusters-listed"]}
    assert {"new", "gone"} <= changes, changes
    return found


def rewritten(folder: Path) -> Outputs:
    """Collections without their duplicates, and what is said about the dropped records."""
    towns, facts = EXAMPLES / "towns.xml", EXAMPLES / "facts.tsv"
    old = jsonl(folder / "old.jsonl", "An old bridge over the river is the oldest building of all in this town.")
    new = jsonl(
        folder / "new.jsonl",
        "An old bridge over the river is the oldest building of all in this town.",
        "In the year of the great flood, when all of the bridges were lost, the council sold two mills to the miller.",
        "The council sold two mills to the miller.",
    )
    table = folder / "mills.csv"
    table.write_text("id,text\n1,A mill.\n2,A mill.\n3,A hill.\n", "utf-8")
    columns = folder / "mills.parquet"
    pq.write_table(pa.table({"id": ["1", "2", "3"], "text": ["A mill."] * 2 + ["A hill."]}), columns)
    found: Outputs = {"dedupe": [], "drops": []}
    for name, options in {
        "plain": (facts,),
        "none": (facts, "--keep", "none"),
        "against": (new, "--against", old, "--contained", "0.9"),
        "wiki": (towns, "--jaccard", "0.7"),
        "marked-wiki": (towns, "--annotate"),
        "marked-lines": (new, "--annotate", "--unit", "sentence", "--min-chars", "10"),
        "marked-csv": (table, "--annotate"),
        "marked-parquet": (columns, "--annotate"),
    }.items():
        found["dedupe"] += said("dedupe", *options, "--out", folder / name)
        found["drops"] += held(folder / name / "drops.jsonl")
    found["dedupe"] += said("dedupe", facts, "--dry-run")
    proof = folder / "cert.json"
    said("dedupe", facts, "--out", folder / "proven", "--certificate", proof)
    found["certificate"] = [json.loads(proof.read_text("utf-8"))]
    found["certificate-rows"] = held(folder / found["certificate"][0]["rows"]["path"])
    found["verify"] = said("verify", proof)
    assert {row["reason"] for row in found["drops"]} == {"identical", "near", "contained", "in_reference"}
    found["extract"] = [
        *said("extract", EXAMPLES / "towns.xml", "-o", folder / "plain.jsonl"),
        *said("extract", EXAMPLES / "towns.xml", "-o", folder / "plain.txt", "--sentences"),
    ]
    found["documents"] = held(folder / "plain.jsonl")
    found["cleaned-pages"] = [*held(folder / "wiki" / "towns.jsonl"), *held(folder / "marked-wiki" / "towns.jsonl")]
    with (folder / "marked-csv" / "mills.csv").open(encoding="utf-8", newline="") as lines:
        notes = [json.loads(row["esdedup"]) for row in csv.DictReader(lines)]
    notes += [row["esdedup"] for row in held(folder / "marked-lines" / "new.jsonl")]
    notes += map(json.loads, pq.read_table(folder / "marked-parquet" / "mills.parquet")["esdedup"].to_pylist())
    return {**found, "annotation": notes}


def others(folder: Path) -> Outputs:
    """Plans, a demo, and what needs a server or a node."""
    towns = EXAMPLES / "towns.xml"
    return {
        "plan": [*said("plan", "--schemes", "10x4"), *said("plan", towns, "--schemes", "10x4,10x10/20")],
        "demo": said("demo", "--out", folder / "demo", "--workers", "1"),
        "planted-clusters": held(folder / "demo" / "demo.truth.jsonl"),
        "node-stop": said("node", "stop", "--data", folder / "node"),
    }


@pytest.mark.parametrize("name", WITHOUT_A_NODE)
def test_output_is_as_its_schema_says(outputs: Outputs, name: str) -> None:
    schema = named(name)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert outputs[name]
    for value in outputs[name]:
        validator.validate(value)


@pytest.mark.parametrize("name", WITHOUT_A_NODE)
def test_changed_output_is_refused(outputs: Outputs, name: str) -> None:
    """A field with another name, one of another type, one more, and one less."""
    schema = named(name)
    validator = Draft202012Validator(schema)
    value = next(value for value in outputs[name] if isinstance(value, dict))
    takes_more = name in ("drops", "certificate-rows")  # columns of the user's
    assert validator.is_valid({**value, "another": 1}) == takes_more
    assert not validator.is_valid([value])
    required = schema.get("required", ["cluster", "keep"])
    for field, content in value.items():
        rest = {other: each for other, each in value.items() if other != field}
        assert validator.is_valid(rest) == (field not in required), field
        assert validator.is_valid({**rest, f"{field}s_": content}) == (takes_more and field not in required), field
        assert not validator.is_valid({**rest, field: ("a text" if isinstance(content, list) else [[1.5]])}), field


def test_a_kind_or_reason_that_does_not_exist_is_refused(outputs: Outputs) -> None:
    cluster, drop, summary = outputs["clusters"][0], outputs["drops"][0], outputs["summary"][0]
    assert not Draft202012Validator(named("clusters")).is_valid({**cluster, "kind": "others"})
    assert not Draft202012Validator(named("clusters")).is_valid({**cluster, "id": "x"})
    assert not Draft202012Validator(named("drops")).is_valid({**drop, "reason": "same"})
    settings = {**summary["settings"], "jaccard": 2.0}
    assert not Draft202012Validator(named("summary")).is_valid({**summary, "settings": settings})
    assert not Draft202012Validator(named("summary")).is_valid({**summary, "skipped": {"no_reason": 1}})


def test_parquet_files_have_the_same_fields(outputs: Outputs, folder: Path) -> None:
    run("run", EXAMPLES / "towns.xml", "--jaccard", "0.7", "--table", "parquet", "--out", folder / "parquet")
    types = {
        "pairs": ["string", "string", "double", "int32", "int32"],
        "clusters": ["string", "int64", "int64", "string", "double", "string", "double"],
    }
    for name, firsts in types.items():
        table = pq.read_table(folder / "parquet" / f"{name}.parquet")
        schema = named(name)
        assert table.schema.names == [name for name in schema["properties"] if name in schema["required"]]
        assert [str(kind) for kind in table.schema.types[: len(firsts)]] == firsts
        rows = table.to_pylist()
        assert rows
        for row in rows:
            Draft202012Validator(schema).validate(row)
    members = table.schema.field("members").type.value_type
    assert [field.name for field in members] == list(schema["$defs"]["ClusterMember"]["properties"])


def test_a_node_is_described_as_it_is_printed() -> None:
    node = Running(Path("data"), 7, "node-1", "http://127.0.0.1:9200", "127.0.0.1:9300", "9.0.0", True)
    Draft202012Validator(named("node-start")).validate(asdict(node) | {"data": str(node.data)})
    assert {field.name for field in fields(Running)} == set(named("node-start")["properties"])


def test_the_python_example_of_the_page_runs(outputs: Outputs, folder: Path) -> None:
    [script] = [
        part.split("```")[0] for part in (ROOT / "docs" / "files.md").read_text("utf-8").split("```python\n")[1:]
    ]
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
