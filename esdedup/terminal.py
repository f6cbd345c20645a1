"""Text from sources and stores that a terminal shows and cannot be controlled by."""

from __future__ import annotations

import json
from typing import Any
from unicodedata import category

from esdedup.files import compact_json

_KEPT = "\n\t"
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})


def printable(text: str, kept: str = "") -> str:
    """Replace every character that is not shown, such as ESC, BEL and marks that reverse the direction of writing, by
    a space. Those in `kept` stay.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character in kept else " " for character in text)


def printable_lines(text: str) -> str:
    """Do the same for text of several lines."""
    return printable(text, _KEPT)


def json_line(value: Any) -> str:
    """Return JSON in one line, in which control characters and marks of direction are escaped, so nothing is lost.

    Raise `EsdedupError` for a number that JSON does not have.
    """
    line = compact_json(value)
    if line.isprintable():
        return line
    return "".join(json.dumps(one)[1:-1] if category(one) in _UNSEEN else one for one in line)
