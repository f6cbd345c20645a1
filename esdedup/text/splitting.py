"""How texts are split into units."""

from __future__ import annotations

from typing import NamedTuple


class Splitting(NamedTuple):
    """`unit` is `sentence` or `record`; `lang` is the language of the texts."""

    unit: str
    lang: str
