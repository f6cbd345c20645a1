"""`evaluate --truth`, on both stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import EvaluationError, StoreError, UsageError
from tests.support.commands import esdedup as command
from tests.support.corpus import true_pairs
from tests.support.killed import KilledError
from tests.support.records import RECORDS, records, table

FEW: dict[str, Any] = {**RECORDS, "bands": 2, "rows": 8}


def indexed(folder: Path, address: str, seed: int) -> list[tuple[str, str]]:
    rows = records(seed, 400)
    esdedup.index(table(folder / "a.tsv", rows), store=address, **FEW)
    return rows


def test_against_every_pair(tmp_path: Path, address: str) -> None:
    rows = indexed(tmp_path, address, 121)
    esdedup.scan(store=address, jaccard=0.7)
    truth = true_pairs([text for _, text in rows], 0.7)
    found = esdedup.evaluate(store=address, truth="exact")["truth"]
    pairs = esdedup.status(store=address)["last_scan"]["counts"]["pairs"]
    assert (found["true_pairs"], found["found_pairs"], found["right_pairs"]) == (len(truth), pairs, pairs)
    assert found["recall"] == pairs / len(truth) < 1
    assert found["precision"] == 1
    assert sum(row["true_pairs"] for row in found["by_jaccard"]) == len(truth)
    assert all(row["from"] >= 0.7 and row["right_pairs"] <= row["true_pairs"] for row in found["by_jaccard"])
    stricter = esdedup.evaluate(store=address, truth="exact", jaccard=0.9)["truth"]
    assert stricter["true_pairs"] == len(true_pairs([text for _, text in rows], 0.9))
    assert (stricter["threshold"], stricter["precision"]) == (0.9, None)
    esdedup.scan(store=address, jaccard=0.7, exact=True)
    assert esdedup.evaluate(store=address, truth="exact")["truth"]["recall"] == 1


@pytest.mark.both_stores
def test_against_a_file(tmp_path: Path, address: str) -> None:
    rows = indexed(tmp_path, address, 122)
    esdedup.scan(store=address, jaccard=0.8)
    texts = dict(rows)
    first = {text: key for key, text in reversed(rows)}
    truth = [(first[a], first[b], jaccard) for (a, b), jaccard in true_pairs(list(texts.values()), 0.8).items()]
    twins = [key for key, text in rows if first[text] != key]
    path = tmp_path / "truth.tsv"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + "".join(f"{a}\t{b}\t{jaccard:.6f}\r\n" for a, b, jaccard in truth).encode()
        + f"\r\n{twins[0]}\t{first[texts[twins[0]]]}\n".encode()
    )
    found = esdedup.evaluate(store=address, truth=path)["truth"]
    exact = esdedup.evaluate(store=address, truth="exact")["truth"]
    assert {**exact, "same_text": 1} == {**found, "threshold": 0.8}
    path.write_text(f"{truth[0][1]}\t{truth[0][0]}\n{truth[0][0]}\t{truth[0][1]}\n")
    assert esdedup.evaluate(store=address, truth=path)["truth"]["true_pairs"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("r1\tnobody\n", "line 1: no sentence nobody"),
        ("r1\tr2\nr1\n", "line 2: write two ids"),
        ("r1\tr2\tvery\n", "line 1: very is not a Jaccard"),
        ("r1\tr2\t0.8\tmore\n", "line 1: write two ids"),
        ("r1\tr2\tnan\n", "nan is not a Jaccard"),
        ("r1\tr2\t-7\n", "-7 is not a Jaccard"),
        ("r1\t" + 140_000 * "r" + "\n", "line 1: no sentence r{80} in "),
    ],
)
def test_files_that_say_nothing(tmp_path: Path, address: str, text: str, words: str) -> None:
    indexed(tmp_path, address, 123)
    esdedup.scan(store=address)
    path = tmp_path / "truth.tsv"
    path.write_text(text)
    with pytest.raises(EvaluationError, match=words):
        esdedup.evaluate(store=address, truth=path)


@pytest.mark.both_stores
def test_killed_as_it_counts(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(tmp_path, address, 126)
    esdedup.scan(store=address)
    monkeypatch.setattr("esdedup.jobs.scratch.KEPT_FROM", 0)

    def killed(_: Any) -> Any:
        raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr("esdedup.jobs.truths.score_pairs", killed)
        esdedup.evaluate(store=address, truth="exact")
    assert esdedup.evaluate(store=address, truth="exact")["truth"]["precision"] == 1


def test_what_cannot_be_evaluated(tmp_path: Path, address: str) -> None:
    indexed(tmp_path, address, 124)
    with pytest.raises(StoreError, match="not scanned yet"):
        esdedup.evaluate(store=address, truth="exact")
    esdedup.scan(store=address)
    with pytest.raises(UsageError, match="something to compare with"):
        esdedup.evaluate(store=address)
    with pytest.raises(EvaluationError, match="No such file"):
        esdedup.evaluate(store=address, truth=tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"r1\tr\xe9\n")
    with pytest.raises(EvaluationError, match="not UTF-8"):
        esdedup.evaluate(store=address, truth=tmp_path / "latin")


def test_on_the_command_line(tmp_path: Path) -> None:
    assert command("run", table(tmp_path / "a.tsv", records(125, 200)), "--out", "out", cwd=tmp_path).returncode == 0
    done = command("evaluate", "--store", "out/store.duckdb", "--truth", "exact", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "recall" in done.stdout
    wrong = command("evaluate", "--store", "out/store.duckdb", "--truth", "nowhere", cwd=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
