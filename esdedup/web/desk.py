"""Where questions wait for their turn: as many at once as there are readers, and none that nobody waits for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from esdedup.errors import EsdedupError
from esdedup.stores.store import Store
from esdedup.web.live import Edition, Live

T = TypeVar("T")

Question = Callable[[Edition, Store], T]
"""What is asked: of the store, or of an edition's answers that are worked out once."""


class BusyError(EsdedupError):
    """Too many questions wait, or one takes too long."""


class OvertakenError(EsdedupError):
    """Who asked is gone: newer typing has overtaken it."""


class Desk:
    """Lets `readers` questions at once into `live`, and up to `waiting` wait; none for longer than `seconds`.

    `overtaken` counts those that were dropped as nobody waited for their answer.
    """

    def __init__(self, live: Live, readers: int, *, waiting: int = 512, seconds: float = 20.0) -> None:
        self._live = live
        self._turns = asyncio.Semaphore(readers)
        self._room = waiting
        self._seconds = seconds
        self.overtaken = 0

    async def ask(self, request: Request, question: Question[T]) -> T:
        """The answer; `BusyError` where there is no room or no time, `OvertakenError` where nobody waits for it."""
        if not self._room:
            raise BusyError("too many questions at once; ask again in a moment")
        deadline = time.monotonic() + self._seconds
        self._room -= 1
        try:
            try:
                await asyncio.wait_for(self._turns.acquire(), self._seconds)
            except TimeoutError:
                raise self._late() from None
        finally:
            self._room += 1
        try:
            if await request.is_disconnected():
                self.overtaken += 1
                raise OvertakenError("nobody waits for this answer")
        except BaseException:
            self._turns.release()
            raise
        working = asyncio.ensure_future(asyncio.to_thread(self._answer, question))
        # a thread cannot be stopped: its reader is free again when it ends, whoever waited for it
        working.add_done_callback(self._end)
        try:
            return await asyncio.wait_for(asyncio.shield(working), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            if working.done():
                raise  # of the question itself
            raise self._late() from None

    def _answer(self, question: Question[T]) -> T:
        with self._live.edition() as edition, edition.reader() as store:
            return question(edition, store)

    def _end(self, working: asyncio.Future[T]) -> None:
        self._turns.release()
        if not working.cancelled():
            working.exception()  # seen, also where nobody waits for it any more

    def _late(self) -> BusyError:
        return BusyError(f"no answer within {self._seconds:g} seconds; ask for less, or again in a moment")
