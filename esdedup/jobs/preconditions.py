"""What verbs check before they begin, what they say if it is not so, and the rules of `dedupe`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from esdedup.analysis.names import KINDS
from esdedup.errors import StoreError, UsageError
from esdedup.keeping.protocol import NONE, Policies, split_policies, split_rules
from esdedup.output.choices import TABLE_FORMATS
from esdedup.store.registry import kind_of

if TYPE_CHECKING:
    from esdedup.keeping.merge_rules import Rules
    from esdedup.store.ledger import ReadingCheckpoint
    from esdedup.store.store import Store

Address = str | Path

_NAMED = 5
"""The number of missing parts that a message lists."""


def check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    """Raise `UsageError` for a value that is not one of the allowed ones."""
    if value not in allowed:
        raise UsageError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")


def check_table(table: str) -> None:
    """Raise `UsageError` for an unknown table format."""
    check_choice("table", table, TABLE_FORMATS)


def check_count(name: str, count: int | None) -> None:
    """Raise `UsageError` for a negative number of rows."""
    if count is not None and (not isinstance(count, int) or count < 0):
        raise UsageError(f"{name} is {count!r}; allowed: 0 or more")


def check_generations(keep: int, store: Address) -> None:
    """Raise `UsageError` if this number of older generations cannot be kept."""
    check_count("keep-generations", keep)
    if keep and not kind_of(store).shared:
        raise UsageError("keep-generations applies to stores on a server; a file has only one generation")


def still_to_come(reading: ReadingCheckpoint) -> str:
    """Return the parts that are not complete, in the form of command options."""
    rest = len(reading.missing) - _NAMED
    return " ".join(f"--part {part}" for part in reading.missing[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def require_committed(store: Store) -> None:
    """Raise `StoreError` if a run is not finished."""
    begun = store.ledger.unfinished_reading()
    if begun is not None and begun.missing:
        raise StoreError(
            f"{store.address}: a run in parts is not finished; still to come: esdedup index {still_to_come(begun)}"
        )
    if begun is not None:
        raise StoreError(
            f"{store.address}: a run is not finished; run the same command again first, with --keep-going "
            "if a source is damaged"
        )


def moment(name: str, text: str | None) -> str | None:
    """Return a date or time as in a dump, in UTC. Raise `UsageError` if it is not one."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is None else found.astimezone(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} is {text!r}; use the form 2024-05-31") from error


class DropRules(NamedTuple):
    """What `dedupe` drops, and what it compares with; see `esdedup.dedupe`."""

    keep: str | Sequence[str] = "first"
    kinds: Sequence[str] | None = None
    annotate: bool = False
    against: Sequence[Address] = ()
    against_only: bool = False
    against_text_column: str | None = None
    contained: float | None = None
    containing: float | None = None
    certificate: Path | None = None
    merge: str | Mapping[str, str] | None = None
    keep_contradictions: bool = False
    report: bool = False

    @property
    def policies(self) -> Policies:
        """Which copy stays. Raises `UsageError` for what is no policy."""
        return Policies.parse(self.keep)

    @property
    def merging(self) -> Rules | None:
        """What becomes of the columns of what stays. Raises `UsageError` for what is no rule."""
        from esdedup.keeping.merge_rules import Rules

        return None if self.merge is None else Rules.parse(self.merge)

    def described(self) -> dict[str, Any]:
        """Return the rules as JSON."""
        held = self._asdict() | {
            "keep": self.policies.words,
            "merge": None if (merging := self.merging) is None else merging.words,
            "against": list(map(str, self.against)),
        }
        told = held.keys() - {"certificate", "report"}
        return {name: value for name, value in held.items() if name in told and value not in (None, (), [], False)}

    def check(self, *, references: bool) -> None:
        """Raise `UsageError` for a value that is not allowed, or that needs references."""
        split_policies(self.keep)
        if self.report and self.certificate is None:
            raise UsageError("report is the page of a certificate: add certificate")
        if self.keep_contradictions and self.keep == NONE:
            raise UsageError("keep_contradictions and keep none exclude each other; omit one")
        if self.merge is not None:
            split_rules(self.merge)
            unfit = {"annotate": self.annotate, "against_only": self.against_only, "keep none": self.keep == NONE}
            if name := next((name for name, given in unfit.items() if given), None):
                raise UsageError(f"merge and {name} exclude each other; omit one")
        for kind in self.kinds or ():
            check_choice("kinds", kind, KINDS)
        for name, share in (("contained", self.contained), ("containing", self.containing)):
            if share is not None and not (isinstance(share, int | float) and 0 < share <= 1):
                raise UsageError(f"{name} is {share!r}; allowed: greater than 0, up to 1")
        if references:
            if self.against_only and self.contained is not None:
                raise UsageError("against_only and contained exclude each other; omit one")
        elif self.containing is not None:
            raise UsageError("containing needs a reference collection: add against")
        elif self.against_only or self.against_text_column is not None:
            raise UsageError("against_only and against_text_column need a reference collection: add against")
