"""Documents into an index, many at a time: several senders, bodies of bounded size, and nothing lost without a word.

Every document has its own id, so that sending one twice does no harm.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from esdedup.errors import StoreError
from esdedup.stores.elastic import connection as patience
from esdedup.stores.elastic.connection import BLOCKED, Connection, is_block, reason_of

BODY_BYTES = 4 * 2**20
"""What one request carries."""

_SENDERS = 2
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_PASSING = (429, 502, 503, 504)


class Bulk:
    """Sends actions to one index. As a context, it waits at the end for all that was sent."""

    def __init__(self, connection: Connection, index: str, senders: int = _SENDERS) -> None:
        self._connection = connection
        self._index = index
        self._senders = senders
        self._threads = ThreadPoolExecutor(senders)
        self._sent: deque[Future[list[str]]] = deque()
        self._waiting: list[bytes] = []
        self._bytes = 0
        self.refused: list[str] = []
        """What the server would not take, and why: documents that no repetition helps."""

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

    def _submit(self) -> None:
        if not self._waiting:
            return
        while len(self._sent) > self._senders:  # a server slower than we are sets the pace, not our memory
            self.refused += self._sent.popleft().result()
        self._sent.append(self._threads.submit(self._send, self._waiting))
        self._waiting, self._bytes = [], 0

    def _send(self, actions: list[bytes]) -> list[str]:
        """Send one body, and again what was turned away for now; what was refused for good, with its reason."""
        refused: list[str] = []
        end, pause = time.monotonic() + patience.PATIENCE, _FIRST_PAUSE
        while True:
            answer = self._connection.ask(
                "POST",
                f"/{self._index}/_bulk",
                b"".join(actions),
                lines=True,
                filter_path="errors,items.*.status,items.*.error.type,items.*.error.reason",
            )
            if not answer["errors"]:
                return refused
            items = [next(iter(item.values())) for item in answer["items"]]
            again = []
            for action, item in zip(actions, items, strict=True):
                status = item["status"]
                if status < 300 or (status == 404 and "error" not in item):
                    continue
                if is_block(item):
                    raise StoreError(f"{self._connection.address}: {BLOCKED.format(reason=reason_of(item))}")
                if status in _PASSING:
                    again.append(action)
                else:
                    refused.append(_refusal(action, item))
            if not again:
                return refused
            if time.monotonic() + pause > end:
                raise StoreError(
                    f"{self._connection.address}: the server still turns documents away "
                    f"({reason_of(next(item for item in items if item['status'] in _PASSING))}); "
                    "run the same command again to go on"
                )
            actions = again
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def __enter__(self) -> Bulk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self._threads.shutdown(cancel_futures=True)


def put(identity: str, document: bytes) -> bytes:
    """The action that writes a document, whose JSON is given; ids need no escaping."""
    return b'{"index":{"_id":"%b"}}\n%b\n' % (identity.encode(), document)


def delete(identity: str) -> bytes:
    """The action that deletes a document."""
    return b'{"delete":{"_id":"%b"}}\n' % identity.encode()


def keep_refused(path: Path, refused: list[str]) -> None:
    """Append what the server would not take to a file, one JSON line each."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in refused)


def _refusal(action: bytes, item: dict[str, Any]) -> str:
    document = action.split(b"\n")[1].decode() or "null"
    reason = reason_of(item).replace("\\", "\\\\").replace('"', '\\"')
    return f'{{"reason":"{reason}","document":{document}}}'
