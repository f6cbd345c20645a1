"""Whom the server lets in, what it refuses, and what it says to browsers with every answer."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from esdedup.web.bodies import MOST_BYTES, Bodies
from esdedup.web.guard import COOKIE
from tests.support.commands import said
from tests.system.web.conftest import Collection
from tests.system.web.corpus import SCRIPT
from tests.system.web.inside import running
from tests.system.web.served import ROOT, Site, serving

TOKEN = 'a-token;with,signs="and\\quotes"'
FOREIGN = (
    "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example", "", "127.0.0.1:80@evil",
    "evil@127.0.0.1", "[::1", "[::1].evil", "127.0.0.1:port", "127.0.0.1/x", "0.0.0.0", "2130706433", "localhost.",
)  # fmt: skip


@pytest.fixture(scope="module")
def closed(embedded_collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that asks for a token, and is asked for by another name."""
    folder = tmp_path_factory.mktemp("closed")
    with serving(
        embedded_collection.store, folder / "log", "--allow-host", "Corpus.Example", ESDEDUP_SERVE_TOKEN=TOKEN
    ) as site:
        yield site


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_names_are_refused(one_site: Site, host: str) -> None:
    told = one_site.ask("/api/clusters", headers={"Host": host})
    assert told.status in (400, 421)
    if told.status == 421:
        assert list(told.json) == ["error"]
    for path in ("/", "/clusters", "/clusters/", "/assets/x/page.css"):
        shown = one_site.ask(path, headers={"Host": host, "Accept": "text/html"})
        assert shown.status == told.status
        assert "location" not in shown.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8765"])
def test_names_of_this_machine_are_known(one_site: Site, host: str) -> None:
    assert one_site.ask("/api/clusters", headers={"Host": host}).status == 200


def test_two_hosts_and_none(one_site: Site) -> None:
    for lines in (b"Host: 127.0.0.1\r\nHost: evil.example\r\n", b"Host: evil.example\r\nHost: 127.0.0.1\r\n", b""):
        got = one_site.raw(b"GET /api/overview HTTP/1.1\r\n" + lines + b"Connection: close\r\n\r\n")
        assert got.split(b" ", 2)[1] in (b"400", b"421", b"200")
        assert b"evil" not in got
    got = one_site.raw(
        b"GET http://evil.example/api/overview HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    assert got.split(b" ", 2)[1] in (b"400", b"421")


def test_another_name_is_let_in(closed: Site, one_site: Site) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert closed.ask("/api/clusters", headers={"Host": "corpus.example:80", **bearer}).status == 200
    assert closed.ask("/api/clusters", headers={"Host": "other.example", **bearer}).status == 421
    assert one_site.ask("/api/clusters", headers={"Host": "corpus.example"}).status == 421


@pytest.mark.parametrize("path", ["/api/overview", "/api/openapi.json", "/clusters", "/templates", "/api", "/x"])
def test_without_the_token_nothing_is_shown(closed: Site, path: str) -> None:
    told = closed.ask(path)
    assert told.status == 401
    assert told.headers["www-authenticate"] == "Bearer"
    shown = closed.ask(path, headers={"Accept": "text/html,*/*"})
    assert (shown.status, shown.headers["location"]) == (303, f"/enter?next={quote(path, safe='')}")
    for wrong in ("", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"bearer {TOKEN[:-1]}", "Bearer é"):
        header = wrong.encode("latin-1").decode("latin-1")
        assert closed.ask(path, headers={"Authorization": header, "Cookie": "x=y"}).status == 401
    for cookie in ("", ";;;", f"{COOKIE}=", f"{COOKIE}=wrong", f'{COOKIE}="', "\x80=\xff", f"{COOKIE}\t=1; x"):
        assert closed.ask(path, headers={"Cookie": cookie}).status == 401


def test_refusals_in_json_below_the_api(closed: Site) -> None:
    assert list(closed.ask("/api/overview").json) == ["error"]
    assert closed.ask("/overview").kind == "text/html"
    assert closed.ask("/api/check", method="POST", body={"text": SCRIPT}).status == 401


def test_the_token_is_described_where_there_is_one(closed: Site, one_site: Site) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    told = closed.ask("/api/openapi.json", headers=bearer).json
    assert told["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert told["paths"]
    assert all(one["security"] == [{"HTTPBearer": []}] for some in told["paths"].values() for one in some.values())
    assert "securitySchemes" not in one_site.api("/openapi.json")["components"]


def test_entering_by_the_form(closed: Site) -> None:
    page = closed.ask("/enter")
    assert page.status == 200
    assert "password" in page.text
    style = page.text.split('href="/assets/')[1].split('"')[0]
    assert closed.ask(f"/assets/{style}").status == 200
    wrong = closed.form("/enter", token=TOKEN + "x")
    assert (wrong.status, wrong.headers["location"]) == (303, "/enter?wrong=1")
    assert "set-cookie" not in wrong.headers
    assert "This token is wrong" in closed.ask("/enter?wrong=1").text
    right = closed.form("/enter", token=TOKEN)
    assert (right.status, right.headers["location"]) == (303, "/")
    cookie = right.headers["set-cookie"]
    attributes = {part.strip().lower() for part in cookie.rsplit(";", 3)[1:]}
    assert attributes == {"httponly", "path=/", "samesite=strict"}
    held = {"Cookie": cookie.rsplit(";", 3)[0]}
    assert closed.ask("/clusters", headers=held).status == 200
    assert closed.ask("/api/clusters", headers=held).status == 200


def test_the_way_leads_on_to_what_was_asked_for(closed: Site) -> None:
    wanted = "/clusters?kind=drift&text=%22the+bridge%22%26x"
    entrance = closed.ask(wanted, headers={"Accept": "text/html"}).headers["location"]
    [kept] = re.findall('name="next" value="([^"]*)"', closed.ask(entrance).text)
    assert unescape(kept) == wanted
    again = closed.form("/enter", token=TOKEN + "x", next=wanted).headers["location"]
    assert again.startswith("/enter?wrong=1&next=")
    assert f'value="{kept}"' in closed.ask(again).text
    assert closed.form("/enter", token=TOKEN, next=wanted).headers["location"] == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "", "/", "//evil.example", "/\\evil.example", "https://evil.example", "evil.example", "/\t/evil.example",
        "/a\r\nSet-Cookie: x=y", "/é", "javascript:alert(1)", "/" + "x" * 5_000, "/./\\evil",
    ],
)  # fmt: skip
def test_it_leads_nowhere_else(closed: Site, wanted: str) -> None:
    assert closed.form("/enter", token=TOKEN, next=wanted).headers["location"] == "/"
    shown = closed.form("/enter", token="wrong", next=wanted)
    assert shown.headers["location"] == "/enter?wrong=1"


