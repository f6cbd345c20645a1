"""The page in a thread of this process, where a test can change what it is made of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from esdedup.web.bodies import Bodies
from esdedup.web.connections import Limits
from esdedup.web.live import Live
from esdedup.web.request_queue import RequestQueue
from tests.system.web.served import Site


@contextmanager
def running(
    store: str,
    *,
    limits: Limits | None = None,
    bodies: Bodies | None = None,
    token: str | None = None,
    origins: Collection[str] = (),
    **queued: Any,
) -> Iterator[tuple[Site, RequestQueue]]:
    """The application in a thread of this process, with two readers and one for what takes long."""
    from esdedup.web.app import create_app
    from esdedup.web.serving import Server, listen

    live = Live(store, readers=3)
    queue = RequestQueue(live, 2, **queued)
    app = create_app(queue, hosts=["127.0.0.1"], bodies=bodies, token=token, origins=origins)
    server = Server(app, queue, limits or Limits())
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=[[listening]])
    thread.start()
    until(lambda: server.started)
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        yield Site(store, url, None, None), queue  # type: ignore[arg-type]
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
        live.close()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
