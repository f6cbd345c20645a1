"""How texts are split into units."""

from __future__ import annotations

from typing import NamedTuple

TEXT_SCHEME = 3
"""Version of everything that turns a source into units: cleaning and splitting. Increase it when any unit changes."""

AUTO = "auto"
"""Instead of a unit or a language: that of each source or text."""

DEFAULT = "en"
"""Language of texts of which nothing is known."""

CODE = r"[a-z]{2,3}([-_][A-Za-z0-9]+)*"
"""Pattern of a language code."""

SCRIPTS = ("spaced", "ideographs", "unspaced")
"""Groups of scripts; see `esdedup.text.scripts`."""


class Splitting(NamedTuple):
    """`unit` is `sentence`, `paragraph`, `line` or `record`; `lang` is the language of the texts, or `auto`.

    With `auto`, `expected` is what the source says about its language, and `by` tells it: see
    `esdedup.text.language.detect`.
    """

    unit: str
    lang: str
    expected: str = ""
    by: str = ""

    @property
    def whole(self) -> bool:
        """Whether a document is one unit."""
        return self.unit == "record"
