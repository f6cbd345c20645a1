"""The files of a lake, and what it says of itself.

A part has the rows of one source, or of a span of it. Its documents and records are numbered as if there were no
others, because nobody knows yet how many precede them: `lake.json` lists how many each part has, and the sums are added
when they are read.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from esdedup.columns.arrays import Numbers
from esdedup.errors import NotAStoreError, StoreError
from esdedup.files import as_word, whole_file
from esdedup.formats.reading_options import Part
from esdedup.matching.signing import Signing
from esdedup.store.corpus import ALL, Intake
from esdedup.store.duckdb.ledger import ANY, CHECKPOINT, NATURAL, fits
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DATES, DOCUMENT_ROWS, SEEN, SENTENCE_ROWS, TABLES

_PART = pa.field("part", pa.int32())
DOCUMENTS: pa.Schema = DOCUMENT_ROWS.insert(0, _PART)
SENTENCES: pa.Schema = SENTENCE_ROWS.insert(0, _PART).append(pa.field("length", pa.int32()))
"""Rows of a part. `length` is the number of bytes of the text."""

PARTS: dict[str, pa.Schema] = {"documents": DOCUMENTS, "sentences": SENTENCES}
RESULTS: dict[str, pa.Schema] = {name: TABLES[name] for name in ("pairs", "clusters", "cluster_texts", "origins")}
REPEATS: pa.Schema = pa.schema([("number", pa.int32()), ("n", pa.int32())])
"""Documents whose id was read before: their number in the lake, and how many have it up to there."""

ABOUT = ("schema", "hash-scheme", "signing", "job", "state", "read", "scan")
"""The values of the ledger that a lake keeps."""

_DESCRIPTION = {
    "about": {...: ANY},
    "sources": [CHECKPOINT],
    "parts": [dict.fromkeys(("number", "source", "documents", "sentences", "records"), NATURAL)],
}
_ROWS = re.compile(r"\.?part-[0-9]{5,}\.parquet(\.[0-9a-f]{32})?")
_MARK = re.compile(r"\.?[0-9]{5,}\.json(\.[0-9a-f]{32})?")
_TEXT_COLUMNS = ["text", "title", "key", "language", "timestamp", "contributor", "last_timestamp", "last_contributor"]


class LakeFiles:
    """The paths of a lake's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.description = folder / "lake.json"
        self.job = folder / "parts" / "job.json"
        """The job that is reading into the lake."""
        self.lock = folder / "parts" / "lock"
        self.repeats = folder / "repeats.parquet"

    def rows(self, table: str, part: int) -> Path:
        """Return the path of the documents or sentences of a part."""
        return self.folder / table / f"part-{part:05d}.parquet"

    def mark(self, part: int) -> Path:
        """Return the path of the file that says that a part has been read."""
        return self.folder / "parts" / f"{part:05d}.json"

    def result(self, table: str) -> Path:
        """Return the path of a table of results."""
        return self.folder / f"{table}.parquet"

    def read(self) -> dict[str, Any]:
        """Return what the lake says of itself. Raise `NotAStoreError` if it has not been finished, or is none."""
        if not self.description.exists():
            begun = self.job.exists()
            why = "it has not been read to the end; run the same command again" if begun else "it has no lake.json"
            raise NotAStoreError(f"{self.folder}: not a lake: {why}")
        try:
            described = json.loads(self.description.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise self.damaged(f"lake.json cannot be read ({error})") from error
        if not fits(described, _DESCRIPTION):
            raise self.damaged("lake.json has not the form that esdedup gives it")
        return dict(described)

    def write(self, described: dict[str, Any]) -> None:
        """Save what the lake says of itself. From then on it is one."""
        with whole_file(self.description) as part:
            part.write_text(json.dumps(described, ensure_ascii=False, indent=1) + "\n", "utf-8")

    def check(self, path: Path, schema: pa.Schema) -> Path:
        """Return a path. Raise `StoreError` unless there is a Parquet file with these columns."""
        try:
            found = pq.read_schema(path)
        except FileNotFoundError as error:
            raise self.damaged(f"{path.relative_to(self.folder)} is missing") from error
        except (OSError, pa.ArrowException) as error:
            raise self.damaged(f"{path.relative_to(self.folder)} cannot be read") from error
        if not found.equals(schema, check_metadata=False):
            raise self.damaged(f"{path.relative_to(self.folder)} has other columns than esdedup gives it")
        return path

    def move(self, folder: Path) -> None:
        """Put the lake in the place of another one."""
        LakeFiles(folder).delete()
        try:
            self.folder.replace(folder)
        except OSError as error:
            raise StoreError(f"{folder}: holds what esdedup did not make; the new lake is in {self.folder}") from error

    def damaged(self, why: str) -> StoreError:
        """Return the error for a lake that cannot be used."""
        return StoreError(f"{self.folder}: damaged: {why}; delete the folder, and make the lake again")

    def all(self) -> list[Path]:
        """Return every file that is part of the lake, or may have been left of one."""
        own = [self.description, self.job, self.lock, self.repeats, *map(self.result, RESULTS)]
        rows = [path for table in PARTS for path in self.folder.glob(f"{table}/*") if _ROWS.fullmatch(path.name)]
        marks = [path for path in self.folder.glob("parts/*") if _MARK.fullmatch(path.name)]
        return [path for path in [*own, *rows, *marks] if path.is_file()]

    def has_parts(self) -> bool:
        """Whether a part has been read."""
        return any(path for path in self.folder.glob("parts/*.json") if path != self.job)

    def delete(self, but: Path | None = None) -> None:
        """Delete all of them except one, and the folders if nothing else is in them."""
        for path in self.all():
            if path != but:
                path.unlink(missing_ok=True)
        for folder in (*(self.folder / table for table in (*PARTS, "parts")), self.folder):
            with suppress(OSError):
                folder.rmdir()


def only_read(lake: object) -> str:
    """Return why nothing is added to a lake, and what to do."""
    return f"{lake}: a lake is only read; load it into a store with {_loading(lake)}, and add to that"


def not_searched(lake: object) -> str:
    """Return why a lake does not answer, and what to do."""
    return f"{lake}: a lake is not searched; load it into a store with {_loading(lake)}, and use that"


def _loading(lake: object) -> str:
    return f"esdedup index {as_word(lake)} --store PATH.duckdb"


def open_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a file for rows of a schema. Hashes and tokens are random, so only texts are worth a dictionary."""
    known = [name for name in _TEXT_COLUMNS if name in schema.names]
    return pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=known)


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
