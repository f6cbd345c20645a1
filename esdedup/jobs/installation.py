"""What is installed on this machine, as checks of `doctor`: what to paste into a report of a fault."""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from esdedup._version import __version__
from esdedup.resources import available_cores
from esdedup.store.store import Check
from esdedup.text.detectors import installed

_LEAST_MEMORY, _LEAST_DISK = 2**30, 2**30
_REQUIRED = re.compile(r"([A-Za-z0-9._-]+)[^;]*(?:;\s*(.*))?")
_EXTRA = re.compile(r"""extra == ["'](\w+)["']""")


def installation() -> Iterator[Check]:
    """Yield what is here, and what is missing: of esdedup, this machine, the packages that it needs, and its extras."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check(f"esdedup {__version__}, {python}, {platform.platform()}")
    memory = _memory()
    yield Check(
        f"{available_cores()} cores, {memory / 2**30:,.1f} GiB of memory",
        None if memory >= _LEAST_MEMORY else "a job uses 1 GiB",
        "close other programs, or use --memory 512MiB",
    )
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    yield Check(
        f"{free / 2**30:,.1f} GiB free in {folder}",
        None if free >= _LEAST_DISK else "larger jobs need room for what does not fit in memory",
        "free some, or set TMPDIR to another folder",
    )
    core, extras = _packages()
    found = {name: _version(name) for name in core}
    missing = [name for name, at in found.items() if at is None]
    yield Check(
        "packages: " + ", ".join(f"{name} {at}" for name, at in found.items() if at is not None),
        f"missing: {', '.join(missing)}" if missing else None,
        f"pip install {' '.join(missing)}",
    )
    yield Check(f"languages are told by {installed()}")
    for extra, names in extras.items():
        absent = [name for name in names if _version(name) is None]
        yield Check(f"esdedup[{extra}]", None, f"pip install 'esdedup[{extra}]', if you need it", made=not absent)
    java = shutil.which("java")
    yield Check("Java, for esdedup[spark]", None, "install Java 17, if you need it", made=java is not None)


def _memory() -> int:
    import psutil

    return int(psutil.virtual_memory().total)


def _packages() -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the packages that are needed here, and those of each extra. One that is needed on some
    machines alone is named if it is here.
    """
    core: list[str] = []
    extras: dict[str, list[str]] = {}
    for requirement in requires("esdedup") or ():
        match = _REQUIRED.match(requirement)
        if match is None:
            continue
        extra = _EXTRA.search(match[2] or "")
        if extra is not None:
            extras.setdefault(extra[1], []).append(match[1])
        elif not match[2] or _version(match[1]) is not None:
            core.append(match[1])
    return sorted(core), extras


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
