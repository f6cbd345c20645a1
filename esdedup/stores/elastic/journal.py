"""Changes to many documents, all or nothing: written down first, then carried out, and again if that was cut short.

A server has no transactions. What is to be done is put beside the state in pieces; once the state says that the
pieces are whole, whoever opens the store to write carries them out, as often as it takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import orjson

from esdedup.stores.elastic.bulk import Bulk, delete, put
from esdedup.stores.elastic.connection import Connection
from esdedup.stores.elastic.reading import Reader, Wanted
from esdedup.stores.elastic.state import State

_PIECE_BYTES = 4 * 2**20


class Journal:
    """Writes changes down, and carries them out in the indices `names`, by kind."""

    def __init__(self, connection: Connection, state: State, names: dict[str, str]) -> None:
        self._connection = connection
        self._state = state
        self._names = names
        self._steps: list[dict[str, Any]] = []
        self._bytes = 0
        self._pieces = 0

    def put(self, kind: str, documents: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Documents to be written, each with its id."""
        for identity, document in documents:
            self._note({"put": kind, "id": identity, "document": orjson.dumps(document).decode()})

    def delete(self, kind: str, identities: Iterable[str]) -> None:
        """Documents to be deleted."""
        for identity in identities:
            self._note({"delete": kind, "id": identity})

    def forget(self, numbers: Iterable[int]) -> None:
        """Documents of the corpus to be deleted with all their sentences."""
        for number in numbers:
            self._note({"forget": number})

    def commit(self, **state: Any) -> None:
        """Everything is written down: carry it out, and say these values of the state with it."""
        self._keep()
        if self._pieces:
            self._state.tell(journal={"pieces": self._pieces, "then": state})
            self.carry_out()
        else:
            self._state.tell(**state)

    def carry_out(self) -> bool:
        """Do what is written down, if anything is; whether it was."""
        written = self._state.get("journal")
        if written is None:
            return False
        for number in range(written["pieces"]):
            piece = self._state.piece(_name(number))
            if piece is not None:
                self._carry_out(piece["steps"])
        self._connection.ask("POST", f"/{','.join(sorted(set(self._names.values())))}/_refresh")
        self._state.tell(journal=None, **written["then"])
        for number in range(written["pieces"]):
            self._state.drop_piece(_name(number))
        self._pieces = 0
        return True

    def _note(self, step: dict[str, Any]) -> None:
        self._steps.append(step)
        self._bytes += 64 + len(step.get("document", ""))
        if self._bytes > _PIECE_BYTES:
            self._keep()

    def _keep(self) -> None:
        if self._steps:
            self._state.put_piece(_name(self._pieces), {"steps": self._steps})
            self._pieces += 1
            self._steps, self._bytes = [], 0

    def _carry_out(self, steps: list[dict[str, Any]]) -> None:
        self._forget([step["forget"] for step in steps if "forget" in step])
        for kind, name in self._names.items():
            with Bulk(self._connection, name) as bulk:
                bulk.add(delete(step["id"]) for step in steps if step.get("delete") == kind)
            with Bulk(self._connection, name) as bulk:
                bulk.add(put(step["id"], step["document"].encode()) for step in steps if step.get("put") == kind)

    def _forget(self, documents: list[int]) -> None:
        forget_documents(self._connection, self._names, documents)


def forget_documents(connection: Connection, names: dict[str, str], documents: list[int]) -> None:
    """Delete documents by number, their sentences first."""
    if not documents:
        return
    reader = Reader(connection)
    with Bulk(connection, names["sentences"]) as bulk:
        for hits in reader.look_up(
            names["sentences"], "document_number", np.array(documents), Wanted(fields=("number",))
        ):
            bulk.add(delete(str(hit["fields"]["number"][0])) for hit in hits)
    with Bulk(connection, names["documents"]) as bulk:
        bulk.add(delete(str(number)) for number in documents)


def _name(number: int) -> str:
    return f"journal-{number}"
