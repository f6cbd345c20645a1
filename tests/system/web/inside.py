"""The page in a thread of this process, where a test can change what it is made of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from esdedup.web.live import Live
from esdedup.web.request_queue import RequestQueue
from tests.system.web.served import Site


@contextmanager
def running(store: str, **limits: Any) -> Iterator[tuple[Site, RequestQueue]]:
    """The application in a thread of this process, with two readers and one for what takes long."""
    from esdedup.web.app import create_app

    live = Live(store, readers=3)
    queue = RequestQueue(live, 2, **limits)
    app = create_app(queue, hosts=["127.0.0.1"])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", access_log=False, ws="none"))
    listening = server.config.bind_socket()
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
