"""What has become of the clusters of an earlier run, on both stores."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import SourceError, UsageError
from tests.support.corpus import edited, sentence
from tests.support.full import few
from tests.support.stores import RunJob, Stores

OPTIONS: Any = {"jaccard": 0.6, "rows": 2, "bands": 20, "unit": "record", "source_name": "s"}


def lines(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    return path


def told(store: Any, run: Path, **options: Any) -> list[tuple[str, int, int]]:
    return [(row["change"], row["before"], row["size"]) for row in esdedup.clusters(store=store, since=run, **options)]


@pytest.mark.parametrize("table", few(["jsonl", "parquet"], 0))
def test_new_grown_and_gone(tmp_path: Path, run: RunJob, stores: Stores, table: str) -> None:
    source = random.Random(2)
    kept, grown, gone, lone, one, two = (sentence(source, 25) for _ in range(6))
    bridge = edited(source, one, 1)
    before = [kept, kept, grown, grown, gone, gone, lone, one, one, two]
    now = ["A line before all others changes every number.", kept, kept, grown, grown, grown, gone, lone, lone]
    now += [one, one, bridge, two]
    run(lines(tmp_path / "a.tsv", before), out=tmp_path / "before", table=table, **OPTIONS)
    run(lines(tmp_path / "b.tsv", now), out=tmp_path / "now", **OPTIONS)
    store = stores.at(tmp_path / "now")
    assert told(store, tmp_path / "before") == [("grown", 2, 3), ("grown", 2, 3), ("new", 0, 2), ("gone", 2, 2)]
    assert told(store, tmp_path / "before" / f"clusters.{table}", limit=1) == [("grown", 2, 3)]
    assert told(store, tmp_path / "before", text=gone[:20]) == [("gone", 2, 2)]
    assert told(store, tmp_path / "before", min_size=3) == [("grown", 2, 3), ("grown", 2, 3)]
    assert told(store, tmp_path / "before", document="s/8") == [("new", 0, 2)]
    assert told(store, tmp_path / "before", document="s/4") == [("grown", 2, 3), ("gone", 2, 2)]
    assert told(store, tmp_path / "before", kind="drift") == []
    assert told(store, tmp_path / "now") == []


@pytest.mark.both_stores
def test_no_such_run(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    text = sentence(random.Random(2), 25)
    run(lines(tmp_path / "a.tsv", [text, text]), out=tmp_path / "now", **OPTIONS)
    store = stores.at(tmp_path / "now")
    with pytest.raises(SourceError, match=r"nowhere: no clusters\.jsonl"):
        told(store, tmp_path / "nowhere")
    with pytest.raises(UsageError, match="after"):
        esdedup.clusters(store=store, since=tmp_path / "now", after="0" * 16)
    written = (tmp_path / "now" / "clusters.jsonl").read_bytes()
    for damage in (b'{"size": 2', b"[]", b"null", b'{"size": "2", "members": []}', b'{"size": 2, "members": [3]}'):
        (tmp_path / "clusters.jsonl").write_bytes(written + damage + b"\n")
        with pytest.raises(SourceError, match="record 2 is not a cluster"):
            told(store, tmp_path)
    (tmp_path / "clusters.jsonl").unlink()
    (tmp_path / "clusters.parquet").write_bytes(b"PAR1, or not")
    with pytest.raises(SourceError, match="earlier esdedup run"):
        told(store, tmp_path)
