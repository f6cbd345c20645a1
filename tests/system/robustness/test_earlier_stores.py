"""Stores that earlier versions made: they are read, scanned, and give what they gave."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import zstandard

import esdedup
from esdedup.errors import StoreVersionError
from esdedup.store.schemas import SCHEMA_VERSION

EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of version 0.1, of `docs/examples/towns.xml`."""
    path = tmp_path / "store.duckdb"
    path.write_bytes(zstandard.decompress((EARLIER / "schema-9.duckdb.zst").read_bytes()))
    return path


def test_it_is_read_and_scanned(store: Path, tmp_path: Path) -> None:
    found = list(esdedup.clusters(store=store))
    assert [cluster.size for cluster in found] == [3, 2]
    assert found[0].kind == "template"
    assert esdedup.status(store=store).counts["sentences_kept"] == 8
    assert esdedup.doctor(store=store).problems == []
    assert esdedup.similar(found[0].members[0]["text"], store=store)[0].jaccard == 1
    esdedup.scan(store=store, out=tmp_path / "out")
    expected = (EARLIER / "schema-9.clusters.jsonl").read_text("utf-8")
    assert (tmp_path / "out" / "clusters.jsonl").read_text("utf-8") == expected


def test_only_what_was_declared_is_upgraded(store: Path) -> None:
    with duckdb.connect(store) as db:
        db.execute("CREATE VIEW named AS SELECT 1")
    before = store.read_bytes()
    with pytest.raises(StoreVersionError, match=f"written with schema 9, but this esdedup uses {SCHEMA_VERSION}"):
        esdedup.status(store=store)
    assert store.read_bytes() == before
