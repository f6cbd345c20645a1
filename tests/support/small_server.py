"""A server that gives prepared answers and notes what it was asked."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def server(*answers: tuple[int, str], tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, list[Request]]]:
    """Answers one request after the other, the last one for ever: its address, and the requests so far."""
    requests: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append(Request(self.command, self.path, dict(self.headers), body))
            status, text = answers[min(len(requests), len(answers)) - 1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that does not trust us

    with Server(("127.0.0.1", 0), Handler) as http:
        if tls is not None:
            http.socket = tls.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{http.server_port}", requests
        finally:
            http.shutdown()
            thread.join()
