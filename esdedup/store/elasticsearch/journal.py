"""Changes to many documents, all or nothing: they are first written to a journal, then applied, and applied again after
an interruption.

A server has no transactions. The changes are stored beside the state in pieces. Once the state says that the journal is
complete, every process that opens the store for writing applies it, as often as necessary.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from threading import Event
from typing import Any

import orjson
from elasticsearch import ConflictError

from esdedup.errors import StoreError, StoreLockedError
from esdedup.store.elasticsearch.bulk import Bulk, delete, put
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.indices import RESULTS, own_name
from esdedup.store.elasticsearch.reading import Fields, Reader

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

    def move(self, index: str) -> None:
        """Go on with the values in another index."""
        self._index = index
        self._values = self.guarded(_STATE)

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


_PIECE_BYTES = 4 * 2**20


class Journal:
    """Writes changes to a journal and applies them to the indices `names`, by kind."""

    def __init__(self, connection: Connection, state: State, names: dict[str, str]) -> None:
        self._connection = connection
        self._state = state
        self._names = names
        self._steps: list[dict[str, Any]] = []
        self._bytes = 0
        self._name = uuid.uuid4().hex  # two writers must not mix their journals
        self._pieces = 0

    def put(self, kind: str, documents: Iterable[tuple[str, dict[str, Any] | str]]) -> None:
        """Add documents to write, each with its id. They may be JSON already."""
        for identity, document in documents:
            encoded = document if isinstance(document, str) else orjson.dumps(document).decode()
            self._note({"put": kind, "id": identity, "document": encoded})

    def delete(self, kind: str, identities: Iterable[str]) -> None:
        """Add documents to delete."""
        for identity in identities:
            self._note({"delete": kind, "id": identity})

    def forget(self, numbers: Iterable[int]) -> None:
        """Add documents of the corpus to delete with all their sentences."""
        for number in numbers:
            self._note({"forget": number})

    def commit(self, **state: Any) -> None:
        """Complete the journal, apply it, and set these values of the state with it."""
        self._keep()
        if self._pieces:
            draft = {"name": self._name, "pieces": self._pieces}
            self._state.set(journal={**draft, "then": state}, drafts=[draft])
            self._carry_out(self._state.get("journal"))
        else:
            self._state.set(**state)

    def carry_out(self) -> None:
        """Apply the journal that an interrupted command has left, if there is one."""
        written = self._state.get("journal")
        if written is not None:
            self._state.set(journal=written)  # another writer that is applying it must stop
            self._carry_out(written)

    def _carry_out(self, written: dict[str, Any]) -> None:
        for number in range(1, written["pieces"] + 1):
            piece = self._state.piece(_piece(written["name"], number))
            if piece is None:
                self._state.check()
                raise StoreError(
                    f"{self._connection.address}: the store is damaged: changes are lost; "
                    f"run esdedup doctor --repair --store {self._connection.address}"
                )
            self._do(piece["steps"])
        self._connection.ask("POST", f"/{','.join(sorted(set(self._names.values())))}/_refresh")
        then = dict(written["then"])
        scan = then.get("scan") or self._state.get("scan")
        if scan is not None:
            then["scan"] = scan | self._results()
        self._state.set(journal=None, **then)
        self._drop(written)

    def _results(self) -> dict[str, Any]:
        """Return what the state says about results after they were changed: how many documents they have."""
        if any(kind not in self._names for kind in RESULTS):
            return {"lost": (self._state.get("scan") or {}).get("lost")}
        return {"documents": count_documents(self._connection, {kind: self._names[kind] for kind in RESULTS})}

    def _note(self, step: dict[str, Any]) -> None:
        self._steps.append(step)
        self._bytes += 64 + len(step.get("document", ""))
        if self._bytes > _PIECE_BYTES:
            self._keep()

    def _keep(self) -> None:
        if not self._steps:
            return
        # abandoned pieces stay listed until they are deleted, and are deleted once no other writer needs them
        left = [one for one in self._state.get("drafts") or [] if one["name"] != self._name]
        self._pieces += 1
        self._state.set(drafts=[*left, {"name": self._name, "pieces": self._pieces}])
        for one in left:
            self._drop(one)
        self._state.put_piece(_piece(self._name, self._pieces), {"steps": self._steps})
        self._steps, self._bytes = [], 0

    def _drop(self, draft: dict[str, Any]) -> None:
        for number in range(1, draft["pieces"] + 1):
            self._state.drop_piece(_piece(draft["name"], number))

    def _do(self, steps: list[dict[str, Any]]) -> None:
        forgotten = [step["forget"] for step in steps if "forget" in step]
        forget_documents(self._connection, self._names, forgotten, self._state.check)
        for kind, name in self._names.items():
            with Bulk(self._connection, name, check=self._state.check) as bulk:
                bulk.add(delete(step["id"]) for step in steps if step.get("delete") == kind)
            with Bulk(self._connection, name, check=self._state.check) as bulk:
                bulk.add(put(step["id"], step["document"].encode()) for step in steps if step.get("put") == kind)


def count_documents(connection: Connection, names: dict[str, str]) -> dict[str, int]:
    """Return the number of documents of each of these indices, by kind."""
    reader = Reader(connection)
    return {kind: reader.count(name) for kind, name in names.items()}


def forget_documents(
    connection: Connection, names: dict[str, str], documents: Sequence[int], check: Callable[[], None] | None = None
) -> None:
    """Delete documents by number. Their sentences are deleted first."""
    if not documents:
        return
    reader = Reader(connection)
    with Bulk(connection, names["sentences"], check=check) as bulk:
        for hits in reader.look_up(names["sentences"], "document_number", documents, Fields(columns=("number",))):
            bulk.add(delete(str(hit["fields"]["number"][0])) for hit in hits)
    with Bulk(connection, names["documents"], check=check) as bulk:
        bulk.add(delete(str(number)) for number in documents)


def _piece(name: str, number: int) -> str:
    return f"journal-{name}-{number}"
