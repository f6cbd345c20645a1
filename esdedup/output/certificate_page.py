"""The page of a certificate for people: what was removed, in one screen, and the worst removals to look at."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from esdedup.matching.verify.compare import diff_words
from esdedup.output.html import environment, style

_LONGEST = 1_500
"""Characters of a text that are shown."""
_WARNINGS = 8


def certificate_page(held: Mapping[str, Any], worst: Sequence[Mapping[str, Any]]) -> str:
    """Return the page. `worst` are removals: id, kept (its id), lost (number of sentences), text and kept_text."""
    look = Markup(style())
    values = {
        "held": held,
        "worst": [
            {**each, "runs": diff_words(each["kept_text"][:_LONGEST], each["text"][:_LONGEST])} for each in worst
        ],
        "style": look,
        "style_hash": base64.b64encode(hashlib.sha256(look.encode()).digest()).decode(),
        "warnings": held["warnings"][:_WARNINGS],
        "more_warnings": max(0, len(held["warnings"]) - _WARNINGS),
    }
    return environment().get_template("certificate.html").render(values)
