"""All options of a call, sorted into their groups."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from esdedup.engines import ENGINES
from esdedup.errors import SettingsError
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing, freeze
from esdedup.options import sort_out
from esdedup.resources import Resources, parse_memory


@dataclass(frozen=True)
class Settings:
    """All options of a call. `frozen` and `free` (of scanning) contain only what was requested: a store knows its own
    other settings.
    """

    frozen: dict[str, Any] = field(default_factory=dict)
    free: dict[str, Any] = field(default_factory=dict)
    scanning: Scanning = field(default_factory=Scanning)
    reading: Reading = field(default_factory=Reading)
    resources: Resources = field(default_factory=Resources)

    @classmethod
    def of(cls, **options: Any) -> Settings:
        """Sort options by name into their groups. Options that are None get their defaults.

        Raise `UsageError` for an unknown name, `SettingsError` for a value out of range or an option that does not
        apply to what is chosen.
        """
        given = {name: value for name, value in options.items() if value is not None}
        if given.pop("exact", False) and given.setdefault("candidates", "exact") != "exact":  # the short form
            raise SettingsError(f"exact and candidates {given['candidates']} exclude each other; omit one")
        if isinstance(given.get("vectors"), os.PathLike):
            given["vectors"] = os.fspath(given["vectors"])
        if isinstance(given.get("memory"), str):
            given["memory"] = parse_memory(given["memory"])
        frozen, free, reading, resources = sort_out(given, *cls.groups())
        freeze(None, frozen)
        found = cls(frozen, free, Scanning.of(**free), Reading.of(**reading), Resources(**resources))
        ENGINES.check(found.resources.engine)
        return found

    @staticmethod
    def groups() -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
        """Return the names of all options, by group: of signing, scanning, reading and resources."""
        return Signing.all_names(), Scanning.all_names(), Reading.all_names(), Resources.names()
