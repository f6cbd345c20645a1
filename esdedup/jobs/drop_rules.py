"""What is dropped, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esdedup.analysis.kind_names import KINDS
from esdedup.errors import UsageError
from esdedup.jobs.preconditions import Address, check_choice
from esdedup.matching.protocol import KEEPS, Keep


class DropRules(NamedTuple):
    """What `dedupe` drops, and what it compares with; see `esdedup.dedupe`."""

    keep: Keep = "first"
    kinds: Sequence[str] | None = None
    annotate: bool = False
    against: Sequence[Address] = ()
    against_only: bool = False
    against_text_column: str | None = None
    contained: float | None = None
    containing: float | None = None

    def check(self, *, references: bool) -> None:
        """Raise `UsageError` for a value that is not allowed, or that needs references."""
        check_choice("keep", self.keep, KEEPS)
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
