"""One decorator for every compiled kernel, with a cache that survives upgrades and read-only installs.

numba recompiles a cached function when the file that defines it changes, but not when a called function changes. It
also needs a writable folder beside the code. Here, the cache belongs to the user. Each module with kernels has a folder
in it, named after the content of the module and of all modules of the package that it imports. So saving any other file
recompiles nothing. numba itself separates code for different versions of Python and different CPUs.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import logging
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import unicodedata
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from esdedup.files import user_cache, whole_file

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger("esdedup")

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from (esdedup(?:\.\w+)*) import (.+)$", re.MULTILINE)
_UNUSED_DAYS = 30
_PLAIN_SECONDS = 0.7
"""Kernels are run by Python for so long in all, in processor time: how busy the machine is makes no difference."""
_LITTLE = 800
"""The most values that a function gets which Python runs for the first time."""
_TELLING = 100
"""So many values say how long a function takes for each; fewer say how long it takes to call it."""
_GROWTH = 20
"""So many times more values than before it may get: for more, the time of each may be another."""
_one_at_a_time = threading.RLock()


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with numba on its first call. It runs without the interpreter lock.

    Integer arithmetic wraps, division by zero does not raise, array bounds are not checked. numba, which takes long to
    import, is not needed before that call either.
    """
    return _Kernel(function)


_only: list[str] = []
"""How the names of the modules begin whose kernels alone are compiled."""
_starts: list[Callable[[], object]] = []
"""What is called when compiling begins."""
_spent = [0.0]
"""The seconds for which Python has run kernels."""
_TABLES: set[int] = set()
"""The arrays of `kept`, which live as long as the process: their size says nothing about the work."""


def _size(arguments: tuple[Any, ...]) -> int:
    """Return how many values the largest array has."""
    sizes = [
        _size(each) if isinstance(each, tuple) else each.size if isinstance(each, np.ndarray) else 0
        for each in arguments
        if id(each) not in _TABLES
    ]
    return max(sizes, default=0)


class _Wide(np.ndarray):
    """An array of small numbers or flags whose items are numbers of Python: as in compiled code, they do not wrap."""

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        return item.item() if isinstance(item, np.generic) else item


def _wide(value: Any) -> Any:
    """Return an array of small numbers, or a tuple with some, as `_Wide`. The memory is the same."""
    if isinstance(value, np.ndarray):
        return value.view(_Wide) if value.dtype.itemsize < 8 and value.dtype.kind in "iub" else value
    if isinstance(value, tuple):
        return _rebuilt(value, _wide)
    return value.item() if isinstance(value, np.generic) and value.dtype.itemsize < 8 else value


def _narrow(value: Any) -> Any:
    if isinstance(value, tuple):
        return _rebuilt(value, _narrow)
    return value.view(np.ndarray) if isinstance(value, _Wide) else value


