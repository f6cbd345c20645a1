"""One decorator for every compiled kernel, with a cache that survives upgrades and read-only installs.

numba recompiles a cached function when the file that defines it changes, but not when a called function changes. It
also needs a writable folder beside the code. Here, the cache belongs to the user. Each module with kernels has a folder
in it, named after the content of the module and of all modules of the package that it imports. So saving any other file
recompiles nothing. numba itself separates code for different versions of Python and different CPUs.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

from esdedup.files import user_cache

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from (esdedup(?:\.\w+)*) import (.+)$", re.MULTILINE)
_UNUSED_DAYS = 30

_config: Any = numba.config  # numba fills it at run time


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with numba on its first call. It runs without the interpreter lock.

    Integer arithmetic wraps, division by zero does not raise, array bounds are not checked.
    """
    folder, content = _folder_of(function.__module__)
    previous = _config.CACHE_DIR
    _config.CACHE_DIR = folder
    try:
        kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    finally:
        _config.CACHE_DIR = previous
    # numba would compare the time of the file, which a checkout may change without its content
    kernel._cache._cache_file._source_stamp = content
    return kernel  # type: ignore[no-any-return]


def constant(value: int) -> int:
    """Return `value` as an argument of compiled code: a Python int would compile the callee again for this value."""
    return cast(int, np.int64(value))


@cache
def _folder_of(module: str) -> tuple[str, str]:
    """Return the cache folder of a module's kernels, and the hash of all source code that they depend on."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(_with_imported(module)):
        digest.update(name.encode() + _source_of(name))
    content = digest.hexdigest()[:16]
    root = _cache_root()
    folder = root / f"{module.removeprefix('esdedup.')}-{content}"
    if not folder.exists():
        _remove_unused(root)
    folder.mkdir(exist_ok=True)
    with suppress(OSError):
        os.utime(folder)
    return str(folder), content


def _with_imported(module: str) -> set[str]:
    """Return the module and all modules of the package that it imports, directly or indirectly."""
    found, left = set(), [module]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for package, names in _IMPORT.findall(_source_of(name).decode()):
            left.append(package)
            left += [inner for part in re.findall(r"\w+", names) if _file_of(inner := f"{package}.{part}").is_file()]
    return found


@cache
def _source_of(module: str) -> bytes:
    path = _file_of(module)
    return path.read_bytes() if path.is_file() else b""


def _file_of(module: str) -> Path:
    path = _PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _cache_root() -> Path:
    try:
        folder = Path(os.environ.get("ESDEDUP_CACHE_DIR") or user_cache() / "compiled")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):
        # Nowhere to keep compiled code (a service account without a home): use a private folder that exists as long as
        # the process, and that its workers share. Others could write to a shared one in /tmp.
        private = tempfile.mkdtemp(prefix="esdedup-")
        os.environ["ESDEDUP_CACHE_DIR"] = private
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        return Path(private)


def _remove_unused(root: Path) -> None:
    """Remove the folders that no process has used for a month."""
    oldest = time.time() - _UNUSED_DAYS * 24 * 3600
    for folder in root.iterdir():
        with suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
