"""Run work ahead in a thread, through a short queue, so that decompression and parsing overlap."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")

_DEPTH = 4


class Ahead(Generic[T]):
    """Iterates over what `produce(put)` puts, while it runs in a thread at most a few items ahead.

    After an item that is `large`, it waits until the next one is asked for.

    Exceptions of the thread are raised here, after everything that it put before. `close` stops the thread, even in the
    middle of its work: then `put` raises inside it.
    """

    def __init__(
        self, produce: Callable[[Callable[[T], None]], None], large: Callable[[T], bool] = lambda _: False
    ) -> None:
        self._large = large
        self._put_so_far = self._asked = 0
        self._queue: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(_DEPTH)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(produce,), name="esdedup-ahead", daemon=True)
        self._started = False

    def __iter__(self) -> Iterator[T]:
        if not self._started:
            self._started = True
            self._thread.start()
        while True:
            self._asked += 1
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]

    def close(self) -> None:
        """Stop the thread and wait for its end."""
        self._stopped.set()
        while self._started and self._thread.is_alive():
            try:
                self._queue.get(timeout=0.05)
            except queue.Empty:
                continue
        if self._started:
            self._thread.join()

    def _run(self, produce: Callable[[Callable[[T], None]], None]) -> None:
        end: BaseException | None = None
        try:
            produce(self._put)
        except _StoppedError:
            return
        except BaseException as error:
            end = error
        # nothing is read after the end, so a stop must not block here
        while not self._stopped.is_set():
            try:
                self._queue.put(end, timeout=0.1)
                return
            except queue.Full:
                continue

    def _put(self, item: T) -> None:
        while True:
            if self._stopped.is_set():
                raise _StoppedError
            try:
                self._queue.put((item,), timeout=0.1)
                break
            except queue.Full:
                continue
        self._put_so_far += 1
        # while a large one is used, the next is not made
        while self._large(item) and self._asked <= self._put_so_far and not self._stopped.is_set():
            time.sleep(0.01)


@contextmanager
def read_ahead(items: Iterator[T], large: Callable[[T], bool] = lambda _: False) -> Iterator[Iterator[T]]:
    """Return the items; a thread takes at most a few of them ahead, and none beyond a large one."""

    def produce(put: Callable[[T], None]) -> None:
        for item in items:
            put(item)

    ahead = Ahead(produce, large)
    try:
        yield iter(ahead)
    finally:
        ahead.close()


def begun_ahead(items: Iterable[T], most: int) -> Iterator[T]:
    """Yield the items in order, each when the `most` - 1 after it are made: work that making them begins, such as
    futures of a pool, goes on meanwhile.
    """
    begun: deque[T] = deque()
    for item in items:
        begun.append(item)
        if len(begun) == most:
            yield begun.popleft()
    while begun:
        yield begun.popleft()


class _StoppedError(BaseException):
    """The reader has closed, so the producer must stop. Libraries must not handle this as an error."""