def _rebuilt(values: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return a tuple, named or not, with each value changed."""
    parts = map(change, values)
    return type(values)(*parts) if hasattr(values, "_fields") else tuple(parts)


class _Numpy:
    """numpy, as kernels use it: the arrays that it makes are `_Wide`."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if name in ("empty", "zeros", "full", "ones", "empty_like", "zeros_like"):
            found = functools.partial(_made_wide, found)
        setattr(self, name, found)
        return found


_NUMPY = _Numpy()


def _made_wide(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return _wide(function(*arguments, **named))


class _Kernel(Generic[P, R]):
    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function: Any = function
        self._made: Any = None
        self._inner: Any = None
        self._plain: Any = None
        self._seconds_each = _PLAIN_SECONDS / 4 / _LITTLE  # until it is known
        self._most = _LITTLE

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        if self._made is None and self._is_little(size := _size(arguments)):
            return self._run_plain(size, *arguments, **named)
        made = self._made or self.make()
        return cast(R, made(*arguments, **named))

    def _is_little(self, size: int) -> bool:
        """Whether Python runs the function itself in no time: for a few texts, that takes less time than to import
        numba, and much less than to compile.
        """
        if _only:
            return not self._function.__module__.startswith(_only[0])
        known = size <= _GROWTH * self._most
        return known and _spent[0] < _PLAIN_SECONDS and size * self._seconds_each <= _PLAIN_SECONDS / 4

    def _run_plain(self, size: int, *arguments: P.args, **named: P.kwargs) -> R:
        begun = time.thread_time()
        function, given = self.plain(), [_wide(each) for each in arguments]
        with np.errstate(all="ignore"):  # arithmetic wraps
            result = cast(R, _narrow(function(*given, **{name: _wide(each) for name, each in named.items()})))
        seconds = time.thread_time() - begun
        _spent[0] += seconds
        if size >= _TELLING:
            self._seconds_each, self._most = seconds / size, max(self._most, size)
        return result

    def plain(self) -> Any:
        """Return the function as Python runs it, which calls others as Python runs them."""
        if self._plain is None:
            self._plain = self._calling(_Kernel.plain, np=_NUMPY)
        return self._plain

    def make(self) -> Any:
        """Return what numba makes of the function, for Python to call."""
        with _one_at_a_time:
            if self._made is None:
                self._made = _dispatcher(self._calling(_Kernel.inner), for_python=True)
        return self._made

    def inner(self) -> Any:
        """Return what numba makes of the function for other compiled code. Python may not call it: what would turn its
        objects into values is left out, which is a tenth of the work.
        """
        if self._inner is None:
            self._inner = _dispatcher(self._calling(_Kernel.inner), for_python=False)
        return self._inner

    def _calling(self, form: Callable[[_Kernel[Any, Any]], Any], **names: Any) -> FunctionType:
        """Return a copy of the function that calls other kernels in another `form`."""
        code, around = self._function.__code__, {**self._function.__globals__, **names}
        made = FunctionType(code, around, code.co_name, self._function.__defaults__)
        around |= {name: form(called) for name in code.co_names if isinstance(called := around.get(name), _Kernel)}
        return made


def _dispatcher(function: FunctionType, for_python: bool) -> Any:
    import numba
    from numba.core import caching, types

    config: Any = numba.config  # numba fills it at run time
    unliteral: Any = types.unliteral
    folder, content = _folder_of(function.__module__)
    if not any(Path(folder).glob(f"*.{function.__name__}-*.nbi")):
        _begin_compiling()
    previous = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        jit: Any = numba.njit  # its types do not know of the wrappers
        made = jit(
            cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=not for_python
        )(function)
    finally:
        config.CACHE_DIR = previous
    # numba would name a folder after the path of the file, and compare its time: a checkout, and each worker of Spark,
    # has others, with the same content
    cache_file: Any = caching.IndexDataCacheFile
    base = made._cache._impl.filename_base + ("" if for_python else "-inner")
    made._cache._cache_path = folder
    made._cache._cache_file = cache_file(folder, base, content)
    # a variable that begins as a literal would compile what is called with it once more, for this literal
    template = made.get_call_template
    made.get_call_template = lambda given, named: template(
        tuple(map(unliteral, given)), {name: unliteral(each) for name, each in named.items()}
    )
    return made


def when_compiling(start: Callable[[], object]) -> None:
    """Call `start` when something must be compiled, once in this process."""
    _starts[:] = [start]


def compile_only(modules: str) -> None:
    """Compile the kernels of modules with names that begin like this, however little there is to do. Python runs all
    others.
    """
    _only[:] = [modules]


def is_compiled(module: str) -> bool:
    """Whether any kernel of a module has been compiled before."""
    return any(Path(_folder_of(module)[0]).glob("*.nbi"))


@cache
def _begin_compiling() -> None:
    for start in _starts:
        start()
    if sys.stderr.isatty():
        _log.info("compiling, once after an installation; this takes about a minute")


def kept(function: Callable[P, tuple[npt.NDArray[Any], ...]]) -> Callable[P, tuple[npt.NDArray[Any], ...]]:
    """Compute arrays once for each user, and keep them with the kernels of the module: a table of all characters takes
    a tenth of a second. They depend on the arguments, the code, and the version of Unicode.
    """

    @functools.cache
    def read_or_made(*arguments: P.args, **named: P.kwargs) -> tuple[npt.NDArray[Any], ...]:
        words = [function.__name__, *map(str, arguments), unicodedata.unidata_version]
        path = Path(_folder_of(function.__module__)[0]) / f"{'-'.join(words)}.npz"
        with suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as file:
            return _noted(tuple(file[f"arr_{number}"] for number in range(len(file.files))))
        made = _noted(function(*arguments, **named))
        with suppress(OSError), whole_file(path, shared=True) as part, part.open("wb") as file:
            np.savez(file, *made)
        return made

    return cast("Callable[P, tuple[npt.NDArray[Any], ...]]", read_or_made)


def _noted(arrays: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
    _TABLES.update(map(id, arrays))
    return arrays


def constant(value: int) -> int:
    """Return `value` as an argument of compiled code: a Python int would compile the callee again for this value."""
    return cast(int, np.int64(value))


@cache
def _folder_of(module: str) -> tuple[str, str]:
    """Return the cache folder of a module's kernels, and the hash of all source code that they depend on."""
    digest = hashlib.sha256(version("numba").encode())
    for name in sorted(_with_imported(module)):
        digest.update(name.encode() + _source_of(name))
    content = digest.hexdigest()[:16]
    root = cache_root()
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
def cache_root() -> Path:
    """Return where compiled code is kept."""
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
