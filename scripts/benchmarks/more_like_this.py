"""Elasticsearch's own ways to find similar texts, beside a scan: what they find of the true pairs, and how fast.

`more_like_this` ranks by words in common and has no threshold, so of each answer the first hits are taken.
"""

from __future__ import annotations

import random
import time
from typing import Any, NamedTuple

import esdedup
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.elasticsearch import HEAP
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, without_value
from scripts.benchmarks.sample import LIKE_SENTENCES, SENTENCES, SMALL, read_lines, read_truth

ASKED, SMALL_ASKED = 1_000, 50
FIRST = (1, 10)
"""So many of the first hits count as pairs."""

SHARES = ("30%", "60%", "80%")
"""Of the selected words, so many must be there."""


class Known(NamedTuple):
    """Texts by line; the first line with the same text; and the lines with a Jaccard of 0.8 or more, by first lines."""

    texts: dict[int, str]
    lines: dict[int, int]
    partners: dict[int, set[int]]


def measure(bench: Bench) -> list[Row]:
    limit = SMALL if bench.small else None
    options: dict[str, Any] = {**LIKE_SENTENCES, "id_column": "line", "text_column": "2", "limit": limit}
    partners: dict[int, set[int]] = {}
    for a, b, _ in read_truth(bench.data):
        if limit is None or max(a, b) <= limit:
            partners.setdefault(a, set()).add(b)
            partners.setdefault(b, set()).add(a)
    texts = dict(read_lines(bench.data))
    first: dict[str, int] = {}
    lines = {number: first.setdefault(text, number) for number, text in texts.items()}
    chosen = random.Random(1).sample(sorted(partners), min(len(partners), SMALL_ASKED if bench.small else ASKED))
    with running_node(bench.work / "more-like-this", heap=HEAP) as server:
        store = f"{server}/whole"
        esdedup.index(bench.data / SENTENCES, store=store, fresh=True, **options)
        scanned = run([*ESDEDUP, "scan", "--store", store, "--jaccard", "0.8", "--quiet"])
        rows = [*_of_scan(store, partners, scanned.seconds)]
        with esdedup.open_store(store, read_only=True) as opened:
            kept = opened.corpus.counts()["sentences_kept"]
            for share in SHARES:
                rows += _of_queries(opened, chosen, Known(texts, lines, partners), kept, scanned.seconds, share)
    rows.append(without_value("min_hash filter", "not in the core of Elasticsearch, so not on this node"))
    return rows


def _of_scan(store: str, partners: dict[int, set[int]], took: float) -> list[Row]:
    with esdedup.open_store(store, read_only=True) as opened:
        pairs = [row for batch in opened.results.pair_rows() for row in batch.to_pylist()]
    found = {frozenset((int(row["a"]), int(row["b"]))) for row in pairs}
    true = {frozenset((a, b)) for a, others in partners.items() for b in others}
    return [
        Row("esdedup scan: recall of the true pairs (Jaccard ≥ 0.8)", len(found & true) / len(true)),
        Row("esdedup scan: precision", len(found & true) / max(1, len(found))),
        Row("esdedup scan: time for all sentences", took, "s"),
    ]


def _of_queries(opened: Any, chosen: list[int], known: Known, kept: int, scanned: float, share: str) -> list[Row]:
    index, found = opened._open.names["sentences"], []
    began = time.perf_counter()
    for number in chosen:
        like = {
            "fields": ["text"], "like": known.texts[number], "min_term_freq": 1, "min_doc_freq": 1,
            "max_query_terms": 50, "minimum_should_match": share,
        }  # fmt: skip
        # copies of one text count once, and those of the text itself not at all
        body = {
            "size": max(FIRST) + 1, "_source": ["document"], "collapse": {"field": "hash"},
            "query": {"more_like_this": like},
        }  # fmt: skip
        hits = opened._open.reader.search(index, body)["hits"]["hits"]
        named = [known.lines[int(hit["_source"]["document"])] for hit in hits]
        found.append([one for one in named if one != number])
    each = (time.perf_counter() - began) / len(chosen)
    rows = []
    for most in FIRST:
        right = sum(
            len(known.partners[number].intersection(some[:most])) for number, some in zip(chosen, found, strict=True)
        )
        wanted, given = sum(len(known.partners[number]) for number in chosen), sum(len(some[:most]) for some in found)
        name = f"more_like_this, {share} of the words, first {most}"
        rows += [Row(f"{name}: recall", right / wanted), Row(f"{name}: precision", right / max(1, given))]
    return [
        *rows,
        Row(f"more_like_this, {share} of the words: one question", 1000 * each, "ms"),
        Row(f"more_like_this, {share} of the words: all sentences, times our whole scan", each * kept / scanned, "x"),
    ]
