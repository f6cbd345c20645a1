"""Contradictions in real data, the surest first, against what a person said of each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import esdedup
from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from scripts.benchmarks.rows import Row

VERDICTS = Path(__file__).with_name("contradictions.tsv")
"""By corpus, slot and the content hashes of two sentences with different values: `yes`, if both cannot be true."""

_FIRST = (5, 10, 50)


def contradiction_rows(corpora: Iterable[str], folder: Path) -> list[Row]:
    """The precision of the first contradictions of all corpora, whose results stand in `folder`."""
    with VERDICTS.open(encoding="utf-8", newline="") as lines:
        verdicts = {_key(row): row["real"] == "yes" for row in csv.DictReader(lines, delimiter="\t")}
    found = [row for corpus in corpora for row in listed(corpus, folder)]
    found.sort(key=lambda row: -row["confidence"])
    judged = [verdicts[_key(row)] for row in found[: _FIRST[-1]] if _key(row) in verdicts]
    rows = [
        Row("contradictions found in five real corpora", len(found)),
        Row("among the first 50, those that a person has judged", len(judged)),
    ]
    for first in _FIRST:
        some = judged[:first]
        rows.append(Row(f"real contradictions: precision of the first {len(some)}", sum(some) / max(1, len(some))))
    return rows


def listed(corpus: str, folder: Path) -> Iterable[dict[str, Any]]:
    """The contradictions of one corpus, each with what names it in the file of verdicts."""
    for found in esdedup.drift(store=folder / corpus / "store.duckdb"):
        row = found.to_dict()
        texts = [value["sentences"][0]["text"] for value in row["values"][:2]]
        hashes = content_hashes(*text_buffers(pa.array(texts, pa.large_string()))).tolist()
        a, b = (f"{value:016x}" for value in sorted(hashes))
        yield row | {"corpus": corpus, "a": a, "b": b}


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["corpus"], row["slot"], row["a"], row["b"]
