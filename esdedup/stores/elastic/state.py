"""What a store says of itself: one document that is changed whole, and one for the progress of each part of a reading.

The first is compared before it is replaced, so that of two writers one notices.
"""

from __future__ import annotations

from typing import Any

from elasticsearch import ConflictError

from esdedup.errors import StoreLockedError
from esdedup.stores.elastic.connection import Connection

_STATE = "state"


class State:
    """Values by key in the index `index`."""

    def __init__(self, connection: Connection, index: str) -> None:
        self._connection = connection
        self._index = index
        self._version: tuple[int, int] | None = None
        self._values: dict[str, Any] = {}
        self.read()

    def read(self) -> None:
        """Read anew what the store says."""
        found = self._connection.ask("GET", f"/{self._index}/_doc/{_STATE}", missing=True)
        if found is not None:
            self._version = (found["_seq_no"], found["_primary_term"])
            self._values = found["_source"]["value"]

    def get(self, key: str) -> Any:
        """What is told of `key`; None without anything."""
        return self._values.get(key)

    def tell(self, **values: Any) -> None:
        """Say these values from now on; None forgets a key. `StoreLockedError` if another writer came between."""
        changed = {**self._values, **values}
        changed = {key: value for key, value in changed.items() if value is not None}
        parameters: dict[str, Any] = {"op_type": "create"}
        if self._version is not None:
            parameters = {"if_seq_no": self._version[0], "if_primary_term": self._version[1]}
        try:
            answer = self._connection.ask("PUT", f"/{self._index}/_doc/{_STATE}", {"value": changed}, **parameters)
        except ConflictError as error:
            self.read()
            if self._values != changed:  # else it was written, and only the answer was lost
                raise StoreLockedError(
                    f"{self._connection.address}: another command has just changed this store; run this one again "
                    "when that has ended"
                ) from error
            return
        self._version = (answer["_seq_no"], answer["_primary_term"])
        self._values = changed

    def piece(self, name: str) -> dict[str, Any] | None:
        """A document beside the state, as `put_piece` wrote it."""
        found = self._connection.ask("GET", f"/{self._index}/_doc/{name}", missing=True)
        return None if found is None else dict(found["_source"]["value"])

    def put_piece(self, name: str, value: dict[str, Any]) -> None:
        """Write a document beside the state."""
        self._connection.ask("PUT", f"/{self._index}/_doc/{name}", {"value": value})

    def drop_piece(self, name: str) -> None:
        """Delete a document beside the state."""
        self._connection.ask("DELETE", f"/{self._index}/_doc/{name}", missing=True)
