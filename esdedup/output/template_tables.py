"""Write tables of templates as files: one for each cluster, and a list of their frames."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.analysis.templates import Column, Table
from esdedup.files import whole_file
from esdedup.output.spreadsheet import write_csv


def write_tables(tables: Iterable[Table], folder: Path, form: str) -> list[Path]:
    """Write frames.jsonl and one table for each cluster (`csv` or `parquet`) to `folder`; return their paths.

    Columns are id, document, title, the slots as written, the values of those that are numbers or dates (`SLOT_value`),
    and `fits`: whether frame and cells reproduce the sentence. In CSV, a cell that begins like a formula gets a leading
    apostrophe.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    listing = folder / "frames.jsonl"
    with whole_file(listing) as part, part.open("w", encoding="utf-8", newline="\n") as lines:
        for table in tables:
            path = folder / f"{table.cluster}.{form}"
            columns = _columns(table)
            with whole_file(path) as part_of_table:
                if form == "parquet":
                    pq.write_table(pa.table(columns), part_of_table)
                else:
                    with part_of_table.open("w", encoding="utf-8", newline="") as out:
                        write_csv(list(columns), zip(*columns.values(), strict=True), out)
            slots = [{"name": slot.name, "type": slot.type, "unit": slot.unit} for slot in table.columns]
            row = {"cluster": table.cluster, "frame": table.frame, "slots": slots, "rows": len(table.fits)}
            row |= {"fit": sum(table.fits), "file": path.name}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            written.append(path)
    return [listing, *written]


def _columns(table: Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: [sentence[name] for sentence in table.sentences] for name in ("id", "document", "title")
    }
    for slot in table.columns:
        columns[slot.name] = list(slot.cells)
        if slot.values is not None:
            columns[_value_name(slot)] = list(slot.values)
    return columns | {"fits": list(table.fits)}


def _value_name(slot: Column) -> str:
    return f"{slot.name}_value"
