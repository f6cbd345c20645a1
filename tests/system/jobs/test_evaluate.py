"""Clusters of a store against golden ones, and the preset for documents, on every store."""

from __future__ import annotations

import json
import random
import shutil
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.cli import main
from esdedup.errors import EsdedupError, StoreError, UsageError
from tests.support.corpus import edited, sentence
from tests.support.records import table
from tests.support.stores import RunJob, Stores
from tests.support.written import lines, results

PERFECT = {"precision": 1.0, "recall": 1.0, "f1": 1.0, "adjusted_rand_index": 1.0}


def preset() -> dict[str, Any]:
    entry = resources.files("esdedup") / "presets" / "documents.toml"
    return {name.replace("-", "_"): value for name, value in tomllib.loads(entry.read_text("utf-8")).items()}


def articles(folder: Path) -> Path:
    """Ten documents: a, b and c are alike, d and e are equal, f and g are alike, the rest is alone."""
    source = random.Random(8)
    one, two, three = (" ".join(sentence(source, 20) for _ in range(8)) for _ in range(3))
    rows = [
        ("a", one), ("b", edited(source, one, 6)), ("c", one.replace(".", "!").upper()), ("d d", two), ("e", two),
        ("f", three), ("g", edited(source, three, 9)),
        *((name, " ".join(sentence(source, 20) for _ in range(8))) for name in "hij"),
    ]  # fmt: skip
    return table(folder / "articles.tsv", rows)


