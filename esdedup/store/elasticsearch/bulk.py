"""Documents into an index, many at a time: several senders, bodies of bounded size, and nothing lost without a word.

Every document has its own id, so that sending one twice does no harm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeAlias

import orjson
from elasticsearch.helpers import streaming_bulk

from esdedup.errors import StoreError
from esdedup.store.elasticsearch.answers import PASSING, reason_of
from esdedup.store.elasticsearch.client import HelperClient
from esdedup.store.elasticsearch.connection import Connection, retries
from esdedup.store.elasticsearch.indices import own_name

BODY_BYTES = 4 * 2**20
"""What one request carries."""

_SENDERS = 2

Action: TypeAlias = tuple[bytes, bytes | None]
"""A line that says what to do with which document, and the document itself, unless it is deleted."""


class Bulk:
    """Sends actions to one index. As a context, it waits at the end for all that was sent.

    What the server will never take is an error, or with `lenient` stands in `refused`. `check` raises an error where
    nothing must be sent any more.
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
        self._ended = connection.end()  # what is not sent yet need not be
        self._client = HelperClient(connection, self._ended, check)
        self._sent: deque[Future[list[bytes]]] = deque()
        self._waiting: list[Action] = []
        self._bytes = 0
        self.refused: list[bytes] = []
        """What the server would not take, and why: a line of JSON each."""

    def add(self, actions: Iterable[Action]) -> None:
        """Send actions, which all write or all delete."""
        for action in actions:
            self._waiting.append(action)
            self._bytes += len(action[0]) + len(action[1] or b"")
            if self._bytes >= BODY_BYTES:
                self._submit()

    def finish(self) -> None:
        """Wait until everything is written; errors are raised here."""
        self._submit()
        while self._sent:
            self.refused += self._sent.popleft().result()
        if self.refused and not self._lenient:
            reason = self.refused[0].decode()[:300]
            raise StoreError(f"{self._connection.address}: the server refuses what it must take: {reason}")

    def _submit(self) -> None:
        if not self._waiting:
            return
        while len(self._sent) > _SENDERS:  # a server slower than we are sets the pace, not our memory
            self.refused += self._sent.popleft().result()
        self._sent.append(self._threads.submit(self._send, self._waiting))
        self._waiting, self._bytes = [], 0

    def _send(self, actions: list[Action]) -> list[bytes]:
        """Send one body, and again what was turned away for now; what was refused for good, with its reason."""
        refused = []
        as_they_are: Any = {"actions": actions, "expand_action_callback": lambda action: action}  # JSON already
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
                    f"{self._connection.address}: the server still turns documents away ({reason_of(item)}); "
                    "run the same command again to go on"
                )
            if item["status"] != 404:  # what is to be deleted may be gone
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
    """The action that writes a document, whose JSON is given; ids need no escaping."""
    return b'{"index":{"_id":"%b"}}' % identity.encode(), document


def delete(identity: str) -> Action:
    """The action that deletes a document."""
    return b'{"delete":{"_id":"%b"}}' % identity.encode(), None
