"""Documents of results hold no nulls: lists that are sorted by a field that clusters lack go on from page to page."""

from __future__ import annotations

from pathlib import Path

import pytest

import esdedup
from tests.system.robustness.on_a_server import HOW, Job

pytestmark = pytest.mark.usefixtures("small")


def test_pages_of_clusters(elastic_url: str, elastic_prefix: str, job: Job, tmp_path: Path) -> None:
    pages = []
    for store in (f"{elastic_url}/{elastic_prefix}", str(tmp_path / "s.duckdb")):
        esdedup.index(job.a, store=store, **HOW)
        esdedup.scan(store=store)
        for sort in ("size", "copies", "contradiction"):
            first = list(esdedup.clusters(store=store, sort=sort, limit=2))
            after = list(esdedup.clusters(store=store, sort=sort, limit=2, after=first[-1]["id"]))
            pages.append([cluster["id"] for cluster in (*first, *after)])
    assert pages[:3] == pages[3:]
    assert all(len(set(page)) == 4 for page in pages)
