"""The queue of queries: as many run at once as there are readers, and abandoned ones are dropped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from esdedup.errors import EsdedupError
from esdedup.store.store import Store
from esdedup.web.live import Live

T = TypeVar("T")

_END = "the server is stopping"
_LONGEST_PAUSE = 1.0  # seconds

StoreQuery = Callable[[Store], T]
"""A query to the store."""


@dataclass(frozen=True, slots=True)
class CachedQuery(Generic[T]):
    """A query about the whole store that many people make. Its answer is cached until the store changes."""

    key: Hashable
    query: StoreQuery[T]


class BusyError(EsdedupError):
    """Too many queries wait, or one takes too long."""


class SupersededError(EsdedupError):
    """The client is gone: newer typing has superseded its query."""


class RequestQueue:
    """Runs up to `readers` queries at once on `live`, and lets up to `waiting` wait, none longer than `seconds`.

    In addition, one query that takes long runs at a time: those about the whole store, and those that `ask` is told
    about. It needs one reader more. Once the oldest query has waited for `patience` seconds, every second place goes
    to the newest: many clients ask at once, and all would be late. `superseded` counts the queries that were dropped
    because their client was gone.
    """

    def __init__(
        self, live: Live, readers: int, *, waiting: int = 512, seconds: float = 20.0, patience: float = 0.2
    ) -> None:
        self._live = live
        self._slots = _Slots(readers, patience)
        self._long_slot = _Slots(1, patience)
        self._room = waiting
        self._seconds = seconds
        self._asking: set[asyncio.Task[Any]] = set()
        self._closed = False
        self.superseded = 0

    async def ask(self, request: Request, query: StoreQuery[T] | CachedQuery[T], *, long: bool = False) -> T:
        """Return the answer. `long`: it takes long. Raises `BusyError` if there is no room or no time,
        `SupersededError` if the client is gone.
        """
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await self._asked(request, query, long)
        except asyncio.CancelledError:
            if not self._closed:
                raise
            task.uncancel()
            raise BusyError(_END) from None
        finally:
            self._asking.discard(task)

    def close(self) -> None:
        """Tell all waiting clients that there will be no answer."""
        self._closed = True
        for task in self._asking:
            task.cancel()

    async def _asked(self, request: Request, query: StoreQuery[T] | CachedQuery[T], long: bool) -> T:
        if self._closed:
            raise BusyError(_END)
        if not self._room:
            raise BusyError("too many queries at once; try again in a moment")
        if isinstance(query, CachedQuery) and (cached := self._cached(query)) is not None:
            return cached[0]
        slots = self._long_slot if long or isinstance(query, CachedQuery) else self._slots
        deadline = time.monotonic() + self._seconds
        self._room -= 1
        try:
            if not await slots.acquire(self._seconds):
                raise self._late(query)
        finally:
            self._room += 1
        try:
            if await request.is_disconnected():
                self.superseded += 1
                raise SupersededError("the client is gone")
        except BaseException:
            slots.release()
            raise
        working = in_thread(partial(self._answer, query))
        # a thread cannot be stopped: its reader becomes free when it ends, even if nobody waits for it
        working.add_done_callback(partial(_end, slots, time.monotonic() if long else None))
        # the query may raise TimeoutError itself, so whether it is late is not read from an exception
        await asyncio.wait([working], timeout=max(0.0, deadline - time.monotonic()))
        if not working.done():
            raise self._late(query)
        return working.result()

    def _cached(self, query: CachedQuery[T]) -> tuple[T] | None:
        with self._live.snapshot() as snapshot:
            return snapshot.kept(query.key)

    def _answer(self, query: StoreQuery[T] | CachedQuery[T]) -> T:
        with self._live.snapshot() as snapshot:
            if not isinstance(query, CachedQuery):
                with snapshot.reader() as store:
                    return query(store)
            cached = snapshot.kept(query.key)  # an earlier query may have cached it
            if cached is None:
                with snapshot.reader() as store:
                    cached = (query.query(store),)
                snapshot.keep(query.key, cached[0])
            answer: T = cached[0]
            return answer

    def _late(self, query: StoreQuery[T] | CachedQuery[T]) -> BusyError:
        what = "it needs all clusters; try" if isinstance(query, CachedQuery) else "ask for less, or"
        return BusyError(f"no answer within {self._seconds:g} seconds; {what} again in a moment")


class _Slots:
    """Places for queries that run at once."""

    def __init__(self, free: int, patience: float) -> None:
        self._free = free
        self._patience = patience
        self._waiting: dict[asyncio.Future[None], float] = {}  # since when, the oldest first
        self._newest = False  # whether the newest had the last place

    async def acquire(self, seconds: float) -> bool:
        """Wait for a place. Return whether there was one in time."""
        if self._free:
            self._free -= 1
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[turn] = time.monotonic()
        try:
            await asyncio.wait([turn], timeout=seconds)
        except asyncio.CancelledError:
            if turn.done():
                self.release()
            raise
        finally:
            self._waiting.pop(turn, None)
        return turn.done()

    def release(self) -> None:
        """Give a place to the next one."""
        if not self._waiting:
            self._free += 1
            return
        turn, since = next(iter(self._waiting.items()))
        self._newest = not self._newest and time.monotonic() - since > self._patience
        if self._newest:
            turn = next(reversed(self._waiting))
        del self._waiting[turn]
        turn.set_result(None)


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run `work` in a thread that does not keep the process from ending, and return its result."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(answer: Any, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)

    def run() -> None:
        answer, failed = None, None  # type: Any, BaseException | None
        try:
            answer = work()
        except BaseException as error:
            failed = error
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(deliver, answer, failed)

    Thread(target=run, daemon=True).start()
    return future


def _end(slots: _Slots, began: float | None, working: asyncio.Future[T]) -> None:
    """Give back the place of a query that has ended. One that took long leaves as much time to the others, which want
    the same processors.
    """
    if began is None:
        slots.release()
    else:
        working.get_loop().call_later(min(time.monotonic() - began, _LONGEST_PAUSE), slots.release)
    if not working.cancelled():
        working.exception()  # mark the exception as retrieved
