"""Documents into an index, many at a time: several senders, bodies of bounded size, and nothing lost without a word.

Every document has its own id, so that sending one twice does no harm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, NoReturn

import orjson
from elasticsearch import ApiError

from esdedup.errors import StoreError
from esdedup.store.elasticsearch.answers import BLOCKED, gone, is_block, is_gone, is_passing, reason_of
from esdedup.store.elasticsearch.connection import Connection, Pauses
from esdedup.store.elasticsearch.indices import own_name

BODY_BYTES = 4 * 2**20
"""What one request carries."""

_SENDERS = 2


class Bulk:
    """Sends actions to one index. As a context, it waits at the end for all that was sent.

    What the server will never take is an error, or with `lenient` stands in `refused`. `check` raises an error where
    nothing must be sent any more.
    """

    def __init__(
        self,
        connection: Connection,
        index: str,
        senders: int = _SENDERS,
        *,
        lenient: bool = False,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._connection = connection
        self._index = index
        self._senders = senders
        self._lenient = lenient
        self._check = check
        self._threads = ThreadPoolExecutor(senders)
        self._ended = connection.end()  # what is not sent yet need not be
        self._sent: deque[Future[list[bytes]]] = deque()
        self._waiting: list[bytes] = []
        self._bytes = 0
        self.refused: list[bytes] = []
        """What the server would not take, and why: a line of JSON each."""

    def add(self, actions: Iterable[bytes]) -> None:
        """Send actions: each a line that says what to do and, unless it deletes, the document's line."""
        for action in actions:
            self._waiting.append(action)
            self._bytes += len(action)
            if self._bytes >= BODY_BYTES:
                self._submit()

    def finish(self) -> None:
        """Wait until everything is written; errors are raised here."""
        self._submit()
        while self._sent:
            self.refused += self._sent.popleft().result()
        if self.refused and not self._lenient:
            told = self.refused[0].decode()[:300]
            raise StoreError(f"{self._connection.address}: the server refuses what it must take: {told}")

    def _submit(self) -> None:
        if not self._waiting:
            return
        while len(self._sent) > self._senders:  # a server slower than we are sets the pace, not our memory
            self.refused += self._sent.popleft().result()
        self._sent.append(self._threads.submit(self._send, self._waiting))
        self._waiting, self._bytes = [], 0

    def _send(self, actions: list[bytes]) -> list[bytes]:
        """Send one body, and again what was turned away for now; what was refused for good, with its reason."""
        refused: list[bytes] = []
        pauses = Pauses(self._ended)
        while True:
            items = self._answers(actions)
            if items is None:  # too much at once for the server, or for something before it
                middle = len(actions) // 2
                return refused + self._send(actions[:middle]) + self._send(actions[middle:])
            if not items:
                return refused
            again, last = [], items[0]
            for action, item in zip(actions, items, strict=True):
                status = item["status"]
                if status < 300 or (status == 404 and "error" not in item):
                    continue
                if is_passing(status) and not is_block(item):
                    again.append(action)
                    last = item
                elif status in (401, 403, 404, 429):  # not this document's fault
                    self._raise(item)
                else:
                    refused.append(_refusal(action, item))
            if not again:
                return refused
            if not pauses.wait():
                raise StoreError(
                    f"{self._connection.address}: the server still turns documents away ({reason_of(last)}); "
                    "run the same command again to go on"
                )
            actions = again

    def _answers(self, actions: list[bytes]) -> list[dict[str, Any]] | None:
        """What became of each action, or nothing if all is well; None where the body is too long."""
        if self._check is not None:
            self._check()
        try:
            answer = self._connection.ask(
                "POST",
                f"/{own_name(self._index)}/_bulk",
                b"".join(actions),
                lines=True,
                heed=(413,),
                ended=self._ended,
                require_alias="true",
                filter_path="errors,items.*.status,items.*.error.type,items.*.error.reason",
            )
        except ApiError as error:
            if len(actions) > 1:
                return None
            told = {"type": "too_long", "reason": f"too long for the server: {len(actions[0]):,} bytes"}
            return [{"status": error.status_code, "error": told}]
        return [next(iter(item.values())) for item in answer["items"]] if answer["errors"] else []

    def _raise(self, item: dict[str, Any]) -> NoReturn:
        reason = reason_of(item)
        told = gone(reason) if is_gone(item) else f"the server refuses to write ({reason})"
        raise StoreError(f"{self._connection.address}: {BLOCKED.format(reason=reason) if is_block(item) else told}")

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


def put(identity: str, document: bytes) -> bytes:
    """The action that writes a document, whose JSON is given; ids need no escaping."""
    return b'{"index":{"_id":"%b"}}\n%b\n' % (identity.encode(), document)


def delete(identity: str) -> bytes:
    """The action that deletes a document."""
    return b'{"delete":{"_id":"%b"}}\n' % identity.encode()


def _refusal(action: bytes, item: dict[str, Any]) -> bytes:
    document = action.split(b"\n")[1] or b"null"
    return orjson.dumps({"reason": reason_of(item), "document": orjson.Fragment(document)})
