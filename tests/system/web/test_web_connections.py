"""Connections that are slow, or too many: they keep nobody out, and are told why they are closed."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from esdedup.web.answers import check
from esdedup.web.bodies import Bodies
from esdedup.web.connections import Limits
from tests.system.web.inside import running, until
from tests.system.web.served import Site, serving

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HALF = GET[:-2] + b"X-More: "
LARGE = b"GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"  # 30 KB and more
LONG = 60.0  # seconds that no test takes


def post(length: int, path: str = "/api/check") -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    return head.encode()


@pytest.fixture
def inside(collections: Any) -> Callable[..., Any]:
    """A server with these limits, in a thread of this process."""

    @contextmanager
    def inside(bodies: Bodies | None = None, token: str | None = None, **limits: Any) -> Iterator[Site]:
        with running(collections("embedded").store, limits=Limits(**limits), bodies=bodies, token=token) as (site, _):
            yield site

    return inside


@contextmanager
def lines(site: Site, count: int, sent: bytes = b"", *, reads: bool = True) -> Iterator[list[socket.socket]]:
    """Connections on which this has been sent."""
    opened = []
    try:
        for _ in range(count):
            opened.append(line := socket.socket())
            if not reads:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(20)
            line.connect(("127.0.0.1", site.port))
            with suppress(ConnectionResetError, BrokenPipeError):  # it does not wait for all of it
                line.sendall(sent)
        yield opened
    finally:
        for line in opened:
            line.close()


def rest(line: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    got = b""
    try:
        while part := line.recv(65_536):
            got += part
    except (ConnectionResetError, BrokenPipeError):
        pass
    return got


def is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        line.settimeout(20)


def one_answer(line: socket.socket) -> int:
    """The status of an answer, which is read to its end."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = line.recv(65_536)
        assert part, got
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += line.recv(65_536)
    return int(head.split()[1])


def refusal(got: bytes) -> tuple[int, str]:
    """The status and the sentence of an answer that was made in front of the application."""
    head, _, body = got.partition(b"\r\n\r\n")
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields[b"connection"] == b"close"
    assert int(fields[b"content-length"]) == len(body)
    assert fields[b"Content-Security-Policy"].startswith(b"default-src 'none'")
    return int(head.split()[1]), body.decode().strip()


def visit(site: Site) -> None:
    """What anybody else is answered meanwhile, on a new connection."""
    assert site.ask("/").status == 200
    assert site.ask("/api/clusters").status == 200


# -- headers


def test_a_header_that_does_not_end_in_time(inside: Any) -> None:
    with inside(header_seconds=0.5) as site, lines(site, 3, HALF) as (silent, steady, asked):
        done = threading.Event()

        def trickle() -> None:
            while not done.wait(0.05):
                try:
                    steady.send(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            for line in (silent, steady):
                got = rest(line)
                assert not got or refusal(got) == (408, "the header did not arrive within 0.5 seconds")
        finally:
            done.set()
            thread.join()
        assert refusal(rest(asked))[0] == 408
        with lines(site, 1, GET + HALF) as [again]:  # the second request of a connection
            assert one_answer(again) == 200
            assert refusal(rest(again))[0] == 408
        visit(site)


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"\r\n\r\n\r\n"])
def test_who_asks_for_nothing_is_told_nothing(inside: Any, sent: bytes) -> None:
    with inside(header_seconds=0.3, idle_seconds=0.3) as site:
        with lines(site, 1, sent) as [line]:
            assert rest(line) == b""
        with lines(site, 1, GET) as [line]:
            assert one_answer(line) == 200
            line.sendall(sent)
            assert rest(line) == b""
        visit(site)


