"""The commands that reproduce the same results."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from esdedup.formats.protocol import format_at
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signing import Signing
from esdedup.store.duckdb.file_address import FileAddress
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.registry import kind_of

_NAMED = 50
"""Sources that one command names."""

_OUT = "found"

_WIDTH = 100
"""Characters in a line, unless one word is longer."""

_OTHERWISE = {"same-first-word": "any-first-word", "reciprocal": "one-sided"}
"""Flags whose opposite has its own name."""


def commands(checkpoints: Sequence[SourceCheckpoint], settings: Mapping[str, Any], address: str) -> list[str]:
    """Return shell commands that read the sources of a store, scan it with these `settings` (by their command-line
    names), and write the report.

    Only options that differ from their defaults are named. If sources were read in different ways, each way has its own
    command.
    """
    ways = [list(some) for _, some in groupby(checkpoints, _way)]
    usual = _usual_signing(settings) | {"unit": _auto_unit(checkpoints)}
    signing = _flags(settings, usual, _flag_names(Signing.all_names()))
    kind = kind_of(address)
    if len(ways) > 1 and not kind.shared:
        kind = FileAddress  # the only one that several commands make there
    store, out = ["--store", _place(address, kind.name_in_results)], ["--out", _OUT]
    scanning = _scanning_flags(settings)
    if len(ways) == 1:
        named = store if kind.shared else []  # a file or a lake is in the new folder anyway
        steps = [["run", *_named(ways[0]), *signing, *scanning, *kind.made_with, *named, *out]]
    else:
        steps = [["index", *_named(way), *(signing if way is ways[0] else []), *store] for way in ways]
        steps.append(["scan", *scanning, *store, *out])
    return [_command(["esdedup", *words]) for words in [*steps, ["report", *store, *out]]]


def _place(address: str, name: str | None) -> str:
    """Return where the store is made: by its name in the new folder, or at its address (without user, password and
    query).
    """
    if name is not None:
        return f"{_OUT}/{name}"
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default of each setting, by its command-line name, for the matcher that `settings` name."""
    return _usual_signing(settings) | _usual_scanning(settings)


def _auto_unit(checkpoints: Sequence[SourceCheckpoint]) -> str | None:
    """Return the default unit of these sources; None if they have several."""
    units = set()
    for checkpoint in checkpoints:
        form = format_at(checkpoint.path, checkpoint.reading().get("format"))
        units.add(None if form is None else form.unit)
    return units.pop() if len(units) == 1 else None


def _usual_signing(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default settings of the unit that `settings` name."""
    return Signing.of(unit=settings["unit"]).described()


def state(checkpoint: SourceCheckpoint) -> str:
    """Return the state of a source when it was read: its size and time, or its description."""
    stated = checkpoint.fingerprint.partition(", read with ")[0]
    known = re.fullmatch(r"([0-9]+) bytes, changed at ([0-9]+)", stated)
    if known is None or len(known[2]) > 20:  # beyond the years of the calendar
        return stated
    moment = datetime.fromtimestamp(int(known[2]) // 10**9, UTC)
    return f"{int(known[1]):,} bytes, changed at {moment:%Y-%m-%dT%H:%M:%SZ}"


def _way(checkpoint: SourceCheckpoint) -> tuple[dict[str, Any], bool, str | None]:
    """Return what sources must have in common to be read by one command: all ids are qualified by file names, or all by
    one name, or they belong to one source.
    """
    if not checkpoint.qualified:
        return checkpoint.reading(), False, _argument(checkpoint)
    of_its_path = (
        PurePath(checkpoint.path).name.startswith(checkpoint.name) or checkpoint.name in PurePath(checkpoint.path).parts
    )
    return checkpoint.reading(), True, None if of_its_path else checkpoint.name


def _named(way: Sequence[SourceCheckpoint]) -> list[str]:
    """Return the sources of one command, and the flags for reading them."""
    paths = list(dict.fromkeys(_argument(checkpoint) for checkpoint in way))
    named = paths if len(paths) <= _NAMED else [*paths[:_NAMED], "…"]
    flags = _flags(_by_flag(way[0].reading()), _by_flag(Reading().flat()), _flag_names(Reading.all_names()))
    given = way[0].qualified and len({checkpoint.name for checkpoint in way}) == 1
    return [*named, *flags, *(["--source-name", way[0].name] if given else [])]


def _argument(checkpoint: SourceCheckpoint) -> str:
    """Return the path of a source, or of the folder of texts that it is named after."""
    path = PurePath(checkpoint.path)
    folders = (
        []
        if path.name.startswith(checkpoint.name)
        else [folder for folder in path.parents if folder.name == checkpoint.name]
    )
    return str(folders[0]) if folders else checkpoint.path


def _scanning_flags(settings: Mapping[str, Any]) -> list[str]:
    return _flags(settings, _usual_scanning(settings), _flag_names(Scanning.all_names() - {"keep"}))


def _usual_scanning(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a scan with the matcher that `settings` name, except for the name of the matcher."""
    chosen = settings.get(MATCHERS.option, MATCHERS.names[0])
    return {**Scanning.of(**{MATCHERS.option: chosen}).described(), MATCHERS.option: MATCHERS.names[0]}


def _flag_names(names: Iterable[str]) -> set[str]:
    return {name.replace("_", "-") for name in names}


def _by_flag(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in options.items()}


def _flags(settings: Mapping[str, Any], usual: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the settings with these names that differ from the defaults, as flags."""
    flags: list[str] = []
    for name, value in settings.items():
        if name not in names or value is None or value == usual.get(name):
            continue
        if value is True:
            flags.append(f"--{name}")
        elif value is False:
            flags.append(f"--{_OTHERWISE.get(name, f'no-{name}')}")
        elif name == "ignore":
            flags += ["--ignore", "IGNORED.txt"]
        else:
            flags += [f"--{name}", ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)]
    return flags


def _command(words: Sequence[str]) -> str:
    """Return a shell command in lines of limited length. An option and its value stay together."""
    lines = [""]
    for place, word in enumerate(words):
        quoted = word if word == "…" else shlex.quote(word)
        of_an_option = place > 0 and words[place - 1].startswith("--")
        if lines[-1] and not of_an_option and len(lines[-1]) + len(quoted) > _WIDTH:
            lines.append(" ")
        lines[-1] += f"{' ' if lines[-1] else ''}{quoted}"
    return " \\\n".join(lines)
