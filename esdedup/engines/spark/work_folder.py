"""The files of one scan, in a folder that all workers see, and which of its stages are done."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from esdedup.errors import EngineError
from esdedup.files import whole_file


class WorkFolder:
    """A folder of Arrow files, one for each task of a stage."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def stage(self, name: str, work: Callable[[], Any]) -> Any:
        """Return the result of `work`, which JSON can hold. It runs now, unless it was done before."""
        mark = self.path / f"{name}.json"
        if not mark.exists():
            result = work()
            with whole_file(mark) as part:
                part.write_text(json.dumps(result), "utf-8")
        return json.loads(mark.read_text("utf-8"))

    def file(self, kind: str, name: int | str) -> str:
        """Return the path of a file."""
        return str(self.path / kind / f"{name}.arrow")


@contextmanager
def whole_part(path: str) -> Iterator[Path]:
    """Yield a path to write to, for a file that appears whole or not at all. Its task may run twice at once."""
    whole = Path(path)
    whole.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(whole, shared=True) as part:
        yield part


def write_rows(path: str, rows: pa.Table) -> None:
    """Write a table to a file."""
    with (
        whole_part(path) as part,
        pa.OSFile(str(part), "wb") as sink,
        pa.ipc.new_file(sink, rows.schema) as writer,
    ):
        writer.write_table(rows)


def read_rows(path: str) -> pa.Table:
    """Return the rows of a file. They stay on disk until they are used."""
    try:
        with pa.memory_map(path) as source:
            return pa.ipc.open_file(source).read_all().combine_chunks()
    except FileNotFoundError as error:
        raise EngineError.unseen(path) from error


def in_folder(folder: str, work: Callable[[Any], Any], given: Any) -> Any:
    """Run work on an item in a folder."""
    sys.path[:] = map(os.path.abspath, sys.path)  # the package may lie in the folder of the worker
    if not Path(folder).is_dir():
        raise EngineError.unseen(folder)
    with chdir(folder):
        return work(given)
