"""Files of extracted text: JSON Lines, plain text or Parquet, in finished parts until all of them are there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.errors import UsageError
from esdedup.files import whole_file
from esdedup.formats.compression.protocol import COMPRESSIONS, compression_of

_PIECE = 2**20
_PARQUET = ".parquet"
_FORM = "give a name that ends in .jsonl or .txt, if wanted compressed as in .jsonl.zst; or in .parquet"


def _json_lines(rows: pa.Table) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows.to_pylist())


def _plain_text(rows: pa.Table) -> bytes:
    """Texts, one after another. Documents end with an empty line, sentences with a line break."""
    end = "\n" if "position" in rows.column_names else "\n\n"
    return "".join(text.rstrip("\n") + end for text in rows["text"].to_pylist()).encode()


_ENCODERS: dict[str, Callable[[pa.Table], bytes]] = {".jsonl": _json_lines, ".txt": _plain_text}


class ExtractFile:
    """A file to write, whose name says its format and compression. Raises `UsageError` for other names."""

    def __init__(self, path: Path) -> None:
        packing = compression_of(path.suffix)
        ending = Path(path.stem).suffix if packing else path.suffix
        if ending not in _ENCODERS and (packing or ending != _PARQUET):
            raise UsageError(f"{path}: the name does not say a format; {_FORM}")
        if path.is_dir():
            raise UsageError(f"{path}: this is a folder; {_FORM}")
        self.path = path
        self._encode = _ENCODERS.get(ending)
        self._compression = packing or COMPRESSIONS["plain"]()

    def write_part(self, path: Path, rows: pa.Table) -> None:
        """Write some of the rows to a file of their own."""
        with whole_file(path) as part:
            if self._encode is None:
                pq.write_table(rows, part, compression="zstd")
            else:
                part.write_bytes(self._encode(rows))

    def join(self, parts: list[Path]) -> None:
        """Write the file, which appears when it is complete, from all of its parts."""
        with whole_file(self.path) as whole:
            if self._encode is None:
                with pq.ParquetWriter(whole, pq.read_schema(parts[0]), compression="zstd") as writer:
                    for part in parts:
                        writer.write_table(pq.read_table(part))
            else:
                self._compression.write(whole, iter([(self.path.stem, _bytes_of(parts))]))


def _bytes_of(parts: list[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as file:
            yield from iter(lambda: file.read(_PIECE), b"")


class Parts:
    """The finished parts of a file, in a folder beside it. What a killed job left is `saved`: its state after them."""

    def __init__(self, file: ExtractFile, job: str) -> None:
        self._file = file
        self._job = job
        self._folder = file.path.with_name(f".{file.path.name}.parts")
        self._progress = self._folder / "progress.json"
        self._count = 0
        self.saved: dict[str, Any] | None = None
        with suppress(OSError, ValueError, KeyError):
            known = json.loads(self._progress.read_text("utf-8"))
            if known["job"] == job:
                self._count, self.saved = known["parts"], known["state"]

    def add(self, rows: pa.Table, state: dict[str, Any]) -> None:
        """Add a part, and save the state of the job after it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file.write_part(self._path(self._count), rows)
        self._count += 1
        with whole_file(self._progress) as part:
            part.write_text(json.dumps({"job": self._job, "parts": self._count, "state": state}), "utf-8")

    def finish(self) -> None:
        """Join all parts, and delete them."""
        self._file.join([self._path(number) for number in range(self._count)])
        shutil.rmtree(self._folder)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06}"

    def __enter__(self) -> Parts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._folder.rmdir()  # only if nothing was begun
