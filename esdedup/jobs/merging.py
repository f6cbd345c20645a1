"""Records that stay get values of those that are dropped for them (`--merge`), before their sources are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import table_of_rows
from esdedup.columns.records import Skips
from esdedup.errors import SourceError, UsageError
from esdedup.files import compact_json
from esdedup.formats.compression.opener import Opened
from esdedup.formats.decisions import Wanted
from esdedup.formats.locations import Source
from esdedup.formats.protocol import Walk
from esdedup.jobs.rewriting import Writing
from esdedup.keeping.merge_rules import Copies, Rules
from esdedup.output.drops import Verdicts

AT_ONCE = 20_000
PLACE = {"file": pa.int32(), "place": pa.int64()}
_HELD = pa.schema({**PLACE, "held": pa.string()})
_MERGED = pa.schema({**PLACE, "changes": pa.string()})
_GAVE = pa.schema({**PLACE, "gave": pa.list_(pa.string())})


def merge_records(verdicts: Verdicts, writings: Sequence[Writing], rules: Rules, threads: int) -> int:
    """Read the columns of all records in clusters, and note what those that stay get. Return how many get something.

    Raises `UsageError` for a column that is not there.
    """
    unseen = set(rules.columns)
    for writing in writings:
        number = writing.read.number
        records = values_of(writing.source, rules.columns, Wanted(verdicts.places_to_merge(number)), threads)
        while rows := list(islice(records, AT_ONCE)):
            for _, values in rows:
                unseen -= {name for name, value in zip(rules.columns, values, strict=True) if value is not None}
            held = [(number, place, compact_json(values)) for place, values in rows]
            verdicts.note("held", table_of_rows(held, _HELD))
    if unseen and verdicts.noted("held"):
        missing = ", ".join(name for name in rules.columns if name in unseen)
        raise UsageError(f"merge: no record of a cluster has a value of {missing}; correct the column")
    for batch in _whole_clusters(verdicts.copies_to_merge()):
        _decide(verdicts, rules, batch)
    return verdicts.noted("merged")


def check_columns(sources: Sequence[Source], rules: Rules, threads: int) -> None:
    """Read the first record of each source. Raises `UsageError` for a column that its table does not have."""
    for source in sources:
        next(values_of(source, rules.columns, Wanted(range(1, AT_ONCE)), threads), None)


def values_of(
    source: Source, columns: Sequence[str] | None, wanted: Wanted, threads: int
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the wanted records of a source by number: the values of columns, or all that `Format.values` has."""
    with suppress(SourceError), closing(Opened(source.path, threads)) as opened:  # damage is said when it is read
        walk = Walk(opened.label, source.document, Skips(), None, source.max_text)
        for member in opened.members():
            yield from source.format.values(member, walk, columns, wanted)


def _whole_clusters(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of batches again, so that none parts a cluster."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        cluster = batch["cluster"].to_numpy()
        starts = np.flatnonzero(cluster[1:] != cluster[:-1]) + 1
        first_new = 0 if held and held[-1]["cluster"][-1] != batch["cluster"][0] else None
        cut = int(starts[-1]) if len(starts) else first_new
        if cut is None:
            held.append(batch)
            continue
        if whole := [*held, batch.slice(0, cut)]:
            yield pa.Table.from_batches(whole)
        held = [batch.slice(cut)]
    if held:
        yield pa.Table.from_batches(held)


def _decide(verdicts: Verdicts, rules: Rules, rows: pa.Table) -> None:
    values = [json.loads(held) for held in rows["held"].to_pylist()]
    columns = dict(zip(rules.columns, (list(column) for column in zip(*values, strict=True)), strict=True))
    cluster, file = rows["cluster"].to_numpy(), rows["file"].to_numpy()
    number = np.cumsum(np.diff(cluster, prepend=cluster[0]) != 0)
    places = rows["place"].to_pylist()
    merged, given = [], []
    for first, changes, gave in rules.apply(Copies(number, file.astype(np.int64), columns)):
        merged.append((int(file[first]), places[first], compact_json(changes)))
        given += [(int(file[row]), places[row], names) for row, names in gave.items()]
    verdicts.note("merged", table_of_rows(merged, _MERGED))
    verdicts.note("gave", table_of_rows(given, _GAVE))
