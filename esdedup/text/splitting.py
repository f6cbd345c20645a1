"""How texts are split into units."""

from __future__ import annotations

from typing import NamedTuple

TEXT_SCHEME = 2
"""Version of everything that turns a source into units: cleaning and splitting. Increase it when any unit changes."""

SCRIPTS = ("spaced", "ideographs", "unspaced")
"""Groups of scripts; see `esdedup.text.scripts`."""


class Splitting(NamedTuple):
    """`unit` is `sentence`, `paragraph`, `line` or `record`; `lang` is the language of the texts."""

    unit: str
    lang: str

    @property
    def whole(self) -> bool:
        """Whether a document is one unit."""
        return self.unit == "record"
