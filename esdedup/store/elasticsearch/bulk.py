"""Bulk writes into an index: several sender threads, request bodies of limited size, and no silent loss.

Every document has its own id, so writes are idempotent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
from elasticsearch.helpers import streaming_bulk

from esdedup.columns.arrays import text_buffers
from esdedup.errors import StoreError
from esdedup.store.elasticsearch.answers import PASSING, reason_of
from esdedup.store.elasticsearch.client import HelperClient
from esdedup.store.elasticsearch.connection import Connection, retries
from esdedup.store.elasticsearch.indices import own_name

BODY_BYTES = 2**20
"""The size of one request body, in bytes."""

_SENDERS = 2

Action: TypeAlias = tuple[bytes, bytes | None]
"""An action line and the document; None for a deletion."""

WRITTEN = """'{"index":{"_id":"' || identity || '"}}\n' || document || '\n'"""
"""SQL for the two lines that write a `document`, given as JSON, with its `identity`, which needs no escaping."""


class Bulk:
    """Sends actions to one index. As a context manager, it waits at the end until everything is written.

    If the server rejects a document permanently, this is an error; with `lenient` the document is added to `refused`.
    `check` raises an error if nothing more may be sent.
    """

    def __init__(
        self,
        connection: Connection,
        index: str,
        *,
        lenient: bool = False,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._connection = connection
        self._index = index
        self._lenient = lenient
        self._threads = ThreadPoolExecutor(_SENDERS)
        self._ended = connection.end()  # after this, unsent actions are dropped
        self._client = HelperClient(connection, self._ended, check)
        self._sent: deque[Future[list[bytes]]] = deque()
        self._waiting: list[Action] = []
        self._bytes = 0
        self.refused: list[bytes] = []
        """The rejected documents with the reasons, one line of JSON each."""

    def add(self, actions: Iterable[Action]) -> None:
        """Send actions, which must be either all writes or all deletions."""
        for line, document in actions:
            # while documents wait, copies take less memory than what orjson returns
            self._waiting.append((line, document and b"%b" % document))
            self._bytes += len(line) + len(document or b"")
            if self._bytes >= BODY_BYTES:
                self._submit()

    def add_lines(self, written: pa.LargeStringArray) -> None:
        """Send documents. Each text is the two lines that write one."""
        if written.null_count:
            raise ValueError("a document without an id")
        data, offsets = text_buffers(written)
        begin = 0
        while begin < len(written):
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + BODY_BYTES, "right")) - 1)
            self._send_next(data[offsets[begin] : offsets[end]].tobytes())
            begin = end

    def finish(self) -> None:
        """Wait until everything is written, and raise errors."""
        self._submit()
        while self._sent:
            self.refused += self._sent.popleft().result()
        if self.refused and not self._lenient:
            reason = self.refused[0].decode()[:300]
            raise StoreError(f"{self._connection.address}: the server rejected a document: {reason}")

    def _submit(self) -> None:
        if self._waiting:
            lines = [line for action in self._waiting for line in action if line is not None]
            self._waiting, self._bytes = [], 0
            self._send_next(b"\n".join(lines) + b"\n")

    def _send_next(self, body: bytes) -> None:
        while len(self._sent) > _SENDERS:  # a slow server limits the rate, so the queue cannot fill the memory
            self.refused += self._sent.popleft().result()
        self._sent.append(self._threads.submit(self._send, body))

    def _send(self, body: bytes) -> list[bytes]:
        """Send one body. Only if the server has not taken all of it, look at each action: writes may be repeated."""
        if self._client.takes(f"/{own_name(self._index)}/_bulk", body):
            return []
        self._ended.wait(retries()["initial_backoff"])  # the server may have too much to do
        lines = body.split(b"\n")[:-1]
        deletes = lines[0].startswith(b'{"delete"')
        documents = [None] * len(lines) if deletes else lines[1::2]
        return self._send_again(list(zip(lines if deletes else lines[::2], documents, strict=True)))

    def _send_again(self, actions: list[Action]) -> list[bytes]:
        """Send actions, and again what is rejected for a while. Return permanent rejections with their reasons."""
        refused = []
        as_they_are: Any = {"actions": actions, "expand_action_callback": lambda action: action}  # encoded JSON
        for _, answer in streaming_bulk(
            self._client,
            **as_they_are,
            chunk_size=len(actions),
            raise_on_error=False,
            yield_ok=False,
            **retries(),
            index=own_name(self._index),
            require_alias=True,
            filter_path="errors,items.*.status,items.*.error.type,items.*.error.reason",
        ):
            [item] = answer.values()
            if item["status"] in PASSING:
                raise StoreError(
                    f"{self._connection.address}: the server still rejects documents ({reason_of(item)}); "
                    "run the same command again to continue"
                )
            if item["status"] != 404:  # a document to delete may be gone
                refused.append(orjson.dumps({"reason": reason_of(item), "document": orjson.Fragment(item["document"])}))
        return refused

    def __enter__(self) -> Bulk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self._ended.set()
            self._threads.shutdown(cancel_futures=True)


def put(identity: str, document: bytes) -> Action:
    """Return the action that writes a document, given as JSON. Ids need no escaping."""
    return b'{"index":{"_id":"%b"}}' % identity.encode(), document


def delete(identity: str) -> Action:
    """Return the action that deletes a document."""
    return b'{"delete":{"_id":"%b"}}' % identity.encode(), None
