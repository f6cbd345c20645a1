"""The whole job on small inputs: what the contract says comes out, however it is run."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.errors import NothingCompared, SettingsError, StoreSettingsError, StoreSourcesError, UsageError
from tests.support.corpus import sentence, true_pairs
from tests.support.records import RECORDS, SIGNED, records, table
from tests.support.stores import RunJob, Stores
from tests.support.written import lines, results

FILES = [
    "cluster-sizes.png", "clusters.jsonl", "clusters.txt", "pairs.jsonl", "report.html", "store.duckdb", "summary.json",
]  # fmt: skip


@pytest.mark.both_stores
def test_files_hold_what_the_contract_says(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    rows = records()
    out = tmp_path / "out"
    summary = run(table(tmp_path / "news.tsv", rows), out=out, report=True, **RECORDS)
    expected = [name for name in FILES if not (stores.on_server and name == "store.duckdb")]
    assert sorted(path.name for path in out.iterdir()) == expected
    first: dict[str, str] = {}
    for key, text in sorted(rows):
        first.setdefault(text, key)
    truth = true_pairs([text for _, text in rows], 0.8)
    expected = sorted(sorted((first[a], first[b])) for a, b in truth)
    pairs = lines(out / "pairs.jsonl")
    assert [[pair["a"], pair["b"]] for pair in pairs] == expected
    for pair in pairs:
        assert list(pair) == ["a", "b", "jaccard", "word_edit_distance", "shared_tokens"]
    clusters = lines(out / "clusters.jsonl")
    assert [(-one["size"], one["id"]) for one in clusters] == sorted((-one["size"], one["id"]) for one in clusters)
    texts = dict(rows)
    for cluster in clusters:
        assert list(cluster) == [
            "id", "size", "distinct", "kind", "kind_confidence", "kind_reason", "min_jaccard", "weakest",
            "representative", "members",
        ]  # fmt: skip
        members = [member["id"] for member in cluster["members"]]
        assert len(cluster["id"]) == 16
        assert int(cluster["id"], 16) >= 0
        assert cluster["size"] == len(members) >= 2
        assert members == sorted(members)
        assert cluster["distinct"] == len({texts[key] for key in members})
        assert cluster["representative"] in members
        assert set(cluster["weakest"]) <= set(members)
        for member in cluster["members"]:
            assert list(member) == [
                "id", "source", "document", "title", "position", "text", "revision", "timestamp", "last_revision",
            ]  # fmt: skip
            assert (member["source"], member["document"], member["position"]) == ("news", member["id"], 0)
            assert member["text"] == texts[member["id"]]
    clustered = {member["id"] for cluster in clusters for member in cluster["members"]}
    doubled = {key for key, text in rows if sum(other == text for _, other in rows) > 1}
    assert clustered == doubled | {key for pair in truth for key, text in rows if text in pair}
    listing = (out / "clusters.txt").read_text("utf-8").splitlines()
    assert listing == [" ".join(member["id"] for member in cluster["members"]) for cluster in clusters]
    assert json.loads((out / "summary.json").read_text("utf-8")) == summary.to_dict()
    counts = summary["counts"]
    assert counts["documents"] == counts["sentences_read"] == counts["sentences_kept"] == 400
    assert counts["distinct_sentences"] == len(set(texts.values()))
    assert counts["pairs"] == len(pairs)
    assert counts["clusters"] == len(clusters) == sum(summary["cluster_sizes"].values())
    assert counts["clustered_sentences"] == len(clustered)
    assert (out / "cluster-sizes.png").read_bytes().startswith(b"\x89PNG")


def test_workers_and_order_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: RunJob) -> None:
    monkeypatch.setattr("esdedup.jobs.workers._WORTH_WORKERS", 1)
    rows = [(key, f"{text} {sentence(random.Random(key), 12)} {text}") for key, text in records(12, 6000)]
    run(table(tmp_path / "a.tsv", rows), out=tmp_path / "one", workers=1, source_name="s")
    random.Random(1).shuffle(rows)
    run(table(tmp_path / "b.tsv", rows), out=tmp_path / "two", workers=2, source_name="s", memory="256MiB")
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert len(lines(tmp_path / "one" / "clusters.jsonl")) > 100


def test_positions_count_before_any_filter(tmp_path: Path, run: RunJob) -> None:
    source = random.Random(5)
    same = sentence(source)
    text = f"Short. {same} Short too. {sentence(source, 200)} {same}"
    (tmp_path / "a.txt").write_text(text, "utf-8")
    summary = run(tmp_path / "a.txt", out=tmp_path / "out")
    [cluster] = lines(tmp_path / "out" / "clusters.jsonl")
    assert [member["id"] for member in cluster["members"]] == ["a.txt:1", "a.txt:4"]
    assert cluster["weakest"] == ["a.txt:1", "a.txt:4"]
    assert summary["skipped"] == {"too_long": 1, "too_short": 2}
    assert summary["counts"]["sentences_read"] == 5


def test_several_sources_are_named_and_repeated_ids_numbered(tmp_path: Path, run: RunJob) -> None:
    text = sentence(random.Random(6), 30)
    one = table(tmp_path / "one.tsv", [("x", text), ("x", text), ("y y", text)])
    two = table(tmp_path / "two.tsv", [("x", text)])
    summary = run(one, two, out=tmp_path / "out", **RECORDS)
    [cluster] = lines(tmp_path / "out" / "clusters.jsonl")
    assert [member["id"] for member in cluster["members"]] == ["one/x", "one/x#2", "one/y y", "two/x"]
    assert (tmp_path / "out" / "clusters.txt").read_text() == "one/x one/x#2 one/y%20y two/x\n"
    assert (summary["renamed"], summary["skipped"]) == (1, {})


@pytest.mark.parametrize(("across", "found"), [("any", 4), ("documents", 2), ("sources", 1)])
@pytest.mark.both_stores
def test_across(tmp_path: Path, across: str, found: int, run: RunJob) -> None:
    source = random.Random(7)
    within, between, shared, doubled = (sentence(source, 30) for _ in range(4))
    edited = within[:-1] + " more."
    one = table(tmp_path / "one.tsv", [("a", f"{within} {edited} {doubled} {doubled}"), ("b", f"{between} {shared}")])
    two = table(tmp_path / "two.tsv", [("c", shared)])
    with one.open("a") as more:
        more.write(f"d\t{between}\n")
    summary = run(one, two, out=tmp_path / "out", across=across, unit="sentence")
    assert summary["counts"]["clusters"] == found


@pytest.mark.both_stores
def test_the_same_job_again_only_writes_its_files(tmp_path: Path, run: RunJob) -> None:
    source = table(tmp_path / "a.tsv", records())
    out = tmp_path / "out"
    first = run(source, out=out, report=True, **RECORDS)
    before = results(out)
    (out / "clusters.jsonl").unlink()
    again = run(source, out=out, report=True, **RECORDS)
    assert results(out) == before
    assert list(again["seconds"]) == ["export", "report"]
    assert again["counts"] == first["counts"]
    stricter = run(source, out=out, jaccard=0.95)
    assert "index" not in stricter["seconds"]
    assert stricter["counts"]["pairs"] < first["counts"]["pairs"]
    assert stricter["settings"]["unit"] == "record"


def test_other_sources_or_settings_in_the_same_store_are_errors(tmp_path: Path, run: RunJob) -> None:
    source = table(tmp_path / "a.tsv", records())
    out = tmp_path / "out"
    run(source, out=out, **RECORDS)
    with pytest.raises(StoreSourcesError, match="--fresh"):
        run(table(tmp_path / "b.tsv", records(3)), out=out)
    with pytest.raises(StoreSettingsError, match=r"shingle char:12, you requested word:3"):
        run(source, out=out, shingle="word:3")
    with pytest.raises(StoreSettingsError, match=r"hashes unset, you requested 20"):
        run(source, out=out, hashes=20, draw=10, draws=10)
    fresh = run(table(tmp_path / "b.tsv", records(3)), out=out, fresh=True, shingle="word:3")
    assert fresh["settings"]["shingle"] == "word:3"
    assert fresh["counts"]["documents"] == 400
    assert [source["name"] for source in fresh["sources"]] == ["b"]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", records())
    esdedup.run(source, out=tmp_path / "lines")
    esdedup.run(source, out=tmp_path / "columns", table="parquet")
    for name in ("pairs", "clusters"):
        columns = pq.read_table(tmp_path / "columns" / f"{name}.parquet").to_pylist()
        assert columns == lines(tmp_path / "lines" / f"{name}.jsonl")


def test_unverified_clusters_say_so(tmp_path: Path, run: RunJob) -> None:
    summary = run(table(tmp_path / "a.tsv", records()), out=tmp_path / "out", verify="none", **RECORDS)
    assert summary["verified"] is False
    assert {pair["jaccard"] for pair in lines(tmp_path / "out" / "pairs.jsonl")} == {None}
    chained = [one for one in lines(tmp_path / "out" / "clusters.jsonl") if one["distinct"] > 1]
    assert chained
    assert all(one["min_jaccard"] is None and one["weakest"] is None for one in chained)


def test_every_pair_is_written_also_of_texts_in_no_star(tmp_path: Path, run: RunJob) -> None:
    words = [sentence(random.Random(n), 1)[:-1] for n in range(60)]
    chain = [(f"r{n}", " ".join(words[n : n + 40])) for n in range(8)]
    source = table(tmp_path / "a.tsv", chain)
    stars = run(source, out=tmp_path / "stars", linkage="star", **SIGNED, jaccard=0.9)
    single = run(source, out=tmp_path / "single", **SIGNED, jaccard=0.9)
    pairs = lines(tmp_path / "stars" / "pairs.jsonl")
    assert len(pairs) == stars["counts"]["pairs"] == single["counts"]["pairs"] > 0
    assert pairs == lines(tmp_path / "single" / "pairs.jsonl")


def test_nothing_found_writes_empty_files(tmp_path: Path, run: RunJob) -> None:
    for name in ("jsonl", "parquet"):
        (tmp_path / "a.txt").write_text("Nothing here is said twice, and nothing is long enough.")
        with pytest.raises(NothingCompared, match="1 shorter than --min-chars 75") as error:
            run(tmp_path / "a.txt", out=tmp_path / name, table=name)
        assert error.value.result["counts"]["clusters"] == 0
    assert (tmp_path / "jsonl" / "clusters.jsonl").read_bytes() == b""
    assert pq.read_table(tmp_path / "parquet" / "pairs.parquet").num_rows == 0


def test_wrong_options_are_refused_before_work(tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", records())
    for options in ({"jaccard": 0}, {"jaccard": 1.2}, {"rows": 0}, {"min_chars": 9, "max_chars": 3},
                    {"hashes": 5, "draw": 6, "draws": 1}, {"bands": 2, "hashes": 2, "draw": 1, "draws": 1},
                    {"memory": "1MiB"}, {"shingle": "char:0"}, {"hashes": 20}):  # fmt: skip
        with pytest.raises(SettingsError):
            esdedup.run(source, out=tmp_path / "out", **options)
    with pytest.raises(UsageError, match="no such option"):
        esdedup.run(source, out=tmp_path / "out", jacard=0.8)
    with pytest.raises(SettingsError, match="does not know the language"):
        esdedup.run(source, out=tmp_path / "out", normalize="stem", lang="xx")


def test_texts_in_memory_cluster_like_a_store(tmp_path: Path, run: RunJob) -> None:
    rows = records(15)
    run(table(tmp_path / "a.tsv", rows), out=tmp_path / "out", **RECORDS)
    found = esdedup.cluster_texts([text for _, text in rows], **RECORDS)
    groups: dict[int, list[str]] = {}
    for (key, _), label in zip(rows, found.label.tolist(), strict=True):
        groups.setdefault(label, []).append(key)
    clusters = [sorted(member["id"] for member in one["members"]) for one in lines(tmp_path / "out" / "clusters.jsonl")]
    assert sorted(clusters) == sorted(sorted(group) for group in groups.values() if len(group) > 1)
    assert len(found.a) == len(lines(tmp_path / "out" / "pairs.jsonl"))
    assert esdedup.cluster_texts(["", "", "a", "a", "b"]).label.tolist() == [0, 1, 2, 2, 4]
    assert esdedup.cluster_texts([]).label.tolist() == []


def test_texts_in_memory_obey_linkage() -> None:
    words = [sentence(random.Random(n), 1)[:-1] for n in range(60)]
    chain = [" ".join([*words[n : n + 40]]) for n in range(20)]
    assert len(set(esdedup.cluster_texts(chain).label.tolist())) == 1
    stars = esdedup.cluster_texts(chain, linkage="star")
    near = {(a, b) for a, b in zip(stars.a.tolist(), stars.b.tolist(), strict=True)}
    groups: dict[int, list[int]] = {}
    for text, label in enumerate(stars.label.tolist()):
        groups.setdefault(label, []).append(text)
    assert 1 < len(groups) < 20
    for label, group in groups.items():
        assert label == group[0]
        assert any(all(c == t or (min(c, t), max(c, t)) in near for t in group) for c in group)
    with pytest.raises(UsageError, match="across"):
        esdedup.cluster_texts(chain, across="documents")


def test_a_file_keeps_no_older_generations(tmp_path: Path) -> None:
    """Which is said before anything is read."""
    with pytest.raises(UsageError, match="keep-generations applies to stores on a server"):
        esdedup.run(table(tmp_path / "a.tsv", records()), out=tmp_path / "out", fresh=True, keep_generations=1)
    assert not (tmp_path / "out").exists()
