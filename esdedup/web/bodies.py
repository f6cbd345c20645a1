"""Limits on the bodies of requests: the size of each and of all together, and the time in which each must arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

MOST_BYTES = 5 * 2**19


class Bodies:
    """The bodies of all requests that are received or being answered. Each has `most` bytes at most, and all of them
    have `together`. A body must arrive within `seconds`.
    """

    def __init__(self, *, most: int = MOST_BYTES, together: int = 2**26, seconds: float = 30.0) -> None:
        self.most = most
        self.too_large = f"the request is larger than {most:,} bytes; send less at once"
        self.together = together
        self.seconds = seconds
        self._bodies: set[_Body] = set()
        self.size = 0
        """Bytes of all of them now."""

    @contextmanager
    def receiving(self, receive: Receive, declared: int) -> Iterator[Receive]:
        """Limit the body of a request. Its bytes count from now, as far as they are declared, until the block ends."""
        body = _Body(self, receive)
        self._bodies.add(body)
        try:
            body.grow(declared)
            yield body
        finally:
            self._bodies.discard(body)
            self.size -= body.size

    def make_room(self, new: _Body) -> None:
        """Give up bodies until the others fit: those that have not arrived, and have kept the most for the longest."""
        now = asyncio.get_running_loop().time()
        while self.size > self.together:
            unfinished = (body for body in self._bodies if body.size and not body.whole)
            max(unfinished, key=lambda body: body.size * (now - body.began), default=new).give_up()


class _Body:
    """The body of one request. Calling it is ASGI's `receive`."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._given_up = False
        self._timeout: asyncio.Timeout | None = None
        self._arrived = 0
        self.began = asyncio.get_running_loop().time()
        self.size = 0
        """Bytes, declared or arrived."""
        self.whole = False

    async def __call__(self) -> Message:
        try:
            async with asyncio.timeout_at(None if self.whole else self.began + self._bodies.seconds) as self._timeout:
                message = await self._receive()
        except TimeoutError:
            self._raise_if_given_up()
            raise HTTPException(408, f"the body did not arrive within {self._bodies.seconds:g} seconds") from None
        finally:
            self._timeout = None
        self.whole = not message.get("more_body", False)
        self._arrived += len(message.get("body", b""))
        if self._arrived > self._bodies.most:
            raise HTTPException(413, self._bodies.too_large)
        self.grow(self._arrived)
        self._raise_if_given_up()
        return message

    def grow(self, size: int) -> None:
        """Count so many bytes at least."""
        if size > self.size and not self._given_up:
            self._bodies.size += size - self.size
            self.size = size
            self._bodies.make_room(self)

    def give_up(self) -> None:
        """Receive no more of it."""
        self._bodies.size -= self.size
        self._given_up, self.size = True, 0
        if self._timeout is not None:
            self._timeout.reschedule(self.began)  # that is, now

    def _raise_if_given_up(self) -> None:
        if self._given_up:
            line = "the server is receiving too much at once; try again in a moment"
            raise HTTPException(503, line, {"Retry-After": "1"})
