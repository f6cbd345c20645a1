"""Presets: options of published systems, and of kinds of data, by name."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from esdedup.errors import UsageError

log = logging.getLogger("esdedup")

_ONE_SOURCE = "one_source"


def preset_names() -> list[str]:
    """Return the names of the presets in the package."""
    folder = resources.files("esdedup") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def preset_text(name: str) -> str:
    """Return the TOML of a preset. Raises `UsageError` if there is none of this name."""
    entry = resources.files("esdedup") / "presets" / f"{name}.toml"
    if not (name in preset_names() and entry.is_file()):
        raise UsageError(f"preset {name}: allowed: {', '.join(preset_names())}")
    return entry.read_text("utf-8")


def options_in(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that TOML sets, and those that it sets otherwise for a single source. Raises `ValueError`."""
    named = {key.replace("-", "_"): value for key, value in tomllib.loads(text).items()}
    return named, {key.replace("-", "_"): value for key, value in (named.pop(_ONE_SOURCE, None) or {}).items()}


def with_preset(options: Mapping[str, Any], sources: int, names: frozenset[str] | None = None) -> dict[str, Any]:
    """Return options, with those of the preset that they name where they do not say otherwise; of these only `names`.

    Raises `UsageError` if there is no such preset.
    """
    given = {name: value for name, value in options.items() if name != "preset" and value is not None}
    if options.get("preset") is None:
        return given
    named, of_one = options_in(preset_text(str(options["preset"])))
    held = still_meant(without_alternatives(named, given), given)
    changed = {name: value for name, value in of_one.items() if held.get(name) and name not in given}
    if changed and sources == 1:
        held |= changed
        said = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        log.warning("preset %s, one source: %s", options["preset"], said)
    return {name: value for name, value in held.items() if names is None or name in names} | given


def with_preset_of_table(options: Mapping[str, Any], columns: Any, sources: int = 1) -> tuple[dict[str, Any], Any]:
    """Return the options of a table in memory as `with_preset`, and its columns: the given ones, or the preset's."""
    found = with_preset(options, sources)
    if options.get("text_column") is None:
        preset_columns = found.pop("text_column", None)
        columns = preset_columns if columns is None else columns
    return found, columns


def without_alternatives(held: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options held, except those that exclude the requested ones."""
    from esdedup.matching.signers.protocol import SIGNERS

    others: frozenset[str] = frozenset()
    for signer in SIGNERS:
        for group in signer.alternatives:
            if group & asked.keys():
                others = others.union(*(other for other in signer.alternatives if other != group))
    return {name: value for name, value in held.items() if name not in others}


def still_meant(from_files: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of files that still apply, given the typed ones."""
    if not from_files:
        return {}
    from esdedup.matching.protocol import MATCHERS
    from esdedup.matching.verify.protocol import VERIFIERS

    held = without_alternatives(from_files, typed)
    chosen = "exact" if typed.get("exact") else typed.get(MATCHERS.option)
    if chosen is not None:
        held.pop(MATCHERS.option, None)
        held = _without_others(held, MATCHERS, chosen)
        if held.get(VERIFIERS.option) not in (None, *MATCHERS[chosen].verifiers):
            del held[VERIFIERS.option]
    verifier = typed.get(VERIFIERS.option, held.get(VERIFIERS.option))
    if verifier is None and VERIFIERS.option in from_files:
        verifier = VERIFIERS.names[0]
    return held if verifier is None else _without_others(held, VERIFIERS, verifier)


def _without_others(held: Mapping[str, Any], registry: Any, chosen: str) -> dict[str, Any]:
    """Return the options held, except those that only other implementations have."""
    return {name: value for name, value in held.items() if chosen in (registry.owners(name) or [chosen])}