@pytest.fixture(scope="module")
def in_a_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run on a file leaves: made once, and copied for each test."""
    folder = tmp_path_factory.mktemp("made")
    Stores("embedded", "").run(articles(folder), out=folder, **preset())
    return folder


@pytest.fixture
def store(tmp_path: Path, run: RunJob, stores: Stores, in_a_file: Path) -> str:
    if stores.on_server:
        run(articles(tmp_path), out=tmp_path, **preset())
    else:
        shutil.copytree(in_a_file, tmp_path, dirs_exist_ok=True)
    return stores.at(tmp_path)


def golden(folder: Path, content: str | bytes) -> Path:
    path = folder / "golden.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.both_stores
def test_documents_end_in_clusters(tmp_path: Path, store: str) -> None:
    assert (tmp_path / "clusters.txt").read_text("utf-8").splitlines() in (
        [*order] for order in (("a b c", "d%20d e", "f g"), ("a b c", "f g", "d%20d e"))
    )
    pairs = {(pair["a"], pair["b"]): pair for pair in lines(tmp_path / "pairs.jsonl")}
    assert pairs["a", "c"]["shared_tokens"] == 200
    assert 100 < pairs["a", "b"]["shared_tokens"] < 200
    assert pairs["a", "b"]["jaccard"] is None
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert summary["settings"]["candidates"] == "agreement"
    assert (summary["settings"]["signature"], summary["settings"]["agreement"]) == (200, 0.5)
    found = esdedup.explain("a", "b", store=store)
    assert found["values_agreeing"] == pairs["a", "b"]["shared_tokens"]
    assert found["verdict"].startswith(f"a pair: {found['values_agreeing']} of 200 values")
    assert "it takes 101" in esdedup.explain("a", "h", store=store)["verdict"]


def test_memory_and_workers_change_no_byte(tmp_path: Path, run: RunJob, store: str) -> None:
    run(articles(tmp_path), out=tmp_path / "other", memory="256MiB", workers=1, **preset())
    assert results(tmp_path / "other") == results(tmp_path)


def test_what_is_added_is_found(tmp_path: Path, store: str) -> None:
    [row] = [line for line in (tmp_path / "articles.tsv").read_text().splitlines() if line.startswith("h\t")]
    more = table(tmp_path / "more.tsv", [("k", row[2:].lower())])
    summary = esdedup.add(more, store=store, source_name="articles")
    assert summary["counts"]["clusters"] == 4
    assert summary["settings"]["candidates"] == "agreement"


def test_its_own_listing_is_perfect(tmp_path: Path, store: str) -> None:
    found = esdedup.evaluate(store=store, golden=tmp_path / "clusters.txt")
    expected = {"golden_clusters": 3, "output_clusters": 3, "golden_not_in_output": 0, "output_not_in_golden": 0}
    assert found.to_dict() == {"sentences": 10, "golden": expected | PERFECT}


@pytest.mark.parametrize(
    "content",
    ["b a c\r\n\r\ne d%20d\r\nf\tg\r\n", b"\xef\xbb\xbfa b c\n\n  \ne d%20d\nh\nf g", "a b c\ni\nd%20d e\nf g\nj\n\n"],
    ids=["windows", "mark", "alone"],
)
def test_forms_of_golden_files(tmp_path: Path, store: str, content: str | bytes) -> None:
    found = esdedup.evaluate(store=store, golden=golden(tmp_path, content))["golden"]
    assert (found["golden_clusters"], found["golden_not_in_output"], found["output_not_in_golden"]) == (3, 0, 0)


def test_differences_are_counted(tmp_path: Path, store: str) -> None:
    # output abc, de, fg: 5 pairs; golden ab, ch, de, fi: 4 pairs; in both ab and de
    found = esdedup.evaluate(store=store, golden=golden(tmp_path, "a b\nh c\nd%20d e\nf i\nj\n"))["golden"]
    assert (found["golden_clusters"], found["output_clusters"]) == (4, 3)
    assert (found["golden_not_in_output"], found["output_not_in_golden"]) == (3, 2)
    assert (found["precision"], found["recall"]) == (2 / 5, 2 / 4)
    assert found["f1"] == pytest.approx(4 / 9)
    # 45 pairs of documents
    assert found["adjusted_rand_index"] == pytest.approx((2 - 20 / 45) / (4.5 - 20 / 45))


def test_nothing_golden(tmp_path: Path, store: str) -> None:
    found = esdedup.evaluate(store=store, golden=golden(tmp_path, ""))["golden"]
    assert (found["golden_clusters"], found["output_not_in_golden"]) == (0, 3)
    assert (found["precision"], found["recall"], found["f1"]) == (0.0, None, None)
    assert found["adjusted_rand_index"] == 0.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\n\nd%20d nobody\n", "line 3: nobody is not in "),
        ("a b\nh%20\n", "line 2: h%20 is not in "),
        ("a b\nc a\n", "line 2: a is also in line 1"),
        ("a b\r\n\r\nc c\r\n", "line 3: c stands there twice"),
        (b"a b\nc \xff\n", "line 2: not UTF-8"),
        (b"\xff\xfea\x00 \x00b\x00", "line 1: not UTF-8"),
    ],
)
def test_bad_golden_files(
    tmp_path: Path, store: str, content: str | bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = golden(tmp_path, content)
    with pytest.raises(EsdedupError, match="golden") as error:
        esdedup.evaluate(store=store, golden=path)
    assert message in str(error.value)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--store", store, "--golden", str(path)])
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_no_golden_file(tmp_path: Path, store: str) -> None:
    with pytest.raises(EsdedupError, match=r"nothing\.txt: No such file"):
        esdedup.evaluate(store=store, golden=tmp_path / "nothing.txt")
    with pytest.raises(EsdedupError, match="Is a directory"):
        esdedup.evaluate(store=store, golden=tmp_path)
    with pytest.raises(UsageError, match="golden"):
        esdedup.evaluate(store=store)


def test_a_store_that_is_not_scanned(tmp_path: Path, address: str) -> None:
    esdedup.index(articles(tmp_path), store=address, **{name: preset()[name] for name in ("unit", "normalize")})
    with pytest.raises(StoreError, match="not scanned yet"):
        esdedup.evaluate(store=address, golden=golden(tmp_path, "a b"))


def test_the_command_prints_every_score(tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as end:
            main(["evaluate", "--store", store, "--golden", str(golden(tmp_path, "a b c\nf g\n")), *more])
        assert end.value.code == 0
    text, as_json = capsys.readouterr().out.rstrip("\n").rsplit("\n", 1)
    assert json.loads(as_json) == esdedup.evaluate(store=store, golden=tmp_path / "golden.txt").to_dict()
    for line in ("3  clusters of the store", "0  |G−O|", "1  |O−G|", "0.800000  precision", "1.000000  recall"):
        assert line in text
