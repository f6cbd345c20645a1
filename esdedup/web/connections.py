"""Limits on connections, which hold before the application sees a request.

uvicorn limits neither the size of a header (with httptools) nor the time in which it must arrive, and if there are too
many connections it refuses the new ones. Here, a connection that is too slow is closed, and at the limit the oldest
connection without a whole request makes room for the new one. So those who open connections and send nothing displace
each other, even if they share a proxy's address with everybody else. If nearly all have sent a whole request, the first
that does not take its answer makes room, or else the one that has waited longest.

Bodies have their limits in `bodies`, and waiting queries in `request_queue`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from esdedup.web.guard import SECURITY_HEADERS

_LINGER = 2.0
"""Seconds for a client to read an answer that it did not wait for, before its connection is closed."""

_MOST_FIELDS = 128  # of a header
_MOST_PIPELINED = 16  # requests that wait on one connection
_SHARE_OF_WAITING = 4  # a quarter of the places
_CHECKS_A_DEADLINE = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server. Times are in seconds."""

    connections: int = 1_000
    """Connections at once."""
    of_one_address: int = 800
    """Connections of one address at once."""
    header_bytes: int = 2**16
    """Size of the header of a request, and of the trailer behind its body."""
    header_seconds: float = 10.0
    """Time in which a header must arrive."""
    idle_seconds: float = 30.0
    """Time that a connection may be idle after an answer."""
    reader_seconds: float = 10.0
    """Time in which a client must take some of its answer."""
    answer_bytes: int = 2**26
    """Size of all answers that clients have not taken yet."""


def limited(limits: Limits) -> type[asyncio.Protocol]:
    """Return the class of a server's connections, for uvicorn."""
    return type("LimitedConnection", (_Connection,), {"_registry": _Registry(limits)})


@dataclass(eq=False, slots=True)
class _Group:
    """Connections, of one address or of all, by what they are doing, and in the order in which they began to."""

    waiting: dict[_Connection, None] = field(default_factory=dict)  # they have not sent a whole request
    slow: dict[_Connection, None] = field(default_factory=dict)  # they have not taken their answer
    asking: dict[_Connection, None] = field(default_factory=dict)  # their answer is being made

    def __len__(self) -> int:
        return len(self.waiting) + len(self.slow) + len(self.asking)

    def put(self, one: _Connection) -> None:
        """Note what a connection has begun to do."""
        self.remove(one)
        (self.slow if one.slow else self.asking if one.whole else self.waiting)[one] = None

    def remove(self, one: _Connection) -> None:
        """Forget a connection."""
        for doing in (self.waiting, self.slow, self.asking):
            doing.pop(one, None)

    def first_but(self, new: _Connection) -> _Connection:
        """Return the connection that has to make room for a new one."""
        order = [self.slow, self.asking]
        # a few may always wait, or visitors would displace each other while others keep all places by asking
        order.insert(0 if len(self.waiting) * _SHARE_OF_WAITING > len(self) else 2, self.waiting)
        return next(one for one in chain(*order) if one is not new)


