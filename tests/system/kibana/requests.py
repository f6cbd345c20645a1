"""What Kibana asks Elasticsearch for a panel: the parts of its query language and of Lens that our objects use.

Whatever else an object may hold is an error here, so that nothing goes unproved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]

_CLAUSE = re.compile(r"(\w+)\s*(:|>)\s*(\w+)")


def clauses(query: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Field, operator and value of each part of a query in KQL."""
    assert query["language"] == "kuery"
    if not query["query"]:
        return []
    matches = [_CLAUSE.fullmatch(part) for part in query["query"].split(" and ")]
    assert all(matches), query
    return [match.groups() for match in matches if match]


def dsl(query: Mapping[str, str]) -> Json:
    """A query in KQL as one of Elasticsearch's."""
    return {"bool": {"filter": [_clause(*clause) for clause in clauses(query)]}}


def _clause(field: str, operator: str, value: str) -> Json:
    return {"match": {field: value}} if operator == ":" else {"range": {field: {"gt": value}}}


def sorting(order: list[list[str]]) -> list[Json]:
    """The order of a saved search; Kibana lets fields be missing."""
    return [{field: {"order": direction, "unmapped_type": "boolean"}} for field, direction in order]


def aggregations(layer: Json) -> Json:
    """What a Lens layer asks for: buckets within buckets, and its metrics in each, as they give the order."""
    columns: Json = layer["columns"]
    assert sorted(layer["columnOrder"]) == sorted(columns)
    buckets = [name for name in layer["columnOrder"] if columns[name]["isBucketed"]]
    metrics = {name: one for name in columns if name not in buckets for one in _metric(columns[name])}
    asked = metrics
    for name in reversed(buckets):
        asked = {name: {**_bucket(columns[name], columns), "aggs": metrics | asked}}
    return asked


def _metric(column: Json) -> Iterator[Json]:
    match column["operationType"]:
        case "count":
            assert column["sourceField"] == "___records___"  # what each bucket tells anyway
        case "unique_count":
            yield {"cardinality": {"field": column["sourceField"]}}
        case other:
            raise AssertionError(other)


def _bucket(column: Json, columns: Json) -> Json:
    params = column["params"]
    match column["operationType"], params.get("type"):
        case "terms", None:
            by = params["orderBy"]
            assert by["type"] == "column"
            order = "_count" if columns[by["columnId"]]["operationType"] == "count" else by["columnId"]
            order_by = {order: params["orderDirection"]}
            return {"terms": {"field": column["sourceField"], "size": params["size"], "order": order_by}}
        case "range", "range":
            ranges = [
                {"key": one["label"], **{end: one[end] for end in ("from", "to") if one[end] is not None}}
                for one in params["ranges"]
            ]
            return {"range": {"field": column["sourceField"], "ranges": ranges}}
        case other:
            raise AssertionError(other)


def rows(layer: Json, answered: Json) -> list[Json]:
    """The rows of a Lens table out of what Elasticsearch answers."""
    buckets = [name for name in layer["columnOrder"] if layer["columns"][name]["isBucketed"]]

    def inner(at: int, answer: Json, row: Json) -> Iterator[Json]:
        if at < len(buckets):
            for bucket in answer[buckets[at]]["buckets"]:
                yield from inner(at + 1, bucket, {**row, buckets[at]: bucket["key"]})
            return
        metrics = [name for name in layer["columnOrder"] if name not in buckets]
        yield row | {name: answer[name]["value"] if name in answer else answer["doc_count"] for name in metrics}

    return list(inner(0, answered, {}))
