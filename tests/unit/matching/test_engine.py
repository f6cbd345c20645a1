"""Any engine gives the same pairs as the local one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import esdedup
from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines import ENGINES
from esdedup.engines.local.engine import LocalEngine
from esdedup.errors import SettingsError, UsageError
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.groups import Runs, token_lists
from esdedup.matching.lsh import block
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from scripts.wiki.copies import documents, short_rows
from tests.support.corpus import corpus, template
from tests.support.full import few
from tests.support.list_engine import ListEngine

SIGNING = Signing()


def both(
    texts: list[str],
    scanning: Scanning,
    group_ids: list[int] | None = None,
    stale: list[str] | None = None,
    signing: Signing = SIGNING,
    budget: int = 2**26,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any, Any]:
    """The pairs of the engine of lists and of the local one, and what the matcher has found on each."""
    signer = TextSigner(signing)
    column = text_column(texts)
    hashes = content_hashes(*text_buffers(column))
    tokens = token_lists(signer.tokens(signer.views(column))).to_pylist()
    rows = [
        {"hash": int(hash_), "group_id": group_id, "length": len(text.encode()), "tokens": row}
        for hash_, group_id, text, row in zip(hashes, group_ids or [-1] * len(texts), texts, tokens, strict=True)
    ]
    known = dict(zip((int(hash_) for hash_ in hashes), texts, strict=True))
    changed = None if stale is None else {int(hash_) for hash_ in content_hashes(*text_buffers(text_column(stale)))}
    context = MatchContext(signing, scanning.rule, 2)

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        named = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": named, "text": [known[hash_] for hash_ in named.to_pylist()]})

    table = pa.Table.from_pylist(rows, SIGNATURES)
    stale = None if changed is None else pa.table({"hash": np.array(sorted(changed), np.uint64)})
    sentences = Sentences(signing.tokens, lambda _: [(0, table)], fetch, stale)
    pairs, found = [], []
    for engine in (ListEngine, LocalEngine):
        with Database(memory=2**28, threads=2) as scratch:
            found.append(scanning.matcher.find(engine(scratch, sentences, budget, 2), context))
            pairs.append(scratch.table("SELECT * EXCLUDE closeness FROM pairs ORDER BY a, b").to_pylist())
    return *pairs, *found  # type: ignore[return-value]


@pytest.mark.parametrize("seed", few(range(3), 0))
@pytest.mark.parametrize(
    "options",
    [
        {"jaccard": 0.6},
        {"verify": "none"},
        {"jaccard": 0.5, "word_edit_distance": 3},
        {"candidates": "exact", "jaccard": 0.6},
        {"candidates": "exact", "jaccard": 0.4, "word_edit_distance": 5},
    ],
    ids=str,
)
def test_pairs_are_the_same_on_any_engine(seed: int, options: dict[str, Any]) -> None:
    texts = corpus(seed, 250) + template(seed, 30)
    random.Random(seed).shuffle(texts)
    lists, pairs, found, expected = both(texts, Scanning.of(**options))
    assert found == expected
    assert lists == pairs
    assert len(pairs) > 20


def test_pairs_that_are_found_do_not_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus(5, 120) + template(5, 60)
    _, pairs, _, expected = both(texts, Scanning(jaccard=0.5))
    parts = []
    cuts = block._cuts

    def counted(runs: Runs, slices: int) -> Iterator[list[int]]:
        parts.append(list(cuts(runs, slices)))
        return iter(parts[-1])

    monkeypatch.setattr(block, "_COMPARED_AT_ONCE", 50)
    monkeypatch.setattr(block, "_cuts", counted)
    _, in_parts, _, found = both(texts, Scanning(jaccard=0.5))
    assert in_parts == pairs
    assert found == expected
    assert max(map(len, parts)) > 3


def test_where_texts_stand_is_looked_at_on_any_engine() -> None:
    texts = corpus(7, 200)
    group_ids = [number % 3 for number in range(len(texts))]
    for name in ("tokens", "exact"):
        lists, pairs, found, expected = both(texts, Scanning.of(candidates=name, jaccard=0.5), group_ids)
        assert found == expected
        assert lists == pairs
        assert len(pairs) > 5


def test_only_pairs_with_stale_texts_are_found_on_any_engine() -> None:
    texts = corpus(8, 300)
    lists, pairs, found, expected = both(texts, Scanning(jaccard=0.5), stale=texts[:40])
    assert found == expected
    assert lists == pairs
    assert 0 < len(pairs) < len(both(texts, Scanning(jaccard=0.5))[1])


@pytest.mark.parametrize("word_edit_distance", few([None, 40], 1))
def test_long_texts_are_sifted_by_sketches(word_edit_distance: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Signing.of(unit="record")
    scanning = Scanning(jaccard=0.7, word_edit_distance=word_edit_distance)
    texts = [text.text for text in documents(150, 3, longest=8000)] + [row.text for row in short_rows(150, 3)]
    sifted: list[int] = []
    sift = block.sift_collisions

    def counted(context: MatchContext, *tables: pa.Table) -> Iterator[tuple[pa.Table, int]]:
        sifted.append(1)
        return sift(context, *tables)

    monkeypatch.setattr(block, "sift_collisions", counted)
    lists, pairs, found, expected = both(texts, scanning, signing=records)
    assert not sifted
    _, by_sketches, _, also = both(texts, scanning, signing=records, budget=2**16)
    assert sifted
    assert lists == pairs == by_sketches
    assert found == expected == also
    assert len(pairs) > 20


def test_hot_tokens_are_cut_alike_on_any_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.matching.lsh.collide.HOT_LIMIT", 20)
    monkeypatch.setattr("esdedup.matching.lsh.block.HOT_WINDOW", 4)
    lists, pairs, found, expected = both(template(9, 150), Scanning(jaccard=0.5))
    assert found == expected
    assert found.hot_tokens > 0
    assert lists == pairs
    assert len(pairs) > 20


@pytest.mark.parametrize("texts", [[], ["a single text that is long enough to have a shingle"]], ids=["none", "one"])
def test_nothing_to_find(texts: list[str]) -> None:
    for name in ("tokens", "exact"):
        if texts or name == "tokens":
            lists, pairs, found, expected = both(texts, Scanning.of(candidates=name))
            assert (lists, pairs) == ([], [])
            assert found == expected


@pytest.mark.parametrize("name", [name for name in MATCHERS.names if name not in ("tokens", "exact")])
def test_what_needs_the_local_engine_says_so(name: str) -> None:
    scanning = Scanning.of(candidates=name)
    with Database(memory=2**28, threads=1) as scratch:
        engine = ListEngine(scratch, Sentences(SIGNING.tokens, lambda _: [], lambda _: []), 2**24, 1)
        with pytest.raises(UsageError, match="need the local engine; this is lists"):
            scanning.matcher.find(engine, MatchContext(SIGNING, scanning.rule, 1))


def test_the_registry_names_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES._locations, "lists", "tests.support.list_engine:ListEngine")
    source = tmp_path / "a.tsv"
    source.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(corpus(3, 200) + template(3, 20))))
    for engine in ("local", "lists"):
        esdedup.run(source, out=tmp_path / engine, engine=engine, unit="record", jaccard=0.6)
    for name in ("pairs.jsonl", "clusters.jsonl", "clusters.txt"):
        assert (tmp_path / "lists" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert (tmp_path / "lists" / "pairs.jsonl").read_text()
    with pytest.raises(SettingsError, match=r"engine is 'abacus'; allowed: local, spark, lists, local\[N\], "):
        esdedup.run(source, out=tmp_path / "none", engine="abacus")


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (42, "engine is 42; allowed: local, spark, .* or in Python a Spark session"),
        ("local[0]", "engine is 'local\\[0\\]'; allowed: local, spark, local"),
        ("spark://localhost", "the address of a master has a host and a port, such as spark://localhost:7077"),
        ("spark://one:7077,two", "the address of a master has a host and a port"),
    ],
)
def test_a_place_where_no_engine_runs(tmp_path: Path, engine: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        esdedup.run(tmp_path, out=tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["spark://a_host:7077", "spark://[::1]:7077,10.0.0.1:7077", "local[*, 3]", "yarn"])
def test_a_place_where_spark_runs(engine: str) -> None:
    ENGINES.check(engine)
