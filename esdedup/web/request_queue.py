"""Where questions wait for their turn: as many at once as there are readers, and none that nobody waits for."""

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

_END = "the server comes to its end"

Question = Callable[[Store], T]
"""What is asked of the store."""


@dataclass(frozen=True, slots=True)
class Whole(Generic[T]):
    """A question about all of the store, which many ask: its answer is kept as long as the store stays as it is."""

    key: Hashable
    question: Question[T]


class BusyError(EsdedupError):
    """Too many questions wait, or one takes too long."""


class OvertakenError(EsdedupError):
    """Who asked is gone: newer typing has overtaken it."""


class RequestQueue:
    """Lets `readers` questions at once into `live`, and up to `waiting` wait; none for longer than `seconds`.

    Beside them one question about all of it is worked out at a time, for which there must be one reader more.
    `overtaken` counts those that were dropped as nobody waited for their answer.
    """

    def __init__(self, live: Live, readers: int, *, waiting: int = 512, seconds: float = 20.0) -> None:
        self._live = live
        self._turns = asyncio.Semaphore(readers)
        self._turn_of_whole = asyncio.Semaphore(1)
        self._room = waiting
        self._seconds = seconds
        self._asking: set[asyncio.Task[Any]] = set()
        self._closed = False
        self.overtaken = 0

    async def ask(self, request: Request, question: Question[T] | Whole[T]) -> T:
        """The answer; `BusyError` where there is no room or no time, `OvertakenError` where nobody waits for it."""
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await self._asked(request, question)
        except asyncio.CancelledError:
            if not self._closed:
                raise
            task.uncancel()
            raise BusyError(_END) from None
        finally:
            self._asking.discard(task)

    def close(self) -> None:
        """Tell all who ask that there will be no answer."""
        self._closed = True
        for task in self._asking:
            task.cancel()

    async def _asked(self, request: Request, question: Question[T] | Whole[T]) -> T:
        if self._closed:
            raise BusyError(_END)
        if not self._room:
            raise BusyError("too many questions at once; ask again in a moment")
        if isinstance(question, Whole) and (known := self._known(question)) is not None:
            return known[0]
        turns = self._turn_of_whole if isinstance(question, Whole) else self._turns
        deadline = time.monotonic() + self._seconds
        self._room -= 1
        try:
            try:
                await asyncio.wait_for(turns.acquire(), self._seconds)
            except TimeoutError:
                raise self._late(question) from None
        finally:
            self._room += 1
        try:
            if await request.is_disconnected():
                self.overtaken += 1
                raise OvertakenError("nobody waits for this answer")
        except BaseException:
            turns.release()
            raise
        working = in_thread(partial(self._answer, question))
        # a thread cannot be stopped: its reader is free again when it ends, whoever waited for it
        working.add_done_callback(partial(_end, turns))
        try:
            return await asyncio.wait_for(asyncio.shield(working), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            if working.done():
                raise  # of the question itself
            raise self._late(question) from None

    def _known(self, question: Whole[T]) -> tuple[T] | None:
        with self._live.snapshot() as snapshot:
            return snapshot.kept(question.key)

    def _answer(self, question: Question[T] | Whole[T]) -> T:
        with self._live.snapshot() as snapshot:
            if not isinstance(question, Whole):
                with snapshot.reader() as store:
                    return question(store)
            known = snapshot.kept(question.key)  # by who had the turn before
            if known is None:
                with snapshot.reader() as store:
                    known = (question.question(store),)
                snapshot.keep(question.key, known[0])
            answer: T = known[0]
            return answer

    def _late(self, question: Question[T] | Whole[T]) -> BusyError:
        what = "it is worked out from all clusters; ask" if isinstance(question, Whole) else "ask for less, or"
        return BusyError(f"no answer within {self._seconds:g} seconds; {what} again in a moment")


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """What `work` gives, which is done in a thread that the end of the process need not wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(answer: Any, error: BaseException | None) -> None:
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
        with suppress(RuntimeError):  # nobody listens any more
            loop.call_soon_threadsafe(tell, answer, failed)

    Thread(target=run, daemon=True).start()
    return future


def _end(turns: asyncio.Semaphore, working: asyncio.Future[T]) -> None:
    turns.release()
    if not working.cancelled():
        working.exception()  # seen, also where nobody waits for it any more
