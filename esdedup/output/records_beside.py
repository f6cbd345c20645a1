"""Records beside each other: a line for each, a column for each field. And what was learned of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from math import log2
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from esdedup.analysis.names import RECORD
from esdedup.columns.labelled import columns_of_texts
from esdedup.matching.protocol import Scanning
from esdedup.matching.records.learned import check_learned

if TYPE_CHECKING:
    from esdedup.store.store import Store

_LONGEST_VALUE = 120
_MOST_WEIGHED = 20_000
"""Records among which pairs are weighed for a page."""


class Cell(TypedDict):
    """A value, and whether it differs from that of the first record."""

    text: str
    differs: bool


class Beside(TypedDict):
    """Fields, and the cells of each record."""

    names: list[str]
    cells: list[list[Cell]]


def records_beside(texts: Sequence[str]) -> Beside:
    """Return the fields of the texts of records."""
    columns = columns_of_texts(pa.array(texts, pa.large_string()))
    values = [[value or "" for value in column.to_pylist()] for column in columns.values()]
    of_fields: list[list[Cell]] = [
        [{"text": value[:_LONGEST_VALUE], "differs": _differs(value, held[0])} for value in held] for held in values
    ]
    return {"names": list(columns), "cells": list(map(list, zip(*of_fields, strict=True)))}


def _differs(one: str, other: str) -> bool:
    return bool(one and other) and one.casefold().split() != other.casefold().split()


def weights_of(learned: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return for each field its `name` and `levels`, the highest first: the name, the shares among the same records
    (`same`) and among others (`other`), and the `weight`, a logarithm to the base of 2.
    """
    if learned is None:
        return []
    check_learned(learned)
    shares, classes = learned["shares"], learned["levels"]
    found = []
    for place, field in enumerate(learned["fields"]):
        levels = []
        for level in range(len(field["levels"]) - 1, -1, -1):
            of_others = zip(shares[:-1], classes, strict=False)
            other = sum(share * fields[place][level] for share, fields in of_others) / sum(shares[:-1])
            same = classes[-1][place][level]
            levels.append({"name": field["levels"][level], "same": same, "other": other, "weight": log2(same / other)})
        found.append({"name": field["field"], "kind": field["kind"], "levels": levels})
    return found


def bars_of(weights: Sequence[float]) -> list[tuple[float, float]]:
    """Return where the bars of a waterfall begin and end, from 0 to 1: each begins where the one before ended."""
    ends = [0.0, *accumulate(weights)]
    low, width = min(ends), max(1.0, max(ends) - min(ends))
    shares = [(end - low) / width for end in ends]
    return [(min(pair), max(pair)) for pair in pairwise(shares)]


def texts_and_groups(store: Store) -> pa.Table:
    """Return hash, group_id and text of all sentences, as the last scan compared them."""
    across = Scanning.from_described(store.ledger.last_scanning() or {}).across
    parts = [rows if isinstance(rows, pa.Table) else rows.read_all() for _, rows in store.corpus.signatures(across)]
    held = pa.concat_tables(parts).select(["hash", "group_id"])
    return held.append_column("text", pa.chunked_array([store.corpus.texts_of(held["hash"].to_numpy())]))


class WeakestPairs:
    """The waterfalls of the weakest pairs of clusters of records, for a page. Of very many records there are none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def _weighing(self) -> Any:
        learned = (self._store.results.last_scan() or {}).get("learned")
        if learned is None or self._store.corpus.counts()["sentences_kept"] > _MOST_WEIGHED:
            return None
        from esdedup.matching.records.two_records import Weighing

        return Weighing(learned, texts_and_groups(self._store))

    def of(self, cluster: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return a row for each field: `field`, `level`, `weight`, and where its bar begins and how wide it is, as
        shares of 1.
        """
        if cluster["kind"] != RECORD or not cluster["weakest"] or self._weighing is None:
            return []
        texts = {member["id"]: member["text"] for member in cluster["members"]}
        rows: list[dict[str, Any]] = self._weighing.of(*(texts[identity] for identity in cluster["weakest"]))["fields"]
        bars = bars_of([row["weight"] for row in rows])
        return [{**row, "begin": begin, "wide": end - begin} for row, (begin, end) in zip(rows, bars, strict=True)]
