"""Names in wikis are compared folded: case, underscores and runs of spaces make no difference."""

from __future__ import annotations

LAST_FOLDED = 0x2000
"""Letters from here on have no case, or none that matters in a name. They are not folded."""

# Marks of writing direction that editors paste into names without noticing them.
DIRECTION_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e"


def _fold_letter(code: int) -> int:
    lower = chr(code).lower()
    return ord(lower) if len(lower) == 1 and ord(lower) < LAST_FOLDED else code


FOLDED: tuple[int, ...] = tuple(_fold_letter(code) for code in range(LAST_FOLDED))
"""The lower-case letter of every code point below `LAST_FOLDED`. One letter always stays one letter."""


def fold(name: str) -> str:
    """Fold `name` for comparison: lower case, underscores and runs of spaces as one space, trimmed."""
    kept = "".join(
        chr(FOLDED[ord(char)]) if ord(char) < LAST_FOLDED else char for char in name if char not in DIRECTION_MARKS
    )
    for space in "_\t\r\n\xa0":
        kept = kept.replace(space, " ")
    return " ".join(part for part in kept.split(" ") if part)