@pytest.mark.parametrize(
    "sent",
    [
        HALF + b"x" * 100_000, GET[:-2] + b"X: y\r\n" * 200, b"GET /" + b"x" * 100_000, b"x" * 100_000,
        HALF + b"x" * 70_000 + b"\r\n\r\n", b"GET /?" + b"x" * 70_000 + GET[5:],
        post(0)[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ") + b"x" * 1_000_000,
        post(0)[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked\r\n\r\n1;x=") + b"x" * 1_000_000,
    ],
    ids=["field", "fields", "address", "word", "whole field", "whole address", "trailer", "extension"],
)  # fmt: skip
def test_a_header_that_is_too_large(inside: Any, sent: bytes) -> None:
    with inside(header_seconds=LONG) as site:
        with lines(site, 1, sent) as [line]:
            status, sentence = refusal(rest(line))
        assert (status, sentence) in (
            (431, "the header is larger than 65,536 bytes, or has more than 128 fields"),
            (400, "this is not a valid HTTP request"),
        )
        assert (status == 400) == (sent[:2] == b"xx")
        visit(site)


def test_a_header_that_just_fits(inside: Any) -> None:
    with inside() as site:
        with lines(site, 1, HALF + b"x" * 65_000 + b"\r\n\r\n") as [line]:
            assert one_answer(line) == 200
        with lines(site, 1, GET[:-2] + b"X: y\r\n" * 120 + b"\r\n") as [line]:
            assert one_answer(line) == 200


def test_a_header_of_64_megabytes_takes_no_memory(inside: Any) -> None:
    with inside() as site:
        before = psutil.Process().memory_info().rss
        with lines(site, 4, HALF) as opened:
            for line in opened:
                try:
                    for _ in range(1024):
                        line.sendall(b"x" * 65_536)
                except OSError:
                    pass
                got = rest(line)
                assert not got or refusal(got)[0] == 431
        assert psutil.Process().memory_info().rss - before < 2**26
        visit(site)


# -- too many


def test_half_headers_make_room_for_each_other(inside: Any) -> None:
    with inside(header_seconds=LONG, connections=100, of_one_address=5) as site, lines(site, 20, HALF) as opened:
        for line in opened[:15]:
            assert refusal(rest(line)) == (
                429, "your address has too many connections; close some or try again later"
            )  # fmt: skip
        assert all(is_open(line) for line in opened[16:])
        for _ in range(10):
            visit(site)


def test_the_server_has_a_limit_too(inside: Any) -> None:
    with inside(header_seconds=LONG, connections=5, of_one_address=100) as site, lines(site, 20, HALF) as opened:
        for line in opened[:15]:
            assert refusal(rest(line)) == (503, "the server has too many connections; try again in a moment")
        for _ in range(10):
            visit(site)


def test_idle_connections_make_room_for_new_ones(inside: Any) -> None:
    with inside(header_seconds=LONG, idle_seconds=LONG, of_one_address=5) as site, lines(site, 5) as asked:
        for line in asked:  # in turn: who was answered first makes room first
            line.sendall(GET)
            assert one_answer(line) == 200
        for _ in range(10):
            visit(site)
        assert rest(asked[0]) == b""
        assert all(is_open(line) for line in asked[1:])
        with lines(site, 5, GET) as others:
            assert [one_answer(line) for line in others] == [200] * 5
            assert [rest(line) for line in asked[1:]] == [b""] * 4


def test_who_has_asked_keeps_the_place(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    free, found = threading.Event(), check.check

    def slow(store: Any, text: str) -> Any:
        assert free.wait(20)
        return found(store, text)

    monkeypatch.setattr(check, "check", slow)
    body = json.dumps({"text": "the bridge"}).encode()
    with inside(header_seconds=LONG, of_one_address=12) as site:
        with lines(site, 4, post(len(body)) + body) as asking, lines(site, 30, HALF) as silent:
            for _ in range(5):
                assert site.ask("/").status == 200
            assert all(is_open(line) for line in asking)
            with ExitStack() as stack:
                for _ in range(12):  # nobody is refused, even if all have asked
                    [more] = stack.enter_context(lines(site, 1, post(len(body)) + body))
                    assert site.ask("/").status == 200
                assert refusal(rest(silent[-4]))[0] == 429
                assert refusal(rest(asking[0]))[0] == 429
                [new] = stack.enter_context(lines(site, 1))
                for _ in range(5):
                    assert site.ask("/").status == 200
                new.sendall(GET)
                assert one_answer(new) == 200
                free.set()
                assert one_answer(more) == 200
        visit(site)


def test_many_files_are_not_needed(embedded_collection: Any, tmp_path: Path) -> None:
    code = (
        "import resource, runpy\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))\n"
        "runpy.run_module('esdedup', run_name='__main__')\n"
    )
    with serving(embedded_collection.store, tmp_path / "log", code=code) as site:
        with lines(site, 400, HALF):
            for _ in range(5):
                visit(site)
        with lines(site, 400):
            visit(site)


def test_a_flood_without_a_token(inside: Any) -> None:
    token = "sixteen-letters-or-more"
    with inside(token=token) as site, lines(site, 20, LARGE * 10) as opened:
        for _ in range(3):
            assert site.ask("/api/clusters", headers={"Authorization": f"Bearer {token}"}).status == 200
        for line in opened:
            assert [one_refused(line) for _ in range(10)] == [401] * 10


def one_refused(line: socket.socket) -> int:
    """The status of one of several answers that have come together."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += line.recv(1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while length:
        length -= len(line.recv(length))
    return int(head.split()[1])


# -- answers that nobody takes


def test_who_takes_nothing_is_dropped(inside: Any) -> None:
    with inside(reader_seconds=0.5) as site, lines(site, 3, LARGE * 16, reads=False) as opened:
        begin = time.monotonic()
        visit(site)
        until(lambda: not any(c for c in connections(site) if c.status == "ESTABLISHED"))
        assert time.monotonic() - begin < 15
        assert all(len(rest(line)) < 16 * 30_000 for line in opened)
        visit(site)


def connections(site: Site) -> list[Any]:
    """The server's ends of its connections."""
    return [one for one in psutil.Process().net_connections("tcp") if one.laddr.port == site.port and one.raddr]


def test_who_takes_it_slowly_gets_it_all(inside: Any) -> None:
    with inside(reader_seconds=1.0) as site, lines(site, 1, LARGE * 16, reads=False) as [line]:
        begin = time.monotonic()
        for _ in range(16):
            time.sleep(0.2)
            assert one_refused(line) == 200
        assert time.monotonic() - begin > 3.0


def test_answers_that_nobody_takes_are_bounded_together(inside: Any) -> None:
    with inside(reader_seconds=LONG, answer_bytes=150_000) as site, lines(site, 6, LARGE * 16, reads=False) as opened:
        until(lambda: sum(one.status == "ESTABLISHED" for one in connections(site)) < len(opened))
        visit(site)


def test_many_requests_at_once_on_one_connection(inside: Any) -> None:
    with inside() as site:
        with lines(site, 1, LARGE * 16) as [line]:
            assert [one_refused(line) for _ in range(16)] == [200] * 16
        with lines(site, 1, GET * 1_000) as [line]:
            assert rest(line).count(b"HTTP/1.1 200") < 20
        visit(site)


# -- bodies


def test_bodies_are_bounded_together(inside: Any) -> None:
    with inside(Bodies(most=10_000, together=25_000)) as site:
        with lines(site, 5, post(10_000) + b'{"text": "' + b"x" * 9_000) as opened:
            until(lambda: sum(not is_open(line) or bool(peeked(line)) for line in opened) >= 3)
            refused = [line for line in opened if peeked(line)]
            for line in refused:
                assert one_answer(line) == 503
            assert len(refused) == 3
            assert site.post("/api/check", {"text": "x" * 2_000}).status == 200
            assert site.post("/api/check", {"text": "x" * 9_000}).status == 200  # for which another one has to go
        for _ in range(10):  # what has gone counts no more
            assert site.post("/api/check", {"text": "x" * 9_000}).status == 200
        told = site.post("/api/check", {"text": "x" * 10_000})
        assert (told.status, told.json) == (
            413,
            {"error": "the request is larger than 10,000 bytes; send less at once"},
        )


def peeked(line: socket.socket) -> bytes:
    line.setblocking(False)
    try:
        return line.recv(1, socket.MSG_PEEK)
    except OSError:
        return b""
    finally:
        line.settimeout(20)


def test_the_last_body_is_refused_if_the_others_are_whole(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()
    monkeypatch.setattr(check, "check", lambda *_: {"text": str(free.wait(20))})
    body = json.dumps({"text": "x" * 9_000}).encode()
    with inside(Bodies(most=10_000, together=25_000)) as site:
        try:
            with lines(site, 2, post(len(body)) + body):
                until(lambda: site.post("/api/check", {"text": "x" * 9_000}).status == 503)
                told = site.post("/api/check", {"text": "x" * 9_000})
                assert told.json == {"error": "the server is receiving too much at once; try again in a moment"}
                assert told.headers["retry-after"] == "1"
        finally:
            free.set()


def test_an_answer_does_not_wait_for_a_body(inside: Any) -> None:
    put = post(1_000).replace(b"POST", b"PUT")
    with inside() as site:
        with lines(site, 1, put) as [line]:
            assert one_answer(line) == 405
            line.sendall(b"x" * 1_000 + GET)
            assert one_answer(line) == 200
        with lines(site, 1, put + b"x") as [line]:
            assert one_answer(line) == 405
            assert rest(line) == b""  # the rest never comes, and is not waited for


def test_who_goes_away_with_half_a_body_is_no_error(one_site: Site) -> None:
    for path in ("/check", "/text", "/api/check", "/api/text", "/enter"):
        with lines(one_site, 2, post(99, path) + b'{"te'):
            pass
    with lines(one_site, 1, post(0, "/check")[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")) as [
        line
    ]:
        line.sendall(b"\r\n\r\n5\r\nhello\r\nno number\r\n")
        assert refusal(rest(line)) == (400, "this is not a valid HTTP request")
    visit(one_site)
    assert len(one_site.log.splitlines()) == 1, one_site.log
