"""Servers as a person starts them, and requests as a browser would not send them."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

ROOT = Path(__file__).parents[3]


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: Mapping[str, str]  # names in small letters
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]


class Site:
    """A server: the store it shows, where it is, what it has written to its standard error."""

    def __init__(self, store: str, url: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.store = store
        self.url = url
        self.process = process
        self._log = log
        self.port = urlsplit(url).port or 0

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8")

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """One request; `body` that is no bytes is sent as JSON."""
        told = dict(headers or {})
        if body is not None and not isinstance(body, bytes) and not hasattr(body, "__next__"):
            told.setdefault("Content-Type", "application/json")
            body = json.dumps(body).encode()
        if query:
            path += "?" + urlencode(query)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, told)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask(path, method="POST", body=body, headers=headers)

    def form(self, path: str, headers: Mapping[str, str] | None = None, **fields: str) -> Answer:
        told = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return self.ask(path, method="POST", body=urlencode(fields).encode(), headers=told)

    def api(self, path: str, **query: Any) -> Any:
        """The answer of the API, which must be one."""
        answer = self.ask(f"/api{path}", **query)
        assert (answer.status, answer.kind) == (200, "application/json"), answer
        return answer.json

    def raw(self, sent: bytes, *, seconds: float = 10) -> bytes:
        """What comes back until the server closes the connection or says no more."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as line:
            line.sendall(sent)
            line.settimeout(1)
            got = b""
            try:
                while part := line.recv(65536):
                    got += part
            except TimeoutError:
                pass
            return got

    def pages(self) -> list[str]:
        """A page of every kind."""
        heads = self.api("/clusters", limit=100)["clusters"]
        articles = self.api("/articles")["pairs"]
        table = self.api("/templates", min_size=2)["clusters"][0]["id"]
        drift = self.api("/contradictions")["contradictions"][0]["cluster"]
        tree = next(one["id"] for one in heads if one["copies"])
        return [
            "/", "/clusters", "/clusters?kind=identical", f"/clusters/{drift}", f"/clusters/{tree}",
            "/contradictions", "/templates?min_size=2", f"/templates/{table}", "/articles",
            "/articles/" + quote(articles[0]["a"], safe=""), "/overview", "/api", "/enter", "/clusters/" + "0" * 16,
        ]  # fmt: skip


@contextmanager
def serving(store: str, log: Path, *options: str, code: str = "", **environment: str) -> Iterator[Site]:
    """`esdedup serve`, until it is interrupted; it must end in peace and have complained of nothing."""
    with start(store, log, *options, code=code, **environment) as site:
        yield site
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(20) == 0, site.log
        lines = site.log.splitlines()
        assert len(lines) == 1, site.log


@contextmanager
def start(store: str, log: Path, *options: str, code: str = "", **environment: str) -> Iterator[Site]:
    """`esdedup serve`, or `code` that takes the same arguments, killed at the end if it is still there."""
    told = {**os.environ, "PYTHONPATH": str(ROOT), "ESDEDUP_SERVE_TOKEN": "", **environment}
    program = ["-c", code] if code else ["-m", "esdedup"]
    command = [sys.executable, *program, "serve", "--store", store, "--port", "0", *options]
    with log.open("wb") as err, subprocess.Popen(command, stderr=err, env=told) as process:
        try:
            yield Site(store, _address(process, log), process, log)
        finally:
            if process.poll() is None:
                process.kill()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + 60
    while not (found := re.search(r"http://\S+:[0-9]+/", log.read_text("utf-8"))):
        assert process.poll() is None and time.monotonic() < until, log.read_text("utf-8")
        time.sleep(0.02)
    url = found[0]
    port = urlsplit(url).port
    while True:  # it says so a moment before it listens
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return url
        except OSError:
            assert process.poll() is None and time.monotonic() < until, log.read_text("utf-8")
            time.sleep(0.02)
