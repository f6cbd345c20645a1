"""What is read of a store in a file fits in its share of the memory, however long the texts are."""

from __future__ import annotations

from pathlib import Path

import esdedup
from esdedup.store.duckdb.store import FileStore

CLUSTERS = 8_000
SHARE = 2**26  # a quarter of the least --memory

FILL = f"""
INSERT INTO documents (number, source, key, occurrence, place)
    SELECT n, 0, 'r' || n, 1, n FROM range(10, {10 + 2 * CLUSTERS}) t(n);
INSERT INTO sentences (hash, document, position, text)
    SELECT hash(n // 2), n, 0, repeat(md5(n::VARCHAR) || n, 120) FROM range(10, {10 + 2 * CLUSTERS}) t(n);
INSERT INTO cluster_texts (hash, cluster) SELECT DISTINCT hash, hash FROM sentences WHERE document > 9;
INSERT INTO clusters (id, representative, size, distinct_texts, ignored)
    SELECT DISTINCT hash, hash, 2, 1, false FROM sentences WHERE document > 9;
"""


def test_long_texts_need_no_more_memory(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("1\tAn old bridge over the river.\n2\tA new one.\n")
    esdedup.run(tmp_path / "a.tsv", out=tmp_path / "out")
    with FileStore(tmp_path / "out" / "store.duckdb", memory=SHARE) as store:
        store.results.db.execute(FILL)
        assert sum(batch.num_rows for batch in store.results.memberships()) == 2 * CLUSTERS
        assert sum(row["size"] for row in store.results.cluster_rows()) == 2 * CLUSTERS
