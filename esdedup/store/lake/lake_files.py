"""The files of a lake, and what it says of itself.

A part has the rows of one source, or of a span of it. Its documents and records are numbered as if there were no
others, because nobody knows yet how many precede them: `lake.json` lists how many each part has, and the sums are added
when they are read.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.errors import NotAStoreError, StoreError
from esdedup.files import as_word, whole_file
from esdedup.store.duckdb.ledger import ANY, CHECKPOINT, NATURAL, fits
from esdedup.store.schemas import DOCUMENT_ROWS, SENTENCE_ROWS, TABLES

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
