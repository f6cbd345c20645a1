"""The server: one process that stops cleanly when it is interrupted."""

from __future__ import annotations

import atexit
import gc
import ipaddress
import logging
import math
import os
import re
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import psutil
import uvicorn
from starlette.types import ASGIApp

from esdedup.errors import EsdedupError, UsageError
from esdedup.resources import available_cores
from esdedup.store.registry import address_of
from esdedup.web.answers.overview import warm_up
from esdedup.web.app import create_app
from esdedup.web.connections import Limits, limited
from esdedup.web.live import Live
from esdedup.web.other_programs import checked_origins
from esdedup.web.request_queue import RequestQueue

log = logging.getLogger("esdedup")

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine."""

_ANY = ("0.0.0.0", "::")
_LEAST_TOKEN = 16
_BACKLOG = 4_096  # connections that the system keeps until they are accepted
_ACCEPTED_AT_ONCE = 16
_OTHER_FILES = 6 * _ACCEPTED_AT_ONCE + 100  # connections not yet counted, or not yet closed; and what stores open
_SOCKET_BYTES = 2**17  # buffers of a connection; if they are small, it shows early that a client reads nothing
_SWITCH = 0.0005  # seconds; queries leave the interpreter lock often, and wait up to so long to have it back
_ARTICLE_URL = re.compile(r"https?://[^\s{}]+.*\{(title|id)\}.*")


def serve(
    address: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    origins: Sequence[str] = (),
    token: str | None = None,
    article_url: str | None = None,
    memory: int = 2**28,
) -> None:
    """Show the store at `address` until interrupted.

    Clients must send the `token`. Without a token, only this machine can connect. `names` are host names that are
    allowed in addition to `host` and this machine's names. Pages of `origins` may read answers. Raises as `open_store`
    does, `UsageError` for another host without a token, and `EsdedupError` if it cannot listen there.
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
    allowed = checked_origins(origins, with_token=token is not None)
    # however it ends, nothing may be left on disk
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    readers = max(2, available_cores())
    if address_of(address).file is None:
        readers *= 2  # a reader mostly waits for the server
    live = Live(address, readers=readers + 1, memory=memory, prepare=warm_up)  # one for slow queries
    try:
        listening = listen(host, port)
        queue = RequestQueue(live, readers)
        app = create_app(queue, hosts=_known(host, names), token=token, article_url=article_url, origins=allowed)
        server = Server(app, queue, _limits())
        where = f"[{host}]" if ":" in host else host
        log.info("http://%s:%d/ shows %s; Ctrl-C ends it", where, listening.getsockname()[1], address)
        sys.setswitchinterval(_SWITCH)
        gc.collect()
        gc.freeze()  # what is here now stays, and need not be looked through while visitors wait
        signal.signal(signal.SIGINT, server.handle_exit)  # uvicorn raises it again after it has stopped
        with suppress(KeyboardInterrupt):  # SIGTERM, too
            server.run([listening])
    finally:
        gc.unfreeze()
        idle = live.close()
    if not idle:
        # a thread that runs a query cannot be stopped, and must not outlive the interpreter
        atexit._run_exitfuncs()  # deletes temporary files
        os._exit(0)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that already listens, so that clients can connect as soon as they know the address."""
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=_BACKLOG
        )
    except OSError as error:
        raise EsdedupError(f"{host}:{port}: {error.strerror or error}; choose another --port or --host") from error
    for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # every connection gets these
        listening.setsockopt(socket.SOL_SOCKET, buffer, _SOCKET_BYTES)
    return listening


def _limits() -> Limits:
    """Return limits with as many connections as this process may have, 1,000 at most."""
    limits = Limits()
    if sys.platform == "win32":
        return limits
    import resource

    kept = psutil.Process().num_fds() + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + kept
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = max(soft - kept, soft // 4)
        return replace(limits, connections=most, of_one_address=min(limits.of_one_address, most))
    return limits


def _known(host: str, names: Sequence[str]) -> set[str]:
    """Return the allowed host names: those of all of this machine's addresses, and these."""
    known = {*LOOPBACK, *names, f"[{host}]" if ":" in host else host}
    if host in _ANY:
        for addresses in psutil.net_if_addrs().values():
            known |= {one.address for one in addresses if one.family == socket.AF_INET}
            known |= {f"[{one.address}]" for one in addresses if one.family == socket.AF_INET6}
    return known


class Server(uvicorn.Server):
    """Accepts connections within limits. Stops at once, even if queries are running."""

    def __init__(self, app: ASGIApp, queue: RequestQueue, limits: Limits) -> None:
        super().__init__(
            uvicorn.Config(
                app, http=limited(limits), ws="none", lifespan="off", proxy_headers=False, server_header=False,
                access_log=False,  # addresses contain what people type
                log_level="error",  # malformed requests are not worth a line
                backlog=_ACCEPTED_AT_ONCE, timeout_keep_alive=math.ceil(limits.idle_seconds),
                timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        self._queue = queue

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio accepts as many at once as its backlog, before any is counted; the system may keep more
            listening.listen(_BACKLOG)

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
