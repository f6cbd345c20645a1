"""How sources are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from esdedup.errors import SettingsError, UsageError
from esdedup.options import Options, option, shown_value

FORMATS = ("wikipedia", "tsv", "csv", "jsonl", "parquet", "text", "lines")
REVISIONS = ("latest", "all")
WIKITEXT_PATHS = ("fast", "reference")

_PARTS = "allowed: I/N with I from 1 to N, and N up to 1024"


def _column(help: str) -> Any:
    wanted = "allowed: a name, a dotted path or a number from 1"
    return option(None, help, unit="COLUMN", pattern=r"(?s:.+)", wanted=wanted)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--namespaces {text}: allowed: numbers separated by commas, as in 0,14") from None


@dataclass(frozen=True)
class Reading(Options):
    """How sources are read. None means: by the source's name, or what is usual for the format.

    Columns are names, dotted paths (JSON) or numbers from 1; `id_column` may be `line`, and `text_column` several,
    separated by commas, of a table in lines.
    """

    format: str | None = option(None, "Format of the sources.", choices=FORMATS, usual="by their names")
    separator: str | None = option(
        None, "Column separator.", unit="CHAR", pattern=r"[^\r\n\"]",
        wanted="allowed: one character, no quote or line end", usual="tab in TSV, comma in CSV",
    )  # fmt: skip
    header: bool | None = option(None, "Whether the first line names the columns.", usual="in CSV")
    id_column: str | None = _column("Column of ids: a name, dotted path or number from 1; or line, for line numbers.")
    title_column: str | None = _column("Column of titles.")
    text_column: str | None = _column("Column of texts; several of a TSV or CSV separated by commas.")
    contributors: bool = option(True, "Keep who wrote what.")
    namespaces: tuple[int, ...] = option(
        (0,), "Namespaces of a wiki to read.", unit="N,N…", wanted="allowed: integers, as in (0, 14)", parse=_numbers,
        usual="0",
    )  # fmt: skip
    revisions: str = option(
        "latest", "Revisions of a page to read. With all, each sentence is kept once a page, with its first and last "
        "revision.", choices=REVISIONS,
    )  # fmt: skip
    wikitext: str = option("fast", "How wiki markup is removed.", choices=WIKITEXT_PATHS)
    source_name: str | None = option(
        None, "Name of the source; document ids become NAME/ID.", unit="NAME", pattern=r"[^/\s]+",
        wanted="allowed: no slash, no white space",
    )  # fmt: skip
    limit: int | None = option(None, "Read only the first N documents of each source.", unit="N", low=0, high=2**62)
    part: str | None = option(
        None, "Load one of N parts, each on its own machine: by page id, or line, modulo N.", unit="I/N",
        pattern=r"[0-9]{1,4}/[0-9]{1,4}", wanted=_PARTS,
    )  # fmt: skip

    def check_together(self) -> None:
        """The number of a part is one of the parts."""
        Part.parse(self.part)


class Part(NamedTuple):
    """One of several machines that load one corpus together: number (from 1) of so many."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str | None) -> Part:
        """Read `I/N`, or None for the only one; `SettingsError` for anything else."""
        if text is None:
            return cls(1, 1)
        match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 1024:
            raise SettingsError(f"part is {shown_value(text)}; {_PARTS}")
        return cls(int(match[1]), int(match[2]))
