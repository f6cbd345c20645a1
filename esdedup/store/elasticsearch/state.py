"""The state of a store: one document that is replaced as a whole, and others beside it."""

from __future__ import annotations

import uuid
from threading import Event
from typing import Any

import orjson
from elasticsearch import ConflictError

from esdedup.errors import StoreLockedError
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import own_name

_STATE = "state"


class Guarded:
    """A document that is compared before it is replaced. If two writers compete, one gets an error."""

    def __init__(self, connection: Connection, index: str, name: str, ended: Event | None = None) -> None:
        self._connection = connection
        self._ended = ended  # once it is set, a request is tried once
        self._index = index
        self._name = name
        self._writer = uuid.uuid4().hex  # tells our document from an identical one of another writer
        self._version: tuple[int, int] | None = None
        self.value: dict[str, Any] = {}
        self.read()

    def read(self) -> None:
        """Read the document as it is now."""
        found = self._found()
        self._version = None if found is None else (found["_seq_no"], found["_primary_term"])
        self.value = {} if found is None else found["_source"]["value"]

    def _found(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._connection.ask(
            "GET", f"/{self._index}/_doc/{self._name}", missing=True, ended=self._ended
        )
        return found

    def replace(self, value: dict[str, Any]) -> None:
        """Replace the document. Raise `StoreLockedError` if another writer interfered."""
        payload = orjson.loads(orjson.dumps({**value, "writer": self._writer}))
        parameters: dict[str, Any] = {"op_type": "create"}
        if self._version is not None:
            parameters = {"if_seq_no": self._version[0], "if_primary_term": self._version[1]}
        path = f"/{own_name(self._index)}/_doc/{self._name}"
        try:
            answer = self._connection.ask(
                "PUT", path, {"value": payload}, raising=(409,), ended=self._ended, require_alias="true", **parameters
            )
        except ConflictError as error:
            self.read()
            if self.value == payload:  # it was written, only the answer was lost
                return
            raise self._locked() from error
        self._version = (answer["_seq_no"], answer["_primary_term"])
        self.value = payload

    def check(self) -> None:
        """Raise `StoreLockedError` if another writer interfered."""
        found = self._found()
        if found is None or (found["_seq_no"], found["_primary_term"]) != self._version:
            raise self._locked()

    def _locked(self) -> StoreLockedError:
        return StoreLockedError(
            f"{self._connection.address}: another command has just changed this store; run this command again "
            "after it ends"
        )


class State:
    """Values by key in the index `index`."""

    def __init__(self, connection: Connection, index: str) -> None:
        self._connection = connection
        self._index = index
        self._values = self.guarded(_STATE)

    def get(self, key: str) -> Any:
        """Return the value of `key`; None if it is not set."""
        return self._values.value.get(key)

    def set(self, **values: Any) -> None:
        """Set these values. None deletes a key. Raise `StoreLockedError` if another writer interfered."""
        changed = {**self._values.value, **values}
        self._values.replace({key: value for key, value in changed.items() if value is not None})

    def pretend(self, **values: Any) -> None:
        """Act as if these values were set."""
        self._values.value.update(values)

    def reload(self) -> None:
        """Read the values again, which another process may have changed."""
        self._values.read()

    def check(self) -> None:
        """Raise `StoreLockedError` if another writer interfered."""
        self._values.check()

    def guarded(self, name: str, ended: Event | None = None) -> Guarded:
        """Return a document beside the state that only one writer may change. After `ended` is set, do not retry."""
        return Guarded(self._connection, self._index, name, ended)

    def piece(self, name: str) -> dict[str, Any] | None:
        """Return a document beside the state, as stored now."""
        found = self._connection.ask("GET", f"/{self._index}/_doc/{name}", missing=True)
        return None if found is None else dict(found["_source"]["value"])

    def put_piece(self, name: str, value: dict[str, Any]) -> None:
        """Write a document beside the state."""
        self._connection.ask("PUT", f"/{own_name(self._index)}/_doc/{name}", {"value": value}, require_alias="true")

    def drop_piece(self, name: str) -> bool:
        """Delete a document beside the state. Return whether it existed."""
        return self._connection.ask("DELETE", f"/{own_name(self._index)}/_doc/{name}", missing=True) is not None
