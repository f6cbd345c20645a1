"""Questions wait for their turn, but nobody's question is asked that nobody waits for."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from esdedup.web.answers import check
from esdedup.web.request_queue import BusyError, CachedQuery, RequestQueue, SupersededError
from tests.system.web.inside import running, until
from tests.system.web.served import Site


class Request:
    """Somebody who waits, or does not any more."""

    def __init__(self, gone: bool = False) -> None:
        self.gone = gone

    async def is_disconnected(self) -> bool:
        return self.gone


class Room:
    """What stands for `Live` and its snapshots."""

    @contextmanager
    def snapshot(self) -> Iterator[Room]:
        yield self

    reader = snapshot

    def __init__(self) -> None:
        self.answers: dict[Any, Any] = {}

    def kept(self, key: Any) -> tuple[Any] | None:
        return (self.answers[key],) if key in self.answers else None

    def keep(self, key: Any, answer: Any) -> None:
        self.answers[key] = answer


HERE, GONE = Request(), Request(gone=True)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """On a thread of its own: a browser that is open has an event loop on this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(asyncio.wait_for(work(), 20))).result()


def queue(readers: int = 1, **limits: Any) -> RequestQueue:
    return RequestQueue(Room(), readers, **limits)  # type: ignore[arg-type]


async def held(at: RequestQueue, free: threading.Event) -> asyncio.Task[Any]:
    """A question that keeps a reader until it is let free."""
    begun = threading.Event()

    def question(*_: object) -> str:
        begun.set()
        assert free.wait(20)
        return "held"

    task = asyncio.ensure_future(at.ask(HERE, question))  # type: ignore[arg-type]
    await asyncio.to_thread(begun.wait, 20)
    return task


def test_overtaken_questions_are_not_asked() -> None:
    asked: list[int] = []

    async def work() -> None:
        at, free = queue(patience=20.0), threading.Event()
        first = await held(at, free)
        mine = [
            asyncio.ensure_future(at.ask(GONE if n % 10 else HERE, lambda *_, n=n: asked.append(n)))  # type: ignore
            for n in range(50)
        ]
        await asyncio.sleep(0.05)
        free.set()
        answers = await asyncio.gather(*mine, return_exceptions=True)
        assert sum(isinstance(answer, SupersededError) for answer in answers) == at.superseded == 45
        assert await first == "held"

    run(work)
    assert asked == [0, 10, 20, 30, 40]


