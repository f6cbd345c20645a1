"""Files that appear under their names only when they are whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
