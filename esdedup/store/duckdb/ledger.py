"""The ledger of a store in a file: key-value pairs in the table `about`, and the sources."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from esdedup.columns.database import Database
from esdedup.store.ledger import Ledger, SourceCheckpoint, checkpoint_of


class DamagedError(Exception):
    """The metadata of a store is not valid."""


class FileLedger(Ledger):
    """Values as JSON. In a read-only store they are read once."""

    def __init__(self, db: Database, *, read_only: bool = False) -> None:
        self._db = db
        self._known: dict[str, Any] | None = {} if read_only else None  # cached, because they cannot change

    def get(self, key: str) -> Any:
        if self._known is not None and key in self._known:
            return self._known[key]
        row = self._db.row("SELECT value FROM about WHERE key = ?", [key])
        try:
            value = json.loads(row[0]) if row else None
        except ValueError as error:
            raise DamagedError(f"the value of {key} is not valid JSON") from error
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
        return [
            checkpoint_of(json.loads(payload))
            for (payload,) in self._db.rows("SELECT told FROM sources ORDER BY number")
        ]

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
