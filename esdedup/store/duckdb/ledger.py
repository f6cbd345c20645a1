"""The ledger of a store in a file: key-value pairs in the table `about`, and the sources."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from esdedup.errors import UsageError
from esdedup.matching.protocol import Scanning
from esdedup.store.duckdb.ledger_values import ANY, CHECKPOINT, VALUES, Form, fits
from esdedup.store.ledger import Ledger, SourceCheckpoint, checkpoint_of

if TYPE_CHECKING:
    from esdedup.columns.database import Database


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
