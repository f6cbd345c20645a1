"""Send the documents of results in other threads, while others are made and files written from the same database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple, TypeAlias

from esdedup.columns.database import Database
from esdedup.store.elasticsearch.bulk import Bulk
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.publishing import EVERY, actions

Part: TypeAlias = dict[str, str]
"""The indices of results that a part of the documents goes to, and SQL that chooses these."""


class Parts(NamedTuple):
    """The documents of results: those that are known before clusters have a meaning, and the others."""

    early: Part
    late: Part


def parts_of_results(*, settled: bool) -> Parts:
    """Return both parts. If clusters of a single text are `settled`, nothing more will be known of them."""
    if not settled:
        return Parts({"pairs": EVERY}, {"clusters": EVERY, "members": EVERY})
    single, several = "k.distinct_texts = 1", "k.distinct_texts > 1"
    return Parts({"pairs": EVERY, "clusters": single, "members": single}, {"clusters": several, "members": several})


def send_results(
    opened: OpenGeneration, db: Database, names: dict[str, str], ended: Event, part: Part, *, one_by_one: bool
) -> None:
    """Write a part of the results in `db` to the new indices `names`, by kind. Nothing more is sent after `ended`.

    The kinds are sent at once or, if their queries do not fit in memory together, `one_by_one`.
    """

    def send(kind: str, chosen: str) -> None:
        with db.beside() as cursor, Bulk(opened.connection, names[kind]) as bulk:
            for lines in actions(cursor, kind, chosen):
                if ended.is_set():
                    raise InterruptedError("the command was interrupted")
                bulk.add_lines(lines)

    with ThreadPoolExecutor(1 if one_by_one else len(part)) as threads:
        for sent in [threads.submit(send, *chosen) for chosen in part.items()]:
            sent.result()


def make_readable(opened: OpenGeneration, names: Collection[str]) -> None:
    """Give new indices the settings of reading, and show what was written to them."""

    def show(name: str) -> None:
        opened.indices.restore(name)
        opened.indices.refresh(name)

    with ThreadPoolExecutor(len(names)) as threads:
        for shown in [threads.submit(show, name) for name in names]:
            shown.result()


@contextmanager
def beside(
    job: Callable[[], Any], ended: Event, give_up: Callable[[], None], *, whole: bool = False, first: bool = False
) -> Iterator[Future[Any]]:
    """Run `job` in another thread, and yield it as a future.

    If this thread has an error, `ended` is set, which tells the job to end, and the error is raised when it has. A
    `whole` job is not ended by an error; then its own error comes first. After an interrupt `give_up` is called too.
    With `first`, the job runs alone before anything else does.
    """
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(job)
        try:
            if first:
                running.result()
            yield running
        except Exception:
            if whole:
                running.result()
            ended.set()
            raise
        except BaseException:
            ended.set()
            give_up()
            raise
