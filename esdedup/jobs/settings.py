"""All options of a call, sorted into their groups."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.engines import ENGINES, place_of
from esdedup.errors import SettingsError, UsageError
from esdedup.formats.reading_options import Reading
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import USUAL_UNIT, Signing, freeze
from esdedup.matching.units import UNITS
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import sort_out
from esdedup.resources import Resources, parse_memory
from esdedup.text.splitting import AUTO

if TYPE_CHECKING:
    from esdedup.formats.locations import Source

log = logging.getLogger("esdedup")


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
        for name in ("vectors", "templates", "labels", "review"):
            if isinstance(given.get(name), os.PathLike):
                given[name] = os.fspath(given[name])
        if "engine" in given:
            given["engine"] = place_of(given["engine"])
        if isinstance(given.get("memory"), str):
            given["memory"] = parse_memory(given["memory"])
        if isinstance(given.get("max_text"), str):
            given["max_text"] = parse_memory(given["max_text"], "max-text")
        frozen, free, reading, resources = sort_out(given, *cls.groups())
        checked = freeze(None, {USUAL_UNIT: "record", **frozen})  # of any length: the sources may choose another unit
        if checked.templates is not None:  # what is in the file now, whatever becomes of it while this runs
            frozen["templates"] = checked.templates
        checked_resources = Resources(**resources)
        within = Reading.of(**reading).within(checked_resources.memory)
        found = cls(frozen, free, Scanning.of(**free), within, checked_resources)
        verifier = found.scanning.verifier
        if "jaccard" in free and verifier.threshold != "jaccard":
            raise SettingsError(
                f"jaccard does not apply to verify {verifier.name}; the threshold is {verifier.threshold}"
            )
        ENGINES.check(found.resources.engine)
        matcher = found.scanning.matcher
        if not (matcher.runs_anywhere or ENGINES[found.resources.engine].is_local):
            raise SettingsError(
                f"candidates {matcher.name} needs the local engine; now engine is {found.resources.engine}"
            )
        return found

    def say_reads_here(self, verb: str) -> None:
        """Warn that an engine elsewhere was chosen for a verb that always reads on this machine."""
        if not ENGINES[self.resources.engine].is_local:
            log.warning("esdedup %s reads on this machine; --engine %s is not used", verb, self.resources.engine)

    def for_sources(self, sources: Sequence[Source], *, rewritten: bool = False) -> Settings:
        """Return these settings with the default unit for sources. With `rewritten`, duplicates are to be removed from
        them.

        Raise `SettingsError` if several units are the default.
        """
        if self.frozen.get("unit", AUTO) != AUTO:
            return self
        formats = [source.format for source in sources]
        units = {(rewritten and form.rewritten_unit) or form.unit: form for form in formats}
        if len(units) > 1:
            what = " and ".join(f"{form.name} as {unit}s" for unit, form in units.items())
            raise SettingsError(f"the sources would be compared as different units: {what}; choose one with --unit")
        return replace(self, frozen={**self.frozen, USUAL_UNIT: next(iter(units), None)})

    def scanning_of(self, unit: str) -> Scanning:
        """Return the settings of a scan of these units: without a requested threshold, with theirs."""
        return self.scanning if "jaccard" in self.free else replace(self.scanning, jaccard=UNITS[unit].jaccard)

    @staticmethod
    def groups() -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
        """Return the names of all options, by group: of signing, scanning, reading and resources."""
        return Signing.all_names(), Scanning.all_names(), Reading.all_names(), Resources.names()


def settings_of(options: dict[str, Any], *, parts: bool = False) -> Settings:
    """Return the options of a verb. `ignore` is a file of texts and cluster ids. `parts` allows a part."""
    ignore = options.pop("ignore", None)
    if ignore is not None:
        from esdedup.jobs.ignoring import ignored_texts

        ignore = ignored_texts(Path(ignore))
    settings = Settings.of(**options, ignore=ignore)
    settings.scanning.matcher.check_files()  # report errors in these files before reading any source
    if settings.reading.part is not None and not parts:
        raise UsageError("part applies to esdedup index only; when all parts are complete, run esdedup scan")
    return settings


def stars_around_what_is_kept(settings: Settings) -> Settings:
    """Return the settings of a deduplication: what is dropped was compared with what is kept.

    Settings that verify nothing are replaced by exact comparison, at the threshold of the matcher if it has one; a
    warning says so. Raise `UsageError` if another linkage is requested.
    """
    asked = settings.scanning
    if "linkage" in settings.free and asked.linkage.chains:
        raise UsageError(
            f"linkage is {asked.linkage.name}; dedupe needs star, so that what it drops was compared with what it keeps"
        )
    changed: dict[str, Any] = {}
    if not asked.verifier.compares:
        own = None if "jaccard" in settings.free else asked.matcher.threshold()
        changed = {VERIFIERS.option: VERIFIERS.names[0], **({} if own is None else {"jaccard": own})}
        log.warning(
            "verify %s compares nothing, and dedupe drops only what was compared: --verify %s%s",
            asked.verifier.name, VERIFIERS.names[0], "" if own is None else f" --jaccard {own:g}",
        )  # fmt: skip
    scanning = asked.replaced({**changed, "linkage": "star"})
    return replace(settings, scanning=scanning, free={**settings.free, **changed})
