"""Results that do not fit in memory are joined with their names in parts. Many changes take few requests."""

from __future__ import annotations

from pathlib import Path

import pytest

import esdedup
from esdedup.columns.database import Database
from tests.support.elastic_proxy import Proxy, forward
from tests.support.records import records, table
from tests.support.stores import KINDS
from tests.system.robustness.on_a_server import Bytes, results


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table(tmp_path_factory.mktemp("large") / "a.tsv", records(31, 300))


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Bytes:
    """What comes of it in one part."""
    folder = tmp_path_factory.mktemp("whole")
    esdedup.index(source, store=folder / "s.duckdb", unit="record", min_chars=0)
    esdedup.scan(store=folder / "s.duckdb")
    found = results(str(folder / "s.duckdb"), folder / "out")
    assert found["pairs.jsonl"].count(b"\n") > 100 and found["clusters.jsonl"].count(b"\n") > 20
    return found


@pytest.mark.parametrize("place", KINDS)
def test_results_in_parts_are_the_same(
    place: str,
    source: Path,
    whole: Bytes,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = str(tmp_path / "s.duckdb")
    if place == "server":
        store = f"{request.getfixturevalue('elastic_url')}/{request.getfixturevalue('elastic_prefix')}"
    esdedup.index(source, store=store, unit="record", min_chars=0)
    parts = Database.parts
    monkeypatch.setattr(Database, "parts", lambda db, hashes, rows, _=0: parts(db, hashes, rows, 2**24))
    out = tmp_path / "out"
    esdedup.scan(store=store, out=out)
    assert {name: (out / name).read_bytes() for name in whole} == whole
    assert results(store, tmp_path / "again") == whole


def test_repeated_ids_take_few_requests(elastic_url: str, elastic_prefix: str, tmp_path: Path) -> None:
    source = table(tmp_path / "a.tsv", [("one", text) for _, text in records(31, 300)])
    with Proxy(elastic_url) as proxy:
        asked = proxy.when(lambda _: True, forward, times=None)
        made = esdedup.index(source, store=f"{proxy.url}/{elastic_prefix}", unit="record", min_chars=0)
        assert made.counts["repeated"] == 299
        assert asked.seen < 100
