"""The page of a certificate for people: what was removed, in one screen, and the worst removals to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esdedup.matching.verify.compare import diff_words
from esdedup.output.html import page

_LONGEST = 1_500
"""Characters of a text that are shown."""
_WARNINGS = 8


def certificate_page(held: Mapping[str, Any], worst: Sequence[Mapping[str, Any]]) -> str:
    """Return the page. `worst` are removals: id, kept (its id), lost (number of sentences), text and kept_text."""
    values = {
        "held": held,
        "worst": [
            {**each, "runs": diff_words(each["kept_text"][:_LONGEST], each["text"][:_LONGEST])} for each in worst
        ],
        "warnings": held["warnings"][:_WARNINGS],
        "more_warnings": max(0, len(held["warnings"]) - _WARNINGS),
    }
    return page("certificate.html", values)
