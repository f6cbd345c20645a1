"""One decorator for every compiled kernel, with a cache that survives upgrades and read-only installs.

numba invalidates a cached function when the file that defines it changes, but not when a function it
calls does, and it needs a writable folder beside the code. Here the cache folder belongs to the user
and is named after the state of every source file of the package.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

from esdedup.folders import user_cache

P = ParamSpec("P")
R = TypeVar("R")

_config: Any = numba.config  # numba fills it at run time


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with numba on its first call; it runs without the interpreter lock.

    Integer arithmetic wraps, division by zero does not raise, array bounds are not checked.
    """
    previous = _config.CACHE_DIR
    _config.CACHE_DIR = _cache_folder()
    try:
        kernel: Callable[P, R] = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    finally:
        _config.CACHE_DIR = previous
    return kernel


@cache
def _cache_folder() -> str:
    try:
        folder = Path(os.environ.get("ESDEDUP_CACHE_DIR") or user_cache() / "compiled") / _package_state()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):
        # Nowhere to keep compiled code (a service account without a home): a private folder that lives
        # as long as the process, and that its workers share. A shared one in /tmp could be filled by others.
        private = tempfile.mkdtemp(prefix="esdedup-")
        os.environ["ESDEDUP_CACHE_DIR"] = private
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        return private


def _package_state() -> str:
    """Name, size and time of every source file of the package, hashed."""
    root = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        stat = path.stat()
        digest.update(f"{path.relative_to(root)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
