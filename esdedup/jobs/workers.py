"""Workers that prepare batches: threads at first, then processes, any of which may be killed."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, TypeVar

import psutil

from esdedup.errors import EsdedupError
from esdedup.jobs.prepare import get_ready

T = TypeVar("T")

LARGE = 2**23
"""Bytes of a single text that is prepared alone, and here: it takes many times as much memory."""

_WORTH_WORKERS = 24 * 2**20
"""Bytes of documents from which worker processes pay off: they take about a second to start."""

_LOOK = 5.0
"""Seconds without an answer after which the workers are checked."""


class Workers:
    """Threads at first, processes once there is enough to do and they are ready.

    Small jobs never wait for processes to start. If nothing is compiled yet, this happens here, once, and not in every
    worker. With one worker everything is done in this thread.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._begun = 0
        self._threads = ThreadPoolExecutor(count)
        self._processes: ProcessPoolExecutor | None = None
        self._ready: list[Future[int]] = []
        self._lost = False
        self._work: int | None = None  # the end of the pipe from which the processes take their work

    def submit(self, work: Callable[..., T], *given: Any, size: int) -> Future[T]:
        """Submit work on `size` bytes of text. Raise `EsdedupError` after a worker was lost."""
        if self.count == 1 or size > LARGE:  # a copy in another process would take memory for both
            done: Future[T] = Future()
            done.set_result(work(*given))
            return done
        self._begun += size
        if self._processes is None and self._begun > _WORTH_WORKERS:
            self._processes = _processes(self.count)
            if sys.platform != "win32":
                inside: Any = self._processes
                self._work = os.dup(inside._call_queue._reader.fileno())
            with without_main():
                self._ready = [self._processes.submit(os.getpid) for _ in range(self.count)]
        if self._processes is None or not all(ready.done() for ready in self._ready):
            return self._threads.submit(work, *given)
        try:
            with without_main():  # any submission may start a worker
                return self._processes.submit(work, *given)
        except BrokenProcessPool as error:
            raise self._loss() from error

    def result(self, future: Future[T]) -> T:
        """Wait for the answer of a worker and return it. Raise `EsdedupError` if a worker is lost meanwhile."""
        while True:
            try:
                return future.result(_LOOK)
            except BrokenProcessPool as error:
                raise self._loss() from error
            except TimeoutError:
                if future.done():
                    raise  # from the work itself
                if self._has_lost():
                    raise self._loss() from None

    def _has_lost(self) -> bool:
        """Whether a worker was killed, which the process that starts workers may never report."""
        return self._processes is not None and any(map(_is_gone, list(self._processes._processes or ())))

    def _loss(self) -> EsdedupError:
        self._lost = True
        return EsdedupError(
            "a worker process ended without an answer (out of memory?); run the same command again, "
            "with fewer --workers"
        )

    def close(self) -> None:
        """End all workers. Work that has not begun is dropped."""
        self._threads.shutdown(cancel_futures=True)
        if self._processes is not None:
            if self._lost or self._has_lost():
                _end_workers(self._processes, self._work)
            if self._work is not None:
                os.close(self._work)
            self._processes.shutdown(cancel_futures=True)


def _is_gone(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _end_workers(pool: ProcessPoolExecutor, work: int | None) -> None:
    """End the workers of a pool that has lost one, and the process that starts them, which may never report it.

    The pool may still wait for the rest of a half-written answer or, before Python 3.11.5, for room in the pipe of
    `work`, from which nobody reads any more.
    """
    inside: Any = pool  # its types do not cover all of it
    workers = list(inside._processes or ())
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any("multiprocessing.forkserver" in argument for argument in child.cmdline()):
                child.kill()
    for worker in workers:
        with suppress(psutil.Error):
            psutil.Process(worker).kill()
    with suppress(OSError):
        inside._result_queue._writer.close()
    if work is None or sys.platform == "win32":
        return
    os.set_blocking(work, False)
    manager = inside._executor_manager_thread
    while manager.is_alive():
        with suppress(BlockingIOError):
            while os.read(work, 2**20):
                pass
        manager.join(0.02)


def _processes(count: int) -> ProcessPoolExecutor:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(["esdedup.jobs.prepare"])
    return ProcessPoolExecutor(count, context, initializer=get_ready)


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the caller's script: starting workers would run it again, and they do not need it."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
