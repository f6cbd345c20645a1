"""Send the documents of results in other threads, while others are made and files written from the same database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

from esdedup.columns.database import Database
from esdedup.store.elasticsearch import publishing
from esdedup.store.elasticsearch.bulk import Bulk
from esdedup.store.elasticsearch.generations import OpenGeneration

Result = TypeVar("Result")


def send_results(opened: OpenGeneration, db: Database, names: dict[str, str], ended: Event) -> None:
    """Write results in `db` to the new indices `names`, by kind, and make them ready to be read.

    Nothing more is sent after `ended`.
    """

    def send(kind: str, name: str) -> None:
        if kind in publishing.PUBLISHED:
            with db.beside() as cursor, Bulk(opened.connection, name) as bulk:
                for lines in publishing.actions(cursor, kind):
                    if ended.is_set():
                        raise InterruptedError("the command was interrupted")
                    bulk.add_lines(lines)
        opened.indices.restore(name)
        opened.indices.refresh(name)

    with ThreadPoolExecutor(len(names)) as threads:
        for sent in [threads.submit(send, *named) for named in names.items()]:
            sent.result()


@contextmanager
def beside(job: Callable[[Event], Result]) -> Iterator[Callable[[], Result]]:
    """Run `job` in another thread. Yield what waits for its end, and returns its result or raises its error.

    An error of this thread is raised when the job is done. The job is told to end if the user interrupts the command.
    """
    ended = Event()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(job, ended)
        try:
            yield running.result
        except Exception:
            running.result()
            raise
        except BaseException:
            ended.set()
            raise
