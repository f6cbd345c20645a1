"""The source arguments of a call: a path, a pattern, or a list of paths."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from esdedup.errors import SourceError, UsageError

Address: TypeAlias = str | Path
SourceArgument: TypeAlias = str | Path | Iterable[str | Path]


def source_names(arguments: Iterable[SourceArgument]) -> Iterator[str]:
    """Return the names of the sources. Items of a list are paths, never patterns."""
    for argument in arguments:
        if isinstance(argument, str | Path):
            yield str(argument)
            continue
        if not isinstance(argument, Iterable):
            raise UsageError(f"a source is {type(argument).__name__}; give a path, a pattern or a list of paths")
        for name in argument:
            if not isinstance(name, str | Path):
                raise UsageError(f"a list of sources holds {type(name).__name__}; give paths")
            if glob.has_magic(str(name)) and not Path(name).exists():
                raise SourceError(f"{name}: no such file or folder; in a list, give paths and not patterns")
            yield str(name)
