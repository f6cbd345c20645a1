"""The user's own folders, locks that end with the process that holds them, files that appear only when whole, JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def user_cache() -> Path:
    """The user's folder for what can be made again. Raises `RuntimeError` for a user without a home."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "esdedup"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "esdedup"


def hold(file: Path, *, shared: bool = False, make: bool = False) -> int | None:
    """Lock a file without waiting: its descriptor, which is the lock; `None` while somebody else has it.

    `FileNotFoundError` where the file is not there, or its folder if it is to be made. Windows has no such locks:
    there everybody gets one.
    """
    while True:
        held = os.open(file, os.O_RDWR | (os.O_CREAT if make else 0), 0o600)  # not inherited
        if sys.platform == "win32":
            return held
        import fcntl

        try:
            fcntl.flock(held, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            return None
        try:
            if os.path.samestat(os.fstat(held), file.stat()):
                return held
        except FileNotFoundError:
            pass
        os.close(held)  # who had it before has deleted the file: this lock is on nothing


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; it takes the name on success and goes away on failure.

    Its name is always the same, so that what a killed process left is written over.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def compact_json(value: Any) -> str:
    """JSON in one line, without spaces, every character as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
