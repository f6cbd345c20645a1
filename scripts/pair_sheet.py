"""Write pairs of sentences of two pages for people who label them, without what esdedup says of them.

    python -m scripts.pair_sheet ../shared/data FOLDER

FOLDER/pairs.jsonl has a pair a line, in an order that tells nothing: an id, both texts with page and neighbours, and
how many sentences their cluster has. Labels go to scripts/benchmarks/page_pairs.tsv, which holds no text of others.
"""

from __future__ import annotations

import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import orjson

from scripts.benchmarks.truth_pages import HALF_OF, WIKIS, of_wiki

OF_EACH = 16
"""Pairs of each stratum of a wiki."""

_PAIRS = """
WITH stands AS (
    SELECT c.cluster, s.hash, s.text, s.document, s.position, coalesce(nullif(d.title, ''), d.key) AS page
    FROM cluster_texts c JOIN sentences s USING (hash) JOIN documents d ON d.number = s.document
)
SELECT a.hash AS a, b.hash AS b, any_value(a.text) AS text_a, any_value(b.text) AS text_b,
    min({'page': a.page, 'document': a.document, 'position': a.position, 'other': b.page,
        'document_b': b.document, 'position_b': b.position}) AS place,
    any_value(k.size) AS size, any_value(k.id) AS cluster
FROM stands a JOIN stands b ON b.cluster = a.cluster AND a.hash < b.hash AND a.page <> b.page
JOIN clusters k ON k.id = a.cluster
WHERE NOT EXISTS (SELECT 1 FROM sentences x JOIN sentences y USING (document) WHERE x.hash = a.hash AND y.hash = b.hash)
GROUP BY a.hash, b.hash
"""


def main(data: Path, folder: Path) -> None:
    rows = [row for wiki in WIKIS for row in sampled(data, folder, wiki)]
    rows.sort(key=lambda row: zlib.crc32(row["id"].encode()))
    (folder / "pairs.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    print(f"{len(rows)} pairs in {folder / 'pairs.jsonl'}")


def sampled(data: Path, folder: Path, wiki: str) -> list[dict[str, Any]]:
    """Take pairs of every stratum of a wiki, by a hash of their texts: one of a cluster, two of two pages."""
    corpus = of_wiki(data, folder, wiki, kinds=False)
    with duckdb.connect(str(corpus.folder / "store.duckdb"), read_only=True) as db:
        found = db.sql(_PAIRS).to_arrow_table().to_pylist()
        strata: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
        clusters: set[int] = set()
        pages: dict[tuple[str, str], int] = defaultdict(int)
        for row in sorted(found, key=lambda row: zlib.crc32(f"{row['a']}-{row['b']}".encode())):
            figures = [
                [word for word in row[text].split() if any(map(str.isdigit, word))] for text in ("text_a", "text_b")
            ]
            letters = ["".join(filter(str.isalnum, row[text])).casefold() for text in ("text_a", "text_b")]
            both = row["place"]["page"], row["place"]["other"]
            stratum = min(row["size"], 6) > 2, figures[0] != figures[1]
            if (
                letters[0] == letters[1]
                or row["cluster"] in clusters
                or pages[both] > 1
                or len(strata[stratum]) >= OF_EACH
            ):
                continue
            clusters.add(row["cluster"])
            pages[both] += 1
            strata[stratum].append(row)
        return [shown(db, wiki, row) for some in strata.values() for row in some]


def shown(db: duckdb.DuckDBPyConnection, wiki: str, row: dict[str, Any]) -> dict[str, Any]:
    """A pair as it is labelled: its texts, each with its page and the sentences around it."""
    place = row["place"]
    sides = [
        ("a", place["page"], place["document"], place["position"]),
        ("b", place["other"], place["document_b"], place["position_b"]),
    ]
    told: dict[str, Any] = {
        "id": f"{wiki}-{row['a']:016x}-{row['b']:016x}",
        "half": HALF_OF[wiki],
        "like_these": row["size"],
    }
    for side, page, document, position in sides:
        beside = db.execute(
            "SELECT text FROM sentences WHERE document = ? AND position BETWEEN ? AND ? ORDER BY position",
            [document, position - 2, position + 2],
        ).fetchall()
        told |= {side: row[f"text_{side}"], f"page_{side}": page, f"around_{side}": [text[:160] for (text,) in beside]}
    return told


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
