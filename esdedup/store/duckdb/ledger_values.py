"""The forms of the values in a ledger. A store may come from anybody, so what it says of itself is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ANY = object
NATURAL = "a number from 0 on"
_MOST = 2**63

Form = Any
"""A type; `NATURAL`; a tuple of alternatives; a list of one form, for a list of any length; or a dict of forms by key.

The key `...` stands for any other key, and a key that ends with `?` may be missing.
"""

_READING = {"sources": [NATURAL], "first": NATURAL}
_COUNTS = {...: NATURAL}
_SUMMARY = {
    "scanning": {...: ANY},
    "counts": {...: (NATURAL, None)},
    "hot_tokens?": NATURAL,
    "passed_over?": _COUNTS,
    "vectors_state?": (int, None),
    "apart?": (str, None),
    ...: ANY,
}

VALUES: dict[str, Form] = {
    "schema": NATURAL,
    "hash-scheme": NATURAL,
    "signing": {...: ANY},
    "tables": [str],
    "job": str,
    "started": _READING,
    "read": _READING,
    "running": {"verb": str, "names": [str]},
    "state": str,
    "scan": {"summary": _SUMMARY, "overtaken?": bool},
    "postings": NATURAL,
}
"""The form of each value, by its key."""

CHECKPOINT: Form = {
    "name": str,
    "path": str,
    "fingerprint": str,
    "qualified": bool,
    "history": bool,
    "number": NATURAL,
    "documents": NATURAL,
    "finished": bool,
    "skips": {"counts": _COUNTS, "places": {...: [str]}},
    "wiki?": str,
    "folder?": str,
    "records?": int,
    "content?": str,
}
"""The form of a source."""


def fits(value: Any, form: Form) -> bool:
    """Whether a value of JSON has a form."""
    if isinstance(form, tuple):
        return any(fits(value, each) for each in form)
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(each, form[0]) for each in value)
    if isinstance(form, Mapping):
        return isinstance(value, dict) and _fits_keys(value, form)
    if form is NATURAL:
        return type(value) is int and 0 <= value < _MOST
    if form is None:
        return value is None
    return form is ANY or type(value) is form


def _fits_keys(value: dict[str, Any], form: Mapping[Any, Form]) -> bool:
    named = {str(key).removesuffix("?"): each for key, each in form.items() if key is not ...}
    needed = {key for key in form if key is not ... and not key.endswith("?")}
    other = form.get(..., False)
    return needed <= value.keys() and all(
        fits(each, named[key]) if key in named else other is not False and fits(each, other)
        for key, each in value.items()
    )
