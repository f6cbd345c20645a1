"""The user's folders, locks that end with their process, files that appear only when complete, JSON."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from esdedup.errors import EsdedupError

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


def user_cache() -> Path:
    """Return the user's folder for data that can be made again. Raises `RuntimeError` for a user without a home."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "esdedup"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "esdedup"


def as_word(path: object) -> str:
    """Return a path, or an address, as one word of a command that can be copied, in quotes if it needs them."""
    return subprocess.list2cmdline([str(path)]) if sys.platform == "win32" else shlex.quote(str(path))


def hold(file: Path, *, shared: bool = False, make: bool = False) -> int | None:
    """Lock a file without waiting. Return its descriptor, which is the lock; `None` while another process holds it.

    Raises `FileNotFoundError` if the file does not exist, or if its folder does not exist and it is to be made. Some
    network file systems have no such locks, and Windows no shared ones: there everybody gets one. A link is not
    followed.
    """
    while True:
        # child processes do not inherit it
        held = os.open(file, os.O_RDWR | (os.O_CREAT if make else 0) | getattr(os, "O_NOFOLLOW", 0), 0o600)
        if sys.platform == "win32":
            import msvcrt

            try:
                if not shared:
                    msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
            except OSError:
                os.close(held)
                return None
            return held
        import fcntl

        try:
            fcntl.flock(held, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            return None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(held)
                raise
        try:
            if os.path.samestat(os.fstat(held), file.stat()):
                return held
        except FileNotFoundError:
            pass
        os.close(held)  # the previous holder deleted the file, so this lock is worthless


@contextmanager
def whole_file(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path` to write to. It is renamed to `path` on success, and deleted on failure.

    Its name is always the same, so a file left by a killed process is overwritten. If the file is `shared`, because
    several tasks may write the same one, it is another name each time. A link that somebody planted there is not
    followed.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex if shared else 'part'}")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def compact_json(value: Any) -> str:
    """Return JSON in one line, without spaces, and without escaping non-ASCII characters.

    Raise `EsdedupError` for a number that JSON does not have, which only a damaged store can contain.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise EsdedupError("a number in the results is infinite or undefined; scan the store again") from error
