"""A web server of files, which can do what servers do: cut, lie, redirect, refuse parts."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Files:
    """What is served, and how. Each fault is used up by one request with a body."""

    files: dict[str, bytes]
    address: str = ""
    ranges: bool = True
    lists: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def list_of(self, folder: str) -> bytes:
        inside = {name.removeprefix(folder) for name in self.files if name.startswith(folder)}
        links = sorted({f"{each.partition('/')[0]}/" if "/" in each else each for each in inside})
        return "".join(f'<a href="{each}">{each}</a>' for each in ["../", "?C=N", *links]).encode()


class _Handler(BaseHTTPRequestHandler):
    held: Files
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        held, name = self.held, self.path.partition("?")[0].lstrip("/")
        wanted = self.headers.get("Range", "")
        held.asked.append((self.path, wanted))
        if name in held.redirects:
            return self.answer(302, b"", Location=held.redirects[name])
        if name.endswith("/") and held.lists:
            return self.answer(200, held.list_of(name))
        if name not in held.files:
            return self.answer(404, b"")
        data, tag = held.files[name], f'"{sha256(held.files[name]).hexdigest()[:12]}"'
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted) if held.ranges else None
        first = wanted == "bytes=0-0"
        fault = held.faults.pop(0) if held.faults and (not first or held.faults[0].isdigit()) else ""
        if fault.isdigit():
            return self.answer(int(fault), b"try later")
        if match is None:
            return self.answer(200, data, fault, ETag=tag)
        begin = int(match[1])
        if begin >= len(data):
            return self.answer(416, b"", **{"Content-Range": f"bytes */{len(data)}", "ETag": tag})
        end = min(int(match[2] or len(data) - 1) + 1, len(data))
        begin += fault == "other place"
        return self.answer(
            206, data[begin:end], fault, **{"ETag": tag, "Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"}
        )

    def answer(self, status: int, body: bytes, fault: str = "", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + (1000 if fault == "longer" else 0)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
        if fault in ("cut", "longer"):
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(2)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def file_server(files: dict[str, bytes], tls: ssl.SSLContext | None = None, **how: bool) -> Iterator[Files]:
    """Serves files by their names."""
    held = Files(files, **how)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"held": held})) as http:
        if tls is not None:
            http.socket = tls.wrap_socket(http.socket, server_side=True)
        held.address = f"http{'s' if tls else ''}://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=[0.01])
        thread.start()
        try:
            yield held
        finally:
            http.shutdown()
            thread.join()
