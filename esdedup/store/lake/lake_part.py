"""Write one part of a lake: the rows of one source."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from esdedup.columns.arrays import Numbers
from esdedup.files import whole_file
from esdedup.formats.reading_options import Part
from esdedup.matching.signing import Signing
from esdedup.store.corpus import ALL, Intake
from esdedup.store.lake.lake_files import PARTS, LakeFiles, open_writer
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DATES, SEEN

_ROW_GROUP = 122_880


class PartIntake(Intake):
    """Takes in one source. Its files appear when it has been read. Several tasks may make the same part at once."""

    def __init__(self, files: LakeFiles, number: int, signing: Signing) -> None:
        self.signing = signing
        self._files = files
        self._number = number
        self._stack = ExitStack()
        self._paths: dict[str, Path] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows = dict.fromkeys(PARTS, 0)
        self._records = 0
        self._seen: list[pa.Table] = []
        self._checkpoint: SourceCheckpoint | None = None

    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        """As `Intake.begin`."""
        assert part == ALL, "a part of a lake has one writer"
        [self._checkpoint] = checkpoints
        for table, schema in PARTS.items():
            path = self._files.rows(table, self._number)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._paths[table] = self._stack.enter_context(whole_file(path, shared=True))
            self._writers[table] = self._stack.enter_context(open_writer(self._paths[table], schema))
        return 0

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        """As `Intake.append`."""
        lengths = pc.binary_length(sentences["text"]).cast(pa.int32())
        for table, rows in {"documents": documents, "sentences": sentences.append_column("length", lengths)}.items():
            part = pa.array(np.full(len(rows), self._number, np.int32))
            whole = rows.append_column("part", part).select(PARTS[table].names).cast(PARTS[table])
            self._writers[table].write_table(whole, row_group_size=_ROW_GROUP)
            self._rows[table] += len(rows)
        if len(seen):
            self._seen.append(seen)
        self._checkpoint = checkpoint

    def ended(self, records: int) -> None:
        """As `Intake.ended`."""
        self._records = records

    def commit(self) -> dict[str, int]:
        """As `Intake.commit`: the files appear. Ids are compared when all parts are there."""
        for writer in self._writers.values():
            writer.close()
        if self._seen:
            self._date(self._paths["sentences"])
        self._stack.close()
        assert self._checkpoint is not None
        told = {"checkpoint": asdict(self._checkpoint), "records": self._records, **self._rows}
        mark = self._files.mark(self._number)
        mark.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(mark, shared=True) as path:
            path.write_text(json.dumps(told), "utf-8")
        return {}

    def _date(self, path: Path) -> None:
        """Write a file of sentences again, with what was known of them only when their pages ended."""
        seen = pa.concat_tables(self._seen).cast(SEEN)
        keys = _keys(seen)
        order = np.argsort(keys)
        keys, seen = keys[order], seen.take(pa.array(order))
        schema = PARTS["sentences"]
        with whole_file(path) as dated, pq.ParquetFile(path) as undated, open_writer(dated, schema) as writer:
            for group in range(undated.num_row_groups):
                rows = undated.read_row_group(group)
                wanted = _keys(rows)
                at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
                known, at = pa.array(keys[at] == wanted), pa.array(at)
                for name in DATES:
                    column = pc.if_else(known, seen[name].take(at), rows[name])
                    rows = rows.set_column(schema.get_field_index(name), schema.field(name), column)
                writer.write_table(rows)

    def __enter__(self) -> PartIntake:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _keys(rows: pa.Table) -> Numbers:
    """Return the place of each sentence as one number."""
    return np.asarray((rows["document"].to_numpy().astype(np.int64) << 32) | rows["position"].to_numpy())


def told_of(files: LakeFiles, part: int) -> dict[str, Any] | None:
    """Return what was written of a part; None if it has not been read."""
    mark = files.mark(part)
    return dict(json.loads(mark.read_text("utf-8"))) if mark.exists() else None
