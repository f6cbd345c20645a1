"""Values of removed records that the records which are kept instead do not have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from esdedup.columns.arrays import table_of_rows
from esdedup.formats.decisions import Wanted
from esdedup.formats.fields import TableFormat
from esdedup.formats.jsonl import locate
from esdedup.jobs.merging import AT_ONCE, PLACE, values_of
from esdedup.jobs.rewriting import Writing
from esdedup.output.drops import Verdicts

FIRST = 20
"""Removed texts whose lost sentences, and records whose values, the certificate has."""
_RECORDS = pa.schema({**PLACE, "record": pa.string()})
_OTHERS = pa.schema({**PLACE, "other_values": pa.list_(pa.string())})


class OtherValues:
    """Collects, over removed records, the columns of which the kept one has another value or none."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: list[dict[str, Any]] = []

    def add(self, id: Any, kept: Any, record: Mapping[str, Any], instead: Mapping[str, Any]) -> list[str]:
        """Compare a removed record with the kept one. Return the columns, in order."""
        found = {
            name: [_shown(value), _shown(other)]
            for name, value in record.items()
            if value != (other := instead.get(name)) and str(value) != str(other)
            if _shown(value) not in (None, "", [])
        }
        self._counts.update(found.keys())
        if found and len(self._first) < FIRST:
            self._first.append({"id": id, "kept": kept, "columns": found})
        return list(found)

    def described(self) -> dict[str, Any]:
        """Return the number of records by column, and the first of them."""
        return {"columns": dict(sorted(self._counts.items())), "first_records": self._first}


def note_other_values(verdicts: Verdicts, writings: Sequence[Writing], threads: int) -> OtherValues:
    """Read the records of all clusters again, and note for `Verdicts.drops` what the kept ones do not have."""
    found = OtherValues()
    for writing in writings:
        if isinstance(writing.source.format, TableFormat):
            number = writing.read.number
            records = values_of(writing.source, None, Wanted(verdicts.places_to_merge(number)), threads)
            while rows := list(islice(records, AT_ONCE)):
                held = [(number, place, json.dumps(record, default=str)) for place, [record] in rows if record]
                verdicts.note("records", table_of_rows(held, _RECORDS))
    for batch in verdicts.records_and_kept():
        others = []
        for row in batch.to_pylist():
            kept = json.loads(row["kept_record"] or "{}")
            for path, value in json.loads(row["changes"] or "{}").items():
                holder, key = locate(kept, path) or (kept, path)
                holder[key] = value
            if names := found.add(row["id"], row["kept"], json.loads(row["record"]), kept):
                others.append((row["file"], row["place"], names))
        verdicts.note("others", table_of_rows(others, _OTHERS))
    return found


def _shown(value: Any) -> Any:
    """Return a value as JSON: texts of what it does not have, and null for what is no number."""
    return json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