@pytest.mark.parametrize(
    "body", [b"", b"token", b"\xff\xfe=\x00", b"a=1&" * 50, b"token=" + b"x" * 10_000], ids=range(5)
)
def test_what_no_form_sends_opens_nothing(closed: Site, body: bytes) -> None:
    told = closed.ask("/enter", method="POST", body=body)
    assert told.status in (303, 400)
    assert "set-cookie" not in told.headers


def test_a_form_that_is_too_long(closed: Site) -> None:
    chunks = (b"x" * 65_536 for _ in range(50))
    assert closed.ask("/enter", method="POST", body=chunks).status == 413


@pytest.mark.parametrize(
    ("options", "token", "reason"),
    [
        (("--host", "0.0.0.0"), "", "ESDEDUP_SERVE_TOKEN"),
        (("--host", "::"), "", "ESDEDUP_SERVE_TOKEN"),
        (("--host", "corpus.example"), "", "ESDEDUP_SERVE_TOKEN"),
        ((), "short", "16 characters"),
        ((), "sixteen spaces   ", "ASCII"),
        ((), "sechzehn äußerste", "ASCII"),
        ((), "sixteen\tor\nmore\x07", "ASCII"),
    ],
)
def test_a_server_that_would_not_be_safe_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], token: str, reason: str
) -> None:
    monkeypatch.setenv("ESDEDUP_SERVE_TOKEN", token)
    done = said("serve", "--store", tmp_path / "not-looked-at", "--port", "0", *options)
    assert done.code == 2, done
    assert reason in done.err
    assert len(done.err.splitlines()) == 1


