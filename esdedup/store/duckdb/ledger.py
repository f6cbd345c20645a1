"""The ledger of a store in a file: key-value pairs in the table `about`, and the sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from esdedup.errors import UsageError
from esdedup.matching.protocol import Scanning
from esdedup.store.ledger import Ledger, SourceCheckpoint, checkpoint_of

if TYPE_CHECKING:
    from esdedup.columns.database import Database

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
    "learned?": {
        "kinds": {...: str},
        "paired": {...: str},
        "threshold": float,
        "recall": float,
        "fields": [{"field": str, "kind": str, "levels": [str]}],
        "shares": [float],
        "levels": [[[float]]],
    },
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
    "states": [str],
    "scan": {"summary": _SUMMARY, "overtaken?": bool},
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


class DamagedError(Exception):
    """The metadata of a store is not valid."""


class FileLedger(Ledger):
    """Values as JSON. In a read-only store they are read once.

    Every value is checked, because anybody may have made the file. Raise `DamagedError` for one of another form.
    """

    def __init__(self, db: Database, *, read_only: bool = False) -> None:
        self._db = db
        self._known: dict[str, Any] | None = {} if read_only else None  # cached, because they cannot change

    def get(self, key: str) -> Any:
        if self._known is not None and key in self._known:
            return self._known[key]
        row = self._db.row("SELECT value FROM about WHERE key = ?", [key])
        value = _parsed(row[0], f"the value of {key}", VALUES.get(key, ANY)) if row else None
        if key == "scan" and value is not None:
            _check_scanning(value["summary"]["scanning"])
        if self._known is not None:
            self._known[key] = value
        return value

    def set(self, **values: Any) -> None:
        for key, value in values.items():
            if value is None:
                self._db.execute("DELETE FROM about WHERE key = ?", [key])
            else:
                self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [key, json.dumps(value)])

    def sources(self) -> list[SourceCheckpoint]:
        found = []
        for *columns, payload in self._db.rows(
            "SELECT number, name, qualified, history, told FROM sources ORDER BY number"
        ):
            saved = checkpoint_of(_parsed(payload, f"the progress of source {columns[0]}", CHECKPOINT))
            if columns != [saved.number, saved.name, saved.qualified, saved.history]:
                raise DamagedError(f"two statements about source {columns[0]} differ")
            found.append(saved)
        return found

    def save(self, checkpoint: SourceCheckpoint) -> None:
        """Save a checkpoint, replacing the previous one of its source."""
        payload = [
            checkpoint.number,
            checkpoint.name,
            checkpoint.qualified,
            checkpoint.history,
            json.dumps(asdict(checkpoint)),
        ]
        self._db.execute("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?)", payload)


def _parsed(payload: str | None, what: str, form: Form) -> Any:
    """Return a value from its JSON."""
    try:
        value = json.loads(payload or "")
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{what} is not valid JSON") from error
    if not fits(value, form):
        raise DamagedError(f"{what} has not the form that esdedup gives it")
    return value


def _check_scanning(saved: dict[str, Any]) -> None:
    try:
        Scanning.from_described({**saved, "jaccard": saved["jaccard"]})
    except (UsageError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError("the options of its last scan are not valid") from error
