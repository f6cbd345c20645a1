"""The options of `esdedup.matching.records.matcher`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from esdedup.errors import SettingsError
from esdedup.options import Options, option

PAIRED, KIND = "=", ":"
"""In `fields`: between two columns that mean the same, and between a column and its kind."""
IGNORED = "ignore"
"""The kind of a column that is not compared."""
KIND_NAMES = ("name", "date", "number", "code", "phone", "email", "address", "text", "category", IGNORED)


@dataclass(frozen=True)
class RecordOptions(Options):
    """What is guessed, and what a person says, of records."""

    unsaved: ClassVar[frozenset[str]] = frozenset({"labels", "review"})

    min_probability: float | None = option(
        None, "Least probability of a pair.", unit="S", low=0, high=1, above=True,
        usual="that of the highest expected F1",
    )  # fmt: skip
    fields: str | None = option(
        None, "What is guessed wrong: COLUMN:KIND is the kind of a column, ONE=TWO are columns of two tables that mean "
        "the same, and FIRST+LAST=NAME if two are one there.", unit="LIST",
        pattern=r"[^=:,]+[=:][^=:,]+(,[^=:,]+[=:][^=:,]+)*",
        expected="allowed: parts such as born:date or title=name, parted by commas",
    )  # fmt: skip
    labels: str | None = option(None, "CSV of pairs that are known, as `review` writes it.", unit="FILE.csv")
    review: str | None = option(
        None, "Write the least certain pairs to a CSV, to say which are the same.", unit="FILE.csv"
    )

    def check_together(self) -> None:
        """Check the kinds of `fields`, without loading what compares them."""
        for name, kind in self.kinds.items():
            if kind not in KIND_NAMES:
                raise SettingsError(f"fields: {name} is {kind!r}; allowed: {', '.join(KIND_NAMES)}")

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of columns that are not guessed."""
        return dict(self._parts(KIND))

    @property
    def paired(self) -> dict[str, str]:
        """Columns of the second table by those of the first one that mean the same."""
        sides = [(one.removeprefix("left."), two.removeprefix("right.")) for one, two in self._parts(PAIRED)]
        return dict(sides)

    def _parts(self, sign: str) -> list[tuple[str, str]]:
        parts = [part.partition(sign) for part in (self.fields or "").split(",") if sign in part]
        return [(one.strip(), two.strip()) for one, _, two in parts]
