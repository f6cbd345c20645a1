"""Dropping: all that esdedup made at an address goes, whole or not, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.errors import StoreError, StoreVersionError
from esdedup.store.elasticsearch.indices import Indices
from esdedup.store.schemas import SCHEMA_VERSION
from tests.support.full import few
from tests.support.killed import KilledError
from tests.support.records import records, table
from tests.support.stores import Stores

RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0}


@pytest.fixture
def server(elastic_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elastic_url) as client:
        yield client


def indices_of(server: Elasticsearch, address: str) -> list[str]:
    prefix = address.rsplit("/", 1)[1]
    return sorted(server.indices.get(index=f"{prefix}-*", expand_wildcards="all"))


@pytest.mark.both_stores
def test_what_a_killed_first_generation_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stores: Stores, address: str, request: pytest.FixtureRequest
) -> None:
    def killed(*_: Any) -> None:
        raise KilledError

    monkeypatch.setattr(stores.corpus_class(), "append", killed)
    with pytest.raises(KilledError):
        esdedup.index(table(tmp_path / "a.tsv", records(9)), store=address, fresh=True, **RECORDS)
    monkeypatch.undo()

    def left() -> list[str]:
        if stores.on_server:
            return indices_of(request.getfixturevalue("server"), address)
        return [path.name for path in tmp_path.iterdir() if path.name != "a.tsv"]

    assert left()
    with pytest.raises(StoreError, match="there is no store"):
        esdedup.status(store=address)
    esdedup.drop(store=address)
    assert not left()
    with pytest.raises(StoreError, match="there is no store"):
        esdedup.drop(store=address)


@pytest.fixture
def scanned(elastic_url: str, elastic_prefix: str, tmp_path: Path) -> str:
    """A store on a server with all that belongs to one."""
    address = f"{elastic_url}/{elastic_prefix}"
    esdedup.run(table(tmp_path / "a.tsv", records(9)), out=tmp_path / "out", store=address, **RECORDS)
    return address


@pytest.mark.parametrize("what", few(["mapping", "newer", "older", "no state"], 0, 3))
def test_what_cannot_be_opened_any_more(scanned: str, server: Elasticsearch, what: str) -> None:
    [sentences], [state] = (
        [name for name in indices_of(server, scanned) if f"-{kind}-2" in name] for kind in ("sentences", "state")
    )
    if what == "mapping":
        title = {"type": "keyword", "ignore_above": 7, "fields": {"text": {"type": "text"}}}
        server.indices.put_mapping(index=sentences, properties={"title": title})
    elif what == "no state":
        server.indices.delete(index=state)
    else:
        told = server.indices.get_mapping(index=sentences)[sentences]["mappings"]["_meta"]
        told["esdedup"]["schema"] = SCHEMA_VERSION + (8 if what == "newer" else -1)
        server.indices.put_mapping(index=sentences, meta=told)
    with pytest.raises(StoreError):
        esdedup.status(store=scanned)
    esdedup.drop(store=scanned)
    assert not indices_of(server, scanned)


def test_what_was_killed_in_the_making(
    elastic_url: str, elastic_prefix: str, server: Elasticsearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, mapping = f"{elastic_url}/{elastic_prefix}", Indices.mapping

    def killed(self: Indices, kind: str) -> dict[str, Any]:
        if kind == "sentences":
            raise KilledError
        return mapping(self, kind)

    monkeypatch.setattr(Indices, "mapping", killed)
    with pytest.raises(KilledError):
        esdedup.open_store(address, {})
    assert len(indices_of(server, address)) == 1
    esdedup.drop(store=address)
    assert not indices_of(server, address)


def test_indices_of_others_stay(scanned: str, server: Elasticsearch) -> None:
    prefix = scanned.rsplit("/", 1)[1]
    theirs = [f"{prefix}-{rest}" for rest in ("mine", "sentences-20250101t000000000000", "x-state-20250101t000000")]
    for name in theirs:
        server.indices.create(index=name)
    esdedup.drop(store=scanned)
    assert indices_of(server, scanned) == sorted(theirs)
    with pytest.raises(StoreError, match="there is no store"):
        esdedup.drop(store=scanned)
    assert indices_of(server, scanned) == sorted(theirs)


def test_a_file_with_any_settings_goes_and_one_of_another_version_stays(tmp_path: Path) -> None:
    source, store = table(tmp_path / "a.tsv", records(9)), tmp_path / "s.duckdb"
    esdedup.index(source, store=store, seed=7, bands=4, **RECORDS)
    esdedup.drop(store=store)
    assert not store.exists()
    esdedup.index(source, store=store, **RECORDS)
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE about SET value = ? WHERE key = 'schema'", [str(SCHEMA_VERSION + 8)])
    with pytest.raises(StoreVersionError):
        esdedup.drop(store=store)
    assert store.exists()
