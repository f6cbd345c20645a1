"""The sources and the options of a call, and what is checked before anything is imported that does the work."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from esdedup.errors import SourceError, UsageError

Address: TypeAlias = str | Path
_LONGEST_NAME = 256

SourceArgument: TypeAlias = str | Path | Iterable[str | Path]


def has_columns(argument: object) -> bool:
    """Whether an argument is a table or a column in memory, by what such objects have."""
    known = any(hasattr(argument, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "shape"))
    return known or type(argument).__name__ == "DuckDBPyRelation"


def held(argument: Any) -> Any:
    """Return the items of an iterator as a list, and anything else as it is. A reader of Arrow batches is a table."""
    return list(argument) if isinstance(argument, Iterator) and not has_columns(argument) else argument


def source_names(arguments: Iterable[SourceArgument]) -> Iterator[str]:
    """Return the names of the sources. Items of a list are paths, never patterns."""
    for argument in arguments:
        if isinstance(argument, str | Path):
            yield str(argument)
            continue
        if has_columns(argument):
            raise UsageError(
                f"a source is {type(argument).__name__}, a table in memory, which run, index, add, dedupe and "
                "cluster_texts take; write it to a file first"
            )
        if not isinstance(argument, Iterable):
            raise UsageError(f"a source is {type(argument).__name__}; give a path, a pattern or a list of paths")
        for name in argument:
            if not isinstance(name, str | Path):
                raise UsageError(f"a list of sources holds {type(name).__name__}; give paths")
            if "://" not in str(name) and glob.has_magic(str(name)) and not Path(name).exists():
                raise SourceError(f"{name}: no such file or folder; in a list, give paths and not patterns")
            yield str(name)


def table_in(argument: object) -> object | None:
    """Return a table in memory, if the argument of `dedupe` is one; None if it names files.

    Raises `UsageError` for a list of strings that name files: a list of `Path` would be meant as files.
    """
    if isinstance(argument, str | Path):
        return None
    argument = held(argument)
    if not isinstance(argument, list | tuple | set | frozenset):
        return argument
    items = list(argument)
    if items and all(isinstance(item, Path) for item in items):
        return None
    files = [item for item in items if isinstance(item, str) and len(item) < _LONGEST_NAME and Path(item).exists()]
    # a word may happen to be the name of a file, but hardly with its ending
    some = next((item for item in files if Path(item).suffix), None)
    if files and (len(files) == len(items) or some is not None):
        which = "every string" if len(files) == len(items) else "a string"
        raise UsageError(
            f"{which} of the list names a file; wrap them in pathlib.Path if the files are meant, as in "
            f"[Path({some or files[0]!r}), …]"
        )
    return items


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an option that is unknown, out of range or does not apply."""
    from esdedup.jobs.presets import with_preset
    from esdedup.jobs.settings import Settings

    Settings.of(**{name: value for name, value in with_preset(options, 0).items() if name != "ignore"})


def check_store(store: object) -> None:
    """Raise `UsageError` for an address that is not valid, `StoreError` if there is no store in a file there."""
    from esdedup.store.registry import address_of

    if isinstance(store, str | Path):
        address_of(store).check_there()
