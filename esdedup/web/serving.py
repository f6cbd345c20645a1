"""Listening: one server, one process, which ends as it should when it is interrupted."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from collections.abc import Sequence
from contextlib import suppress

import uvicorn

from esdedup.errors import EsdedupError, UsageError
from esdedup.settings import available_cores
from esdedup.web.answers.warm import warm_up
from esdedup.web.app import create_app
from esdedup.web.desk import Desk
from esdedup.web.live import Live

log = logging.getLogger("esdedup")

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names by which this machine calls itself."""

_MOST_CONNECTIONS = 1_000
_LEAST_TOKEN = 16


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

    Whoever asks must give the `token`; without one, it is shown to this machine only. `names` are host names that may
    be asked for beside `host` and this machine's own. Raises as `open_store` does, `UsageError` for another host
    without a token, and `EsdedupError` where nobody can listen there.
    """
    if not _is_loopback(host) and token is None:
        raise UsageError(
            f"at {host} others can read the store; set ESDEDUP_SERVE_TOKEN to what they must give, of "
            f"{_LEAST_TOKEN} characters or more, or leave --host out"
        )
    if token is not None and len(token) < _LEAST_TOKEN:
        raise UsageError(f"ESDEDUP_SERVE_TOKEN is shorter than {_LEAST_TOKEN} characters; set it to a longer one")
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("ESDEDUP_SERVE_TOKEN holds what no header carries; use letters and digits of ASCII")
    readers = max(2, available_cores())
    live = Live(address, readers=readers + 1, memory=memory, prepare=warm_up)  # one for what takes long
    try:
        known = {*LOOPBACK, *names, f"[{host}]" if ":" in host else host}
        desk = Desk(live, readers)
        app = create_app(desk, hosts=known, token=token, article_url=article_url)
        server = _Server(
            desk,
            live,
            uvicorn.Config(
                app, host=host, port=port, access_log=False,  # addresses hold what people type
                log_level="error",  # what strangers send is not worth a line
                ws="none", server_header=False, limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=30,
                timeout_graceful_shutdown=5, proxy_headers=False,
            )
        )  # fmt: skip
        listening = server.config.bind_socket()
        listening.listen(server.config.backlog)  # who reads the line below may ask at once
        where = f"[{host}]" if ":" in host else host
        log.info("http://%s:%d/ shows %s; Ctrl-C ends it", where, listening.getsockname()[1], address)
        with suppress(KeyboardInterrupt):  # which uvicorn raises again when it has ended in peace
            server.run([listening])
    except SystemExit as end:  # which uvicorn does where it cannot listen
        raise EsdedupError(f"{host}:{port}: nobody can listen there, or somebody does; choose another --port") from end
    finally:
        idle = live.close()
    if not idle:
        logging.shutdown()
        os._exit(0)  # a thread that works at a question cannot be stopped, and could not outlive the interpreter


class _Server(uvicorn.Server):
    """Ends at once, though questions are still worked at."""

    def __init__(self, desk: Desk, live: Live, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._desk = desk
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell everybody, listen no more, and leave nothing: a signal that came is raised again behind this."""
        self._desk.close()
        await super().shutdown(sockets)
        self._live.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
