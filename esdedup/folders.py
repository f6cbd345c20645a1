"""Where the user's own folders are, and locks on files that end with the process that holds them."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


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
