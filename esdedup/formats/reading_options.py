"""Options for reading sources: those of all formats, and those of each format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from esdedup.errors import SettingsError
from esdedup.formats.protocol import FORMATS, Format
from esdedup.formats.text_limit import SHARE, USUAL
from esdedup.options import Options, option, shown_value, sort_out
from esdedup.resources import memory_in_words, parse_memory

_PARTS = "allowed: I/N with I from 1 to N, and N up to 1024"

_REMEMBERED = (
    "format", "separator", "header", "id_column", "title_column", "text_column", "contributors", "namespaces",
    "revisions", "wikitext", "limit",
)  # fmt: skip
"""The options that a store saves for every source, in this order. Other options are saved only if they differ from
their default. So a new option does not make every source look as if it was read differently.
"""


@dataclass(frozen=True)
class Reading(Options):
    """How sources are read. `Reading.of` makes it from flat options."""

    format: str | None = option(
        None, "Format of the sources.", unit="FORMAT", choices=FORMATS.names, usual="by their names"
    )
    source_name: str | None = option(
        None, "Name of the source; document ids become NAME/ID.", unit="NAME", pattern=r"[^/\s]+",
        expected="allowed: no slash, no white space",
    )  # fmt: skip
    limit: int | None = option(None, "Read only the first N documents of each source.", unit="N", low=0, high=2**62)
    part: str | None = option(
        None, "Load one of N parts, each on its own machine: by page id, or line, modulo N.", unit="I/N",
        pattern=r"[0-9]{1,4}/[0-9]{1,4}", expected=_PARTS,
    )  # fmt: skip
    max_text: int | None = option(
        None, "Skip texts larger than SIZE, and lines or cells that hold them (they are not compared).",
        unit="SIZE", low=2**10, high=2**40, expected="allowed: 1KiB to 1TiB, as 64MiB",
        parse=partial(parse_memory, name="max-text"), usual="64MiB, at most 1/16 of the memory",
    )  # fmt: skip
    most_text: int = USUAL  # bytes: `max_text`, or the default within the memory of the job
    given: Mapping[str, Any] = field(default_factory=dict)  # options of formats; each format takes its own

    def check_together(self) -> None:
        """Check that the number of a part is one of the parts."""
        Part.parse(self.part)
        if self.max_text is not None:
            object.__setattr__(self, "most_text", self.max_text)

    def within(self, memory: int) -> Reading:
        """Return these options for a job that may use so much memory.

        Raises `SettingsError` if the requested largest text needs more.
        """
        if self.max_text is None:
            return replace(self, most_text=min(USUAL, memory // SHARE))
        if self.max_text * SHARE > memory:
            raise SettingsError(
                f"max-text {memory_in_words(self.max_text)} needs memory of {memory_in_words(self.max_text * SHARE)} "
                f"or more; now memory is {memory_in_words(memory)}"
            )
        return self

    @classmethod
    def all_names(cls) -> frozenset[str]:
        """Return the names of all options, including those of every format."""
        return cls.names() | FORMATS.option_names()

    @classmethod
    def of(cls, **given: Any) -> Reading:
        """Make a `Reading` from flat options. None means the default.

        Without a `format`, one run may read several formats: an option that does not apply to a source has no effect
        on it. Raises `SettingsError` for a value outside its range, or an option that the given format does not have.
        """
        given = {name: value for name, value in given.items() if value is not None}
        own, of_formats = sort_out(given, cls.names(), FORMATS.option_names())
        declared = FORMATS.declared()
        for name, value in of_formats.items():
            declared[name][0][1].check(value)
        reading = cls(**own, given=of_formats)
        if reading.format is not None:
            FORMATS.refuse_others(reading.format, of_formats)
        return reading

    def format_named(self, name: str) -> Format:
        """Return a format with its options."""
        return FORMATS.make(name, self.given)

    def flat(self) -> dict[str, Any]:
        """Return the values of all options."""
        usual = {name: owners[0][1].default for name, owners in FORMATS.declared().items()}
        return {option.name: getattr(self, option.name) for option in self.declared()} | usual | dict(self.given)

    def remembered(self) -> dict[str, Any]:
        """Return what a store saves about how a source was read, to detect whether it was read in the same way."""
        values, usual = self.flat(), Reading().flat()
        others = sorted(FORMATS.option_names() - set(_REMEMBERED))
        known = {name: values[name] for name in _REMEMBERED}
        others += ["max_text"] * (self.max_text is not None)
        return known | {name: values[name] for name in others if values[name] != usual[name]}


class Part(NamedTuple):
    """One of several machines that load one corpus together: its number (from 1), and the number of parts."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str | None) -> Part:
        """Parse `I/N`; None means the only part. Raises `SettingsError` for anything else."""
        if text is None:
            return cls(1, 1)
        match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 1024:
            raise SettingsError(f"part is {shown_value(text)}; {_PARTS}")
        return cls(int(match[1]), int(match[2]))
