"""How texts are split into units."""

from __future__ import annotations

from typing import NamedTuple

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
