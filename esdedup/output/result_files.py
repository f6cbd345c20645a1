"""Write a store's results as the files of `--out`: pairs, clusters and clusters.txt, in a fixed order and format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TextIO, get_args, get_origin, get_type_hints

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.files import compact_json, whole_file
from esdedup.output.choices import TABLE_FORMATS
from esdedup.output.contents.comparisons import Pair, StoredCluster
from esdedup.store.store import Store

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def arrow_schema(row: type) -> pa.Schema:
    """Return the schema of a table whose rows have the fields of the class `row`."""
    return pa.schema(_columns(row))


def _columns(row: type) -> list[tuple[str, pa.DataType]]:
    return [
        (name, _type(hint))
        for name, hint in get_type_hints(row, include_extras=True).items()
        if not name.startswith("_")
    ]


def _type(hint: Any) -> pa.DataType:
    parts = get_args(hint)
    if NoneType in parts:  # every column may have nulls
        [set_] = (part for part in parts if part is not NoneType)
        return _type(set_)
    if get_origin(hint) is list:
        return pa.list_(_type(parts[0]))
    if hint not in _TYPES and isinstance(hint, type):
        return pa.struct(_columns(hint))
    if get_origin(hint) is not Annotated:
        return _TYPES[hint]
    base, *marks = parts
    return pa.type_for_alias(dict(marks)["format"]) if "format" in dict(marks) else _TYPES[base]


PAIRS = arrow_schema(Pair)
CLUSTERS = arrow_schema(StoredCluster)


"""The formats of pairs and clusters. With `none`, neither they nor clusters.txt are written."""

# also marks that change the direction of writing, and other controls: an editor or a terminal would obey them
_UNLISTED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_ROWS_AT_ONCE = 2000
_PLAIN = 0.0001
"""From here on, both libraries write a number without an exponent."""


def export_results(store: Store, folder: Path, table: str = "jsonl") -> list[Path]:
    """Write pairs and clusters to `folder`, in a format of `TABLE_FORMATS`, and clusters.txt. Return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for other in {*TABLE_FORMATS} - {table}:
        for name in ("pairs", "clusters"):
            (folder / f"{name}.{other}").unlink(missing_ok=True)  # of an earlier run, now outdated
    if table == "none":
        (folder / "clusters.txt").unlink(missing_ok=True)
        return []
    pairs, clusters = folder / f"pairs.{table}", folder / f"clusters.{table}"
    listing = folder / "clusters.txt"
    with whole_file(pairs) as part:
        if table == "parquet":
            schema = PAIRS
            if "learned" not in (store.results.last_scan() or {}):
                schema = schema.remove(schema.get_field_index("probability"))
            _write_parquet(part, _batched(_pairs(store), schema), schema)
        else:
            with part.open("wb") as out:
                out.writelines(map(_pair_line, _pairs(store)))
    with whole_file(clusters) as part, whole_file(listing) as text_part, text_part.open("w", encoding="utf-8") as out:
        rows = _listed(store.results.cluster_rows(), out)
        if table == "parquet":
            _write_parquet(part, _batched(rows, CLUSTERS), CLUSTERS)
        else:
            _write_lines(part, rows)
    return [pairs, clusters, listing]


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(compact_json(row) + "\n" for row in rows)


def _listed(clusters: Iterator[dict[str, Any]], out: TextIO) -> Iterator[dict[str, Any]]:
    """Yield the clusters unchanged, and write each to `out` as a line of member ids."""
    for cluster in clusters:
        out.write(" ".join(listed_id(member["id"]) for member in cluster["members"]) + "\n")
        yield cluster


def listed_id(identity: str) -> str:
    """Format an id for clusters.txt: white space and control characters are percent-encoded."""
    return _UNLISTED.sub(_percent_encoded, identity)


def _percent_encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _pairs(store: Store) -> Iterator[dict[str, Any]]:
    for batch in store.results.pair_rows():
        for row in batch.to_pylist():
            for name in ("jaccard", "probability"):
                if row[name] is not None:
                    row[name] = round(row[name], 6)
            if row["probability"] is None:
                del row["probability"]
            yield row


def _pair_line(row: dict[str, Any]) -> bytes:
    """Return what `compact_json` does, as a line of UTF-8, in a third of the time: pairs may be millions."""
    if all(row.get(name) is None or _PLAIN <= row[name] <= 1 for name in ("jaccard", "probability")):
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    return f"{compact_json(row)}\n".encode()


def _batched(rows: Iterator[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield pa.RecordBatch.from_pylist(some, schema)


def _write_parquet(path: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> None:
    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