def test_questions_about_all_of_it_are_worked_out_once_and_keep_nobody_waiting() -> None:
    times: list[int] = []

    async def work() -> None:
        at, begun, free = queue(readers=1), threading.Event(), threading.Event()

        def whole(_: object) -> int:
            times.append(1)
            begun.set()
            assert free.wait(20)
            return 7

        asking = [asyncio.ensure_future(at.ask(HERE, CachedQuery("key", whole))) for _ in range(5)]  # type: ignore[arg-type]
        await asyncio.to_thread(begun.wait, 20)
        assert await at.ask(HERE, lambda _: "typed") == "typed"  # type: ignore[arg-type]
        free.set()
        assert await asyncio.gather(*asking) == [7] * 5
        with pytest.raises(ZeroDivisionError):
            await at.ask(HERE, CachedQuery("wrong", lambda _: 1 // 0))  # type: ignore[arg-type]
        assert await at.ask(HERE, CachedQuery("wrong", lambda _: 8)) == 8  # type: ignore[arg-type]  # asked again

    run(work)
    assert len(times) == 1


def test_too_many_at_once_are_told_so() -> None:
    async def work() -> None:
        at, free = queue(waiting=2), threading.Event()
        first = await held(at, free)
        waiting = [asyncio.ensure_future(at.ask(HERE, lambda *_: "late")) for _ in range(2)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too many"):
            await at.ask(HERE, lambda *_: "no")  # type: ignore[arg-type]
        free.set()
        assert [await one for one in (first, *waiting)] == ["held", "late", "late"]
        assert await at.ask(HERE, lambda *_: "again") == "again"  # type: ignore[arg-type]

    run(work)


def test_what_takes_too_long_is_told_so_and_its_reader_comes_back() -> None:
    async def work() -> None:
        at, free = queue(seconds=0.1), threading.Event()
        first = await held(at, free)
        with pytest.raises(BusyError, match=r"within 0\.1 seconds"):
            await first
        with pytest.raises(BusyError, match=r"within 0\.1 seconds"):  # its reader is still at work
            await at.ask(HERE, lambda *_: "waits")  # type: ignore[arg-type]
        free.set()
        await asyncio.sleep(0.05)
        for _ in range(3):
            assert await at.ask(HERE, lambda *_: "free") == "free"  # type: ignore[arg-type]

    run(work)


def test_a_question_that_ends_at_its_deadline_is_answered_or_late() -> None:
    ends: list[str] = []

    async def work() -> None:
        at = queue(readers=20, seconds=0.02)

        async def ask(turn: int) -> None:
            try:
                ends.append(await at.ask(HERE, lambda *_: time.sleep(0.0185 + turn % 20 / 10_000) or "answered"))  # type: ignore
            except BusyError as error:
                ends.append(str(error))

        for _ in range(40):
            await asyncio.gather(*(ask(turn) for turn in range(20)))
            await asyncio.sleep(0.01)  # late ones give their readers back

    run(work)
    assert len(ends) == 800
    assert set(ends) <= {"answered", "no answer within 0.02 seconds; ask for less, or again in a moment"}


def test_a_turn_that_comes_at_the_deadline_is_not_lost() -> None:
    async def work() -> None:
        at = queue(readers=2, seconds=0.02)
        for _ in range(40):
            asking = [at.ask(HERE, lambda *_: time.sleep(0.01)) for _ in range(8)]  # type: ignore[arg-type]
            told = await asyncio.gather(*asking, return_exceptions=True)
            assert {type(one) for one in told} <= {type(None), BusyError}
            await asyncio.sleep(0.03)
        assert at._slots._free == 2
        assert not at._slots._waiting

    run(work)


def test_the_newest_is_not_last_where_many_wait_long() -> None:
    asked: list[int] = []

    async def work() -> None:
        for patience in (20.0, 0.0):
            at, free = queue(patience=patience), threading.Event()
            first = await held(at, free)
            mine = []
            for n in range(5):
                mine.append(asyncio.ensure_future(at.ask(HERE, lambda *_, n=n: asked.append(n))))  # type: ignore
                await asyncio.sleep(0.01)
            free.set()
            await asyncio.gather(first, *mine)

    run(work)
    assert asked == [0, 1, 2, 3, 4, 4, 0, 3, 1, 2]


def test_what_takes_long_keeps_nobody_waiting() -> None:
    async def work() -> None:
        at, begun, free = queue(readers=1), threading.Event(), threading.Event()

        def long(*_: object) -> str:
            begun.set()
            assert free.wait(20)
            return "long"

        asking = [asyncio.ensure_future(at.ask(HERE, long, long=True)) for _ in range(5)]  # type: ignore[arg-type]
        await asyncio.to_thread(begun.wait, 20)
        assert await at.ask(HERE, lambda _: "short") == "short"  # type: ignore[arg-type]
        free.set()
        assert await asyncio.gather(*asking) == ["long"] * 5

    run(work)


def test_errors_of_a_question_are_its_own() -> None:
    async def work() -> None:
        at = queue()
        for error in (TimeoutError("mine"), KeyError("mine"), ZeroDivisionError("mine")):

            def fails(*_: object, error: Exception = error) -> None:
                raise error

            with pytest.raises(type(error), match="mine"):
                await at.ask(HERE, fails)  # type: ignore[arg-type]
        assert await at.ask(HERE, lambda *_: "fine") == "fine"  # type: ignore[arg-type]

    run(work)


def test_who_goes_away_while_waiting_leaves_no_gap() -> None:
    async def work() -> None:
        at, free = queue(waiting=1), threading.Event()
        first = await held(at, free)
        for _ in range(5):
            waits = asyncio.ensure_future(at.ask(HERE, lambda *_: "never"))  # type: ignore[arg-type]
            await asyncio.sleep(0.01)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
        first.cancel()
        await asyncio.sleep(0.01)
        free.set()
        assert await at.ask(HERE, lambda *_: "fine") == "fine"  # type: ignore[arg-type]

    run(work)


class Slow:
    """The check, which keeps its readers until it is let free, and knows what it was asked."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.asked: list[str] = []
        self._check = check.check

    def __call__(self, store: Any, text: str) -> Any:
        self.asked.append(text)
        assert self.free.wait(20)
        return self._check(store, text)


def ask_and_wait(site: Site, text: str) -> socket.socket:
    """A connection with a question whose answer is not waited for here."""
    body = json.dumps({"text": text}).encode()
    line = socket.create_connection(("127.0.0.1", site.port))
    line.sendall(
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    return line


@pytest.mark.both_stores
def test_typing_on_overtakes_what_was_asked_before(
    collections: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(check, "check", slow)
    with running(collections(kind).store) as (site, at):
        first = [ask_and_wait(site, f"first {n}") for n in range(2)]
        until(lambda: len(slow.asked) == 2)
        typed = [ask_and_wait(site, f"typed {n}") for n in range(30)]
        until(lambda: at._room == 512 - 30)
        for line in typed[:-1]:
            line.close()
        time.sleep(0.2)
        slow.free.set()
        typed[-1].settimeout(20)
        assert typed[-1].recv(100).startswith(b"HTTP/1.1 200")
        until(lambda: at.superseded == 29)
        for line in (*first, typed[-1]):
            line.close()
        assert sorted(slow.asked) == ["first 0", "first 1", "typed 29"]
        assert site.post("/api/check", {"text": "still there"}).status == 200


def test_a_busy_server_says_when_to_ask_again(collections: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(check, "check", slow)
    with running(collections("embedded").store, waiting=1, seconds=3.0) as (site, at):
        lines = []
        for n in range(2):
            lines.append(ask_and_wait(site, f"first {n}"))
            until(lambda n=n: len(slow.asked) > n)
        late = site.post("/api/check", {"text": "waits"})
        assert (late.status, late.headers["retry-after"]) == (503, "1")
        assert "within 3 seconds" in late.json["error"]
        shown = site.form("/check", text="waits")
        assert (shown.status, shown.headers["retry-after"], shown.kind) == (503, "1", "text/html")
        waits = ask_and_wait(site, "waits")
        until(lambda: at._room == 0)
        begin = time.monotonic()
        refused = site.post("/api/check", {"text": "too many"})
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert "too many" in refused.json["error"]
        assert time.monotonic() - begin < 2.5
        assert site.ask("/").status == 200  # what asks nothing waits for nobody
        slow.free.set()
        for line in (*lines, waits):
            line.close()
        until(lambda: site.post("/api/check", {"text": "free again"}).status == 200)
