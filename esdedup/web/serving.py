"""The server: one process that stops cleanly when it is interrupted."""

from __future__ import annotations

import atexit
import ipaddress
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

import psutil
import uvicorn

from esdedup.errors import EsdedupError, UsageError
from esdedup.resources import available_cores
from esdedup.web.answers.warm import warm_up
from esdedup.web.app import create_app
from esdedup.web.live import Live
from esdedup.web.request_queue import RequestQueue

log = logging.getLogger("esdedup")

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine."""

_ANY = ("0.0.0.0", "::")
_MOST_CONNECTIONS = 1_000
_LEAST_TOKEN = 16
_ARTICLE_URL = re.compile(r"https?://[^\s{}]+.*\{(title|id)\}.*")


def serve(
    address: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    token: str | None = None,
    article_url: str | None = None,
    memory: int = 2**28,
) -> None:
    """Show the store at `address` until interrupted.

    Clients must send the `token`. Without a token, only this machine can connect. `names` are host names that are
    allowed in addition to `host` and this machine's names. Raises as `open_store` does, `UsageError` for another host
    without a token, and `EsdedupError` if it cannot listen there.
    """
    if article_url is not None and not _ARTICLE_URL.fullmatch(article_url):
        raise UsageError(f"--article-url {article_url}: give an http(s) URL that contains {{title}} or {{id}}")
    if not _is_loopback(host) and token is None:
        raise UsageError(
            f"at {host} other machines can read the store; set ESDEDUP_SERVE_TOKEN to a token of "
            f"{_LEAST_TOKEN} characters or more, or leave out --host"
        )
    if token is not None and len(token) < _LEAST_TOKEN:
        raise UsageError(f"ESDEDUP_SERVE_TOKEN is shorter than {_LEAST_TOKEN} characters; set it to a longer one")
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("ESDEDUP_SERVE_TOKEN is not valid in an HTTP header; use ASCII letters and digits")
    # however it ends, nothing may be left on disk
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    readers = max(2, available_cores())
    live = Live(address, readers=readers + 1, memory=memory, prepare=warm_up)  # one for slow queries
    try:
        listening = _listening(host, port)
        queue = RequestQueue(live, readers)
        app = create_app(queue, hosts=_known(host, names), token=token, article_url=article_url)
        server = _Server(
            queue,
            uvicorn.Config(
                app, access_log=False,  # addresses contain what people type
                log_level="error",  # malformed requests are not worth a line
                ws="none", lifespan="off", server_header=False, limit_concurrency=_MOST_CONNECTIONS,
                timeout_keep_alive=30, timeout_graceful_shutdown=1, proxy_headers=False,
            ),
        )  # fmt: skip
        where = f"[{host}]" if ":" in host else host
        log.info("http://%s:%d/ shows %s; Ctrl-C ends it", where, listening.getsockname()[1], address)
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after it has stopped
            server.run([listening])
    finally:
        idle = live.close()
    if not idle:
        # a thread that runs a query cannot be stopped, and must not outlive the interpreter
        atexit._run_exitfuncs()  # deletes temporary files
        os._exit(0)


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that already listens, so that clients can connect as soon as they know the address."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise EsdedupError(f"{host}:{port}: {error.strerror or error}; choose another --port or --host") from error


def _known(host: str, names: Sequence[str]) -> set[str]:
    """Return the allowed host names: those of all of this machine's addresses, and these."""
    known = {*LOOPBACK, *names, f"[{host}]" if ":" in host else host}
    if host in _ANY:
        for addresses in psutil.net_if_addrs().values():
            known |= {one.address for one in addresses if one.family == socket.AF_INET}
            known |= {f"[{one.address}]" for one in addresses if one.family == socket.AF_INET6}
    return known


class _Server(uvicorn.Server):
    """Stops at once, even if queries are running."""

    def __init__(self, queue: RequestQueue, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._queue = queue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell all clients, and stop listening."""
        self._queue.close()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # cut connections are expected now
        await super().shutdown(sockets)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