def test_a_port_that_is_taken(one_site: Site) -> None:
    command = [sys.executable, "-m", "esdedup", "serve", "--store", one_site.store, "--port", str(one_site.port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "choose another --port" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_answer_says_what_browsers_may_do(one_site: Site) -> None:
    style = one_site.ask("/").text.split('href="/assets/')[1].split('"')[0]
    answers = {path: one_site.ask(path) for path in (*one_site.pages(), "/api/overview", "/x", "/api/x")}
    answers |= {
        f"{method} /": one_site.ask("/", method=method) for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")
    }
    answers["host"] = one_site.ask("/", headers={"Host": "evil.example"})
    answers["large"] = one_site.ask("/check", method="POST", body=b"x" * (MOST_BYTES + 1))
    answers["invalid"] = one_site.ask("/api/clusters?min_size=x")
    answers["assets"] = one_site.ask(f"/assets/{style}")
    answers["no asset"] = one_site.ask("/assets/x/../../guard.py")
    answers["head"] = one_site.ask("/clusters", method="HEAD")
    for name, answer in answers.items():
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'", name
        assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'", name
        assert answer.headers["x-content-type-options"] == "nosniff", name
        assert answer.headers["referrer-policy"] == "no-referrer", name
        assert answer.headers["x-frame-options"] == "DENY", name
        kept = answer.headers.get("cache-control", "")
        assert ("immutable" in kept) if name == "assets" else name == "no asset" or kept == "no-store", name
        assert "server" not in answer.headers, name
        assert "access-control-allow-origin" not in answer.headers, name
    assert answers["head"].status == 200
    assert answers["head"].body == b""
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert answers[f"{method} /"].status == 405
    assert answers["no asset"].status == 404
    for page in one_site.pages():
        assert " style=" not in answers[page].text, page
        assert "<script>" not in answers[page].text, page
        assert " onclick" not in answers[page].text, page


def test_ten_megabytes_at_once(one_site: Site) -> None:
    much = (SCRIPT + " ").encode() * (10 * 2**20 // len(SCRIPT))
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    as_json = {"Content-Type": "application/json"}
    for path, headers in (("/text", form), ("/check", form), ("/api/text", as_json), ("/api/check", as_json)):
        for body in (much, iter([much[at : at + 65_536] for at in range(0, len(much), 65_536)])):
            begin = time.monotonic()
            try:
                told = one_site.ask(path, method="POST", body=body, headers=headers)
            except (BrokenPipeError, ConnectionResetError):
                continue  # it did not wait for the rest
            assert told.status == 413, (path, told)
            assert time.monotonic() - begin < 5
    assert one_site.ask("/").status == 200


LINES = (
    b"GET /" + b"x" * 100_000 + b" HTTP/1.1", b"GET /clusters?text=" + b"%41" * 30_000 + b" HTTP/1.1",
    b"GET /clusters?text=%00%ff%fe%c3%28 HTTP/1.1", b"GET /clusters?text=\xff\xfe HTTP/1.1",
    b"GET /articles/\xe9 HTTP/1.1",
    b"GET /articles/%ff%00%0d%0aSet-Cookie:x=1 HTTP/1.1", b"GET /clusters?kind=%0d%0aX-Evil:1 HTTP/1.1",
    b"GET /articles/" + b"%2e%2e%2f" * 200 + b"etc/passwd HTTP/1.1", b"GET /clusters?" + b"a=1&" * 5_000 + b" HTTP/1.1",
    b"GET //evil.example/ HTTP/1.1", b"GET /clusters/ HTTP/1.1", b"GET /%2f%2fevil.example/%2e%2e HTTP/1.1",
    b"GET * HTTP/1.1", b"CONNECT 127.0.0.1:1 HTTP/1.1", b"G\x00T / HTTP/1.1", b"\x16\x03\x01\x02\x00",
    b"GET / HTTP/9.9",
    b"GET /articles/odd%2Fscript%3Fx%23y HTTP/1.1", b"GET /[:: HTTP/1.1", b"GET /api/articles/[::1 HTTP/1.1",
    b"POST /check HTTP/1.1\r\nContent-Length: -1", b"POST /check HTTP/1.1\r\nContent-Length: " + b"9" * 400,
    b"POST /check HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
    b"POST /check HTTP/1.1\r\nTransfer-Encoding: chunked, identity",
    b"GET / HTTP/1.1\r\nX-Long: " + b"y" * 200_000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"C: d",
    b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==",
)  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_requests_that_are_none(one_site: Site, line: bytes) -> None:
    try:
        got = one_site.raw(line + b"\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    except (BrokenPipeError, ConnectionResetError):
        got = b""
    head = got.split(b"\r\n\r\n")[0].lower()
    assert not got or got.split(b" ", 2)[1][:1] in (b"2", b"3", b"4"), got[:200]
    assert b"\r\nset-cookie" not in head
    assert b"\r\nx-evil" not in head
    assert b"evil.example" not in head
    assert one_site.ask("/api/clusters").status == 200


def test_half_a_request_stops_nobody(one_site: Site) -> None:
    lines = [socket.create_connection(("127.0.0.1", one_site.port)) for _ in range(100)]
    try:
        for at, line in enumerate(lines):
            half = b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n"
            line.sendall(half + b'\r\n{"te' if at % 2 else half[:40])
        for _ in range(5):
            begin = time.monotonic()
            assert one_site.post("/api/check", {"text": SCRIPT}).status == 200
            assert time.monotonic() - begin < 5
    finally:
        for line in lines:
            line.close()
    assert one_site.ask("/").status == 200


def test_a_body_that_never_comes_is_waited_for_in_vain(collections: Any) -> None:
    with running(collections("embedded").store, bodies=Bodies(seconds=0.5)) as (site, _):
        for path in (b"/api/check", b"/check"):
            head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 99\r\n" % path
            got = site.raw(head + b'Content-Type: application/json\r\n\r\n{"te')
            assert got.startswith(b"HTTP/1.1 408 "), got
            assert b"within 0.5 seconds" in got


def test_it_listens_on_this_machine_alone(one_site: Site) -> None:
    told = Path(f"/proc/{one_site.process.pid}/net/tcp").read_text()
    mine = [row.split()[1] for row in told.splitlines()[1:] if row.split()[1].endswith(f":{one_site.port:04X}")]
    assert {row.split(":")[0] for row in mine} == {"0100007F"}