class _Registry:
    """The open connections."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._all = _Group()
        self._of_address: defaultdict[str, _Group] = defaultdict(_Group)
        self._open: set[_Connection] = set()
        self._checking: asyncio.TimerHandle | None = None
        deadlines = (limits.header_seconds, limits.idle_seconds, limits.reader_seconds, _LINGER)
        self._interval = min(deadlines) / _CHECKS_A_DEADLINE

    def add(self, new: _Connection) -> None:
        """Count a connection in. At a limit, another one is dropped."""
        self._open.add(new)
        self.put(new)
        own = self._of_address[new.address]
        if len(own) > self.limits.of_one_address:
            own.first_but(new).make_room(429, "your address has too many connections; close some or try again later")
        elif len(self._all) > self.limits.connections:
            self._all.first_but(new).make_room(503, "the server has too many connections; try again in a moment")
        if self._checking is None:
            self._checking = new.loop.call_later(self._interval, self._check)

    def put(self, one: _Connection) -> None:
        """Note that a connection has begun to wait, to be answered, or to be slow."""
        if one not in self._open:
            return
        self._of_address[one.address].put(one)
        self._all.put(one)
        if one.slow:
            self._bound_answers(one.loop.time())

    def remove(self, one: _Connection) -> None:
        """Count a connection out."""
        if one not in self._open:
            return
        self._open.discard(one)
        self._all.remove(one)
        own = self._of_address[one.address]
        own.remove(one)
        if not own:
            del self._of_address[one.address]

    def _bound_answers(self, now: float) -> None:
        """Drop who has kept the most for the longest, while all answers together are too large."""
        kept = {one: one.transport.get_write_buffer_size() for one in self._all.slow}
        while sum(kept.values()) > self.limits.answer_bytes:
            worst = max(kept, key=lambda one: kept[one] * (now - one.since))
            del kept[worst]
            worst.drop()

    def _check(self) -> None:
        self._checking = None
        loop = None
        for one in list(self._open):
            loop = one.loop
            one.check(loop.time())
        if loop is not None and self._open:
            self._checking = loop.call_later(self._interval, self._check)


class _Connection(HttpToolsProtocol):
    """A connection as uvicorn makes it, with limits."""

    _registry: ClassVar[_Registry]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.address = ""
        self.since = 0.0
        """When it began to wait, to be answered, or to be slow."""
        self.whole = 0
        """Requests that have arrived and are not answered yet."""
        self.slow = False
        """Whether its client leaves an answer untaken."""
        self._header_since: float | None = None
        self._in_header = False
        self._in_body = False
        self._early = False  # answered before its body has arrived
        self._leaving = False  # answered for the last time
        self._left = 0  # bytes of the answer not taken yet
        self._fields = 0
        self._header = 0  # bytes
        self._unused = 0  # bytes of which the parser has made nothing yet

    # -- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it in."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.since = self._header_since = self.loop.time()
        self._registry.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it out."""
        self._registry.remove(self)
        super().connection_lost(exc)

    def drop(self, status: int | None = None, line: str = "") -> None:
        """Close it at once, with this answer if none is on its way."""
        self._registry.remove(self)
        told = status is not None and self._answer(status, line)
        if told and not self.transport.get_write_buffer_size():
            self.transport.close()
        else:
            self.transport.abort()

    def make_room(self, status: int, line: str) -> None:
        """Close it because there are too many. One that is idle after an answer has asked for nothing."""
        idle = self.cycle is not None and not (self.whole or self._in_header or self._in_body)
        self.drop(None if idle else status, line)

    def check(self, now: float) -> None:
        """Drop it if it is too late."""
        limits, waited = self._registry.limits, now - self.since
        if self.slow:
            left = self.transport.get_write_buffer_size()
            if left < self._left:
                self._left, self.since = left, now
            elif waited > limits.reader_seconds:
                self.drop()
        elif self._leaving or self._early:
            if waited > _LINGER:
                self.drop()
        elif self.whole or self._in_body:
            pass  # the application waits for its body
        elif self._header_since is None:
            if waited > limits.idle_seconds:
                self.drop()
        elif now - self._header_since > limits.header_seconds:
            line = f"the header did not arrive within {limits.header_seconds:g} seconds"
            self.drop(408 if self._in_header else None, line)

    # -- what arrives

    def data_received(self, data: bytes) -> None:
        """Parse it, unless nothing is expected any more."""
        if self._leaving:
            return
        if self._header_since is None and not (self.whole or self._in_body):
            self._header_since = self.loop.time()
        self._unused += len(data)
        super().data_received(data)
        if self._unused > self._registry.limits.header_bytes:
            self._refuse_header()

    def on_message_begin(self) -> None:
        """A header begins."""
        self._in_header, self._header, self._fields = True, 0, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the header, or of the trailer."""
        super().on_header(name, value)
        self._fields += 1
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """A body begins, which may be empty."""
        if len(self.pipeline) >= _MOST_PIPELINED:
            raise _LimitError
        self._in_header, self._in_body, self._header_since, self._unused = False, True, None, 0
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """A part of a body begins."""
        self._unused = 0

    def on_body(self, body: bytes) -> None:
        """A part of a body."""
        self._unused = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A whole request has arrived."""
        self._in_body, self._unused = False, 0
        super().on_message_complete()
        if self._early:
            self._early = False
        else:
            self.whole += 1
        self._begin()

    def _count(self, size: int) -> None:
        self._header += size
        if self._header > self._registry.limits.header_bytes or self._fields > _MOST_FIELDS:
            raise _LimitError

    # -- what is answered

    def on_response_complete(self) -> None:
        """An answer is on its way."""
        if self.whole:
            self.whole -= 1
        else:
            self._early = True
        super().on_response_complete()
        if self._in_header:
            self._header_since = self.loop.time()
        self._begin()

    def pause_writing(self) -> None:
        """The client takes its answer more slowly than it comes."""
        super().pause_writing()
        self.slow, self._left = True, self.transport.get_write_buffer_size()
        self._begin()

    def resume_writing(self) -> None:
        """The client has taken nearly all of its answer."""
        super().resume_writing()
        self.slow = False
        self._begin()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser refuses."""
        if self._header > self._registry.limits.header_bytes or self._fields > _MOST_FIELDS:
            self._refuse_header()
        else:
            self._refuse(400, "this is not a valid HTTP request")

    def _refuse_header(self) -> None:
        most = self._registry.limits.header_bytes
        self._refuse(431, f"the header is larger than {most:,} bytes, or has more than {_MOST_FIELDS} fields")

    def _refuse(self, status: int, line: str) -> None:
        """Answer, and then ignore what is still being sent. If it were closed now, the answer would be lost."""
        if self.whole or not self._answer(status, line):
            self.drop()
            return
        self._unset_keepalive_if_required()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._begin()

    def _answer(self, status: int, line: str) -> bool:
        """Answer in place of the application. Return whether this was possible."""
        cycle: Any = self.cycle
        answered = cycle is None or cycle.response_complete
        if self._leaving or self.slow or self.pipeline or not (answered or not cycle.response_started):
            return False
        self._leaving = True
        if not answered:
            cycle.disconnected = True  # the application need not wait any more
            cycle.message_event.set()
        body = f"{line}\n".encode()
        head = {
            "content-type": "text/plain; charset=utf-8",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            "connection": "close",
            **({"retry-after": "1"} if status in (429, 503) else {}),
            **SECURITY_HEADERS,
        }
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {text}" for name, text in head.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        return True

    def _begin(self) -> None:
        """Begin to wait, to be answered, or to be slow."""
        self.since = self.loop.time()
        self._registry.put(self)


class _LimitError(Exception):
    """A request is larger than allowed; ends the parsing."""
