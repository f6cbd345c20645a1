"""The preset `random-projection` from end to end: on every store, from the command line, and what others say of it."""

from __future__ import annotations

import gzip
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import esdedup
from esdedup.cli import cli, main
from esdedup.errors import SettingsError, StoreError, UsageError, VectorsError
from tests.support.corpus import corpus, edited, sentence
from tests.support.full import FULL, few
from tests.support.records import RECORDS, records, table
from tests.support.stores import RunJob
from tests.support.vectors import as_binary, as_text
from tests.support.written import lines, results

OPTIONS: dict[str, Any] = {"unit": "record", "min_chars": 0, "candidates": "projection", "verify": "none"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return table(tmp_path / "a.tsv", [*records(21), ("n1", "1, 2, 3 and so on."), ("n2", "1, 2, 3 and so on.")])


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """Commands in this process set up the log."""
    logger = logging.getLogger("esdedup")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


@pytest.mark.both_stores
def test_a_run_tells_how_it_was_made(tmp_path: Path, source: Path, run: RunJob) -> None:
    summary = run(source, out=tmp_path / "out", report=True, **OPTIONS)
    assert summary["settings"]["candidates"] == "projection"
    told = ("vector-length", "signature-bits", "permutations", "window", "hamming")
    assert [summary["settings"][name] for name in told] == [400, 100, 10, 10, 5]
    assert summary["verified"] is False
    assert summary["counts"]["collisions"] is None
    assert summary["counts"]["pairs"] == summary["counts"]["candidates"] > 10
    assert summary["skipped"]["no_words"] == 1
    pairs = lines(tmp_path / "out" / "pairs.jsonl")
    assert {(pair["jaccard"], pair["word_edit_distance"]) for pair in pairs} == {(None, None)}
    # identical texts are copies also if they have no word that counts
    clusters = lines(tmp_path / "out" / "clusters.jsonl")
    assert ["n1", "n2"] in [[member["id"] for member in one["members"]] for one in clusters]
    again = run(source, out=tmp_path / "out", report=True, **OPTIONS)
    assert list(again["seconds"]) == ["export", "report"]
    other = run(source, out=tmp_path / "out", **OPTIONS | {"hamming": 0})
    assert other["counts"]["pairs"] < summary["counts"]["pairs"]
    by_tokens = run(source, out=tmp_path / "out", unit="record", min_chars=0)
    assert "hamming" not in by_tokens["settings"]
    assert "no_words" not in by_tokens["skipped"]


def test_pairs_by_cosine_are_verified(tmp_path: Path, source: Path, run: RunJob) -> None:
    summary = run(source, out=tmp_path / "out", **OPTIONS | {"verify": "cosine", "hamming": 12})
    assert summary["verified"] is True
    assert summary["settings"]["cosine"] == 0.9
    pairs = lines(tmp_path / "out" / "pairs.jsonl")
    assert len(pairs) > 10
    assert all(pair["jaccard"] is not None and pair["word_edit_distance"] is not None for pair in pairs)
    assert any(one["min_jaccard"] is not None for one in lines(tmp_path / "out" / "clusters.jsonl"))


@pytest.mark.parametrize(
    "options", few([{}, {"verify": "cosine", "hamming": 12}, {"vectors": True, "across": "documents"}], 2)
)
def test_both_stores_give_the_same(
    tmp_path: Path, source: Path, elastic_url: str, elastic_prefix: str, options: dict[str, Any]
) -> None:
    if "vectors" in options:
        options = options | {"vectors": vectors_of(source, tmp_path / "vectors.bin")}
    esdedup.run(source, out=tmp_path / "one", **OPTIONS | options)
    server = f"{elastic_url}/{elastic_prefix}"
    esdedup.run(source, out=tmp_path / "two", store=server, memory="256MiB", workers=1, **OPTIONS | options)
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert len(lines(tmp_path / "one" / "pairs.jsonl")) > 5


def vectors_of(source: Path, path: Path) -> Path:
    random_numbers = random.Random(3)
    path.write_bytes(as_binary({word: [random_numbers.gauss(0, 1) for _ in range(60)] for word in words_of(source)}))
    return path


def words_of(source: Path) -> list[str]:
    return sorted(set(source.read_text("utf-8").lower().replace(".", " ").replace("\t", " ").split()))


def test_vectors_of_a_file_stand_in_the_summary(tmp_path: Path, source: Path) -> None:
    path = vectors_of(source, tmp_path / "vectors.bin")
    summary = esdedup.run(source, out=tmp_path / "out", vectors=path, **OPTIONS)
    assert summary["settings"]["vectors"] == str(path)
    assert "vector-length" not in summary["settings"]


def test_another_file_under_the_same_name_is_another_scan(tmp_path: Path, source: Path) -> None:
    path = vectors_of(source, tmp_path / "vectors.bin")
    words = esdedup.run(source, out=tmp_path / "out", vectors=path, **OPTIONS)["counts"]["pairs"]
    assert list(esdedup.run(source, out=tmp_path / "out", vectors=path, **OPTIONS)["seconds"]) == ["export", "report"]
    path.write_bytes(as_text({word: [1.0, 0.0] for word in words_of(source)}))
    again = esdedup.run(source, out=tmp_path / "out", vectors=path, **OPTIONS)
    assert "collide" in again["seconds"]
    assert again["counts"]["pairs"] > words


def test_what_cannot_be_scanned_again_is_said_before_anything_changes(tmp_path: Path, source: Path) -> None:
    path = vectors_of(source, tmp_path / "vectors.bin")
    store = tmp_path / "store.duckdb"
    before = esdedup.run(source, out=tmp_path / "out", store=store, vectors=path, **OPTIONS)["counts"]
    path.unlink()
    with pytest.raises(VectorsError, match="No such file"):
        esdedup.remove("n1", store=store)
    status = esdedup.status(store=store)
    assert status["counts"]["documents"] == before["documents"]
    assert status["unfinished"] is None
    path.write_bytes(as_text({word: [1.0, 0.0] for word in words_of(source)}))
    assert esdedup.remove("n1", store=store)["removed"] == 1


def test_the_preset_is_the_papers(tmp_path: Path, logging_as_before: None) -> None:
    text = " ".join(corpus(22, 60))
    table(tmp_path / "a.tsv", [("x", text), ("y", text.replace("Ba", "Bo"))])
    found = CliRunner().invoke(
        cli, ["run", str(tmp_path / "a.tsv"), "--out", str(tmp_path / "out"), "--preset", "random-projection",
         "--unit", "sentence", "--json"],
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    settings = json.loads((tmp_path / "out" / "summary.json").read_text())["settings"]
    expected = {
        "min-chars": 75, "max-chars": 600, "seed": 1123456, "vector-length": 400, "signature-bits": 100,
        "permutations": 10, "window": 10, "hamming": 5, "verify": "none", "candidates": "projection",
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected


BAD_FILES = {
    "missing": (None, "No such file"),
    "not word2vec": (b"\x7fELF\x02\x01\x01", "not in word2vec's format"),
    "truncated": (as_text({"alpha": [1.0, 2.0], "beta": [1.0, 2.0]}, "3 2"), "ends within word 3"),
    "mixed": (as_text({"alpha": [1.0, 2.0], "beta": [1.0]}), "line 3 does not contain"),
    "other words": (as_text({"unheard": [1.0, 2.0]}), "none of its 1 words"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_vectors_end_in_one_line(
    tmp_path: Path, source: Path, case: str, capsys: pytest.CaptureFixture[str], logging_as_before: None
) -> None:
    data, message = BAD_FILES[case]
    path = tmp_path / "vectors"
    if data is not None:
        path.write_bytes(data)
    command = ["run", source, "--out", tmp_path / "out", "--preset", "random-projection", "--vectors", path, "--quiet"]
    with pytest.raises(SystemExit) as end:
        main([str(part) for part in [*command, "--unit", "record", "--min-chars", 0]])
    told = capsys.readouterr()
    assert end.value.code == 1
    assert told.out == ""
    assert told.err.startswith(f"esdedup: --vectors {path}: ")
    assert message in told.err
    assert told.err.count("\n") == 1
    assert (tmp_path / "out").exists() == (case not in ("missing", "not word2vec"))  # said before anything is done


@pytest.mark.parametrize(
    "options",
    [
        {"hamming": 101}, {"hamming": -1}, {"signature_bits": 129}, {"window": 0}, {"permutations": 0},
        {"vector_length": 0}, {"vector_length": 5000}, {"cosine": 0}, {"cosine": 1.1}, {"window": 2.5}, {"vectors": ""},
        {"candidates": "tokens", "vectors": "v"}, {"candidates": "tokens", "verify": "cosine"},
        {"word_edit_distance": 3},
    ],
)  # fmt: skip
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        esdedup.Settings.of(**OPTIONS | options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hamming": 3}, "hamming needs candidates projection; now candidates is tokens"),
        ({"candidates": "queries", "window": 3}, "window needs candidates projection; now candidates is queries"),
        ({"exact": True, "top": 3}, "top needs candidates queries; now candidates is exact"),
        ({"agreement": 0.3}, "agreement needs candidates agreement; now candidates is tokens"),
        ({"signature": 30}, "signature needs candidates agreement or queries; now candidates is tokens"),
        ({"candidates": "projection", "cosine": 0.8}, "cosine needs verify cosine; now verify is exact"),
    ],
)
def test_options_that_would_make_no_difference_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        esdedup.Settings.of(**options)


@pytest.mark.parametrize(
    ("preset", "flags", "candidates", "verify"),
    [
        ("random-projection", ["--exact"], "exact", "exact"),
        ("records-cosine", ["--exact"], "exact", "exact"),
        ("solr", ["--candidates", "tokens"], "tokens", "exact"),
        ("records-cosine", ["--verify", "exact"], "queries", "exact"),
        ("documents", ["--candidates", "queries"], "queries", "none"),
    ],
)
def test_flags_win_over_what_a_preset_says_for_other_candidates(
    tmp_path: Path, preset: str, flags: list[str], candidates: str, verify: str, logging_as_before: None
) -> None:
    source = table(tmp_path / "a.tsv", [("1", corpus(22, 1)[0])])
    command = ["run", str(source), "--out", str(tmp_path / "out"), "--preset", preset, *flags, "--json"]
    told = json.loads(CliRunner().invoke(cli, command).stdout)["settings"]
    assert (told["candidates"], told["verify"]) == (candidates, verify)


def test_what_else_looks_by_minhash_says_so(
    tmp_path: Path, address: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("esdedup"), "handlers", [caplog.handler])
    monkeypatch.setattr(logging.getLogger("esdedup"), "propagate", False)
    source = random.Random(5)
    base = sentence(source, 40)
    near, other = edited(source, base, 1), sentence(source, 40)
    rows = [("a", base), ("b", near), ("c", other), ("d", base), ("e", "1 2 3")]
    esdedup.index(table(tmp_path / "t.tsv", rows), store=address, unit="record", min_chars=0)
    scanned = {name: value for name, value in OPTIONS.items() if name in ("candidates", "verify")}
    esdedup.scan(store=address, **scanned, hamming=20)
    verdicts = {key: esdedup.explain("a", key, store=address)["verdict"] for key in "bcde"}
    assert verdicts["b"].startswith("a pair: by projection, their signatures differ in at most 20 of 100 bits")
    assert verdicts["c"].startswith("not a pair: by projection, their signatures differ in more than 20 of 100 bits")
    assert verdicts["d"].startswith("identical texts")
    assert not any("token" in verdict for verdict in verdicts.values())
    esdedup.scan(store=address, **scanned | {"verify": "exact"}, hamming=100, jaccard=0.95)
    assert "is below 0.95" in esdedup.explain("a", "c", store=address)["verdict"]
    esdedup.scan(store=address, **scanned | {"verify": "cosine"}, hamming=20, cosine=0.7)
    assert "cosine of their vectors reaches 0.7" in esdedup.explain("b", "a", store=address)["verdict"]
    with caplog.at_level("WARNING", logger="esdedup"):
        assert esdedup.similar(base, store=address)[0]["jaccard"] == 1
        [answer] = esdedup.similar_to_each([("one", base)], store=address)
        assert (answer["id"], answer["similar"][0]["jaccard"]) == ("one", 1)
    assert caplog.text.count("similar compares by Jaccard similarity") == 2
    more = table(tmp_path / "more.tsv", [("z", other)])
    with pytest.raises(StoreError, match=r"add needs candidates tokens .* run esdedup index"):
        esdedup.add(more, store=address)
    assert esdedup.remove("d", store=address)["counts"]["documents"] == 4  # scanned again as before
    assert esdedup.explain("a", "b", store=address)["verdict"].startswith("a pair: by projection")
    esdedup.index(more, store=address)
    esdedup.scan(store=address)
    assert "no token" in esdedup.explain("a", "c", store=address)["verdict"]
    with pytest.raises(StoreError, match="add needs candidates tokens"):
        esdedup.add(more, store=address, **scanned)


def test_a_list_of_texts_needs_a_store() -> None:
    with pytest.raises(UsageError, match="candidates projection needs a store"):
        esdedup.cluster_texts(["a", "b"], candidates="projection")


def test_dedupe_by_cosine_drops_what_it_compared(tmp_path: Path, source: Path) -> None:
    done = esdedup.dedupe(source, out=tmp_path / "out", **OPTIONS | {"verify": "cosine", "hamming": 12})
    run = esdedup.run(source, out=tmp_path / "run", **OPTIONS | {"verify": "cosine", "hamming": 12, "linkage": "star"})
    assert 0 < done.records["dropped"]["near"] <= run["counts"]["pairs"]


def test_real_sentences_that_differ_little_are_found(data_folder: Path, tmp_path: Path) -> None:
    """Descriptions of Debian packages, many of which are copies but for a word, against all true pairs."""
    sentences = data_folder / "sentences"
    options: dict[str, Any] = {
        **RECORDS, "min_chars": 75, "id_column": "line", "text_column": "2", "kinds": False,
        "limit": None if FULL else 30_000,
    }  # fmt: skip
    esdedup.run(
        sentences / "debian-descriptions.tsv.gz", out=tmp_path, **options | {"candidates": "projection", "hamming": 15}
    )
    with gzip.open(sentences / "debian-truth-jaccard-0.8.tsv.gz", "rt", encoding="utf-8") as rows:
        pairs = (row.split()[:3] for row in rows)
        truth = {(a, b): float(score) for a, b, score in pairs if FULL or max(int(a), int(b)) <= options["limit"]}
    found = {(pair["a"], pair["b"]): pair["jaccard"] for pair in lines(tmp_path / "pairs.jsonl")}
    truth |= {(b, a): jaccard for (a, b), jaccard in truth.items()}
    assert all(abs(truth[pair] - jaccard) < 1e-6 for pair, jaccard in found.items())
    # each pair stands in `truth` both ways round
    for least, share in ((0.98, 0.9), (0.95, 0.65), (0.8, 0.25)):
        alike = {pair for pair, jaccard in truth.items() if jaccard >= least}
        assert 2 * len(alike & found.keys()) / len(alike) > share
