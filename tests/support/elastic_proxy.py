"""A proxy between a client and a node that does what networks, gateways and full disks do, at the requests one names.

    with Proxy(elastic_url) as proxy:
        proxy.when(lambda request: request.path.endswith("/_bulk"), reset_after, times=2, after=1)
        ... a client that speaks to proxy.url: the answers to its second and third bulk request are lost ...
    assert proxy.done["reset_after"] == 2

Whatever no rule names is passed on as it came, bytes untouched. An action is a function of an `Exchange`; those below
that take no argument are used as they are, the others are made: `answer(503)`, `cut(100)`. What goes wrong in the proxy
itself, or in a rule, is raised at the end of the `with`.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import http.client
import json
import select
import socket
import ssl
import struct
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

Headers = list[tuple[str, str]]
PRODUCT = ("X-Elastic-Product", "Elasticsearch")
_OF_THE_CONNECTION = {
    "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a client asked."""

    ordinal: int
    """Which request it is, from 1."""
    method: str
    target: str
    headers: Mapping[str, str]
    """By name, in any case."""
    raw: bytes
    """The body as it came."""
    chunked: bool = False

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def body(self) -> bytes:
        """The body as it was meant."""
        return gzip.decompress(self.raw) if self.headers.get("content-encoding") == "gzip" else self.raw

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.raw else None


@dataclass(frozen=True)
class Answer:
    """What is answered."""

    status: int
    headers: Headers
    """All but those that are the connection's own."""
    raw: bytes = b""
    chunked: bool = False
    length: str | None = None
    """The length that an answer to HEAD tells, which has no body."""

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.raw) if self.header("content-encoding") == "gzip" else self.raw

    def with_json(self, value: Any) -> Answer:
        body = json.dumps(value, separators=(",", ":")).encode()
        return replace(self, raw=gzip.compress(body) if self.header("content-encoding") == "gzip" else body)


class Seen(NamedTuple):
    """A line of the proxy's log."""

    method: str
    path: str
    action: str
    """The name of what was done to it; empty if it was passed on."""


class NodeGoneError(Exception):
    """There is no node, or it broke off."""


# ---- what can be done to a request


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, proxy: Proxy, request: Request, handler: _Handler, action: str) -> None:
        self.proxy = proxy
        self.request = request
        self.answered = False
        self._handler = handler
        self._action = action

    def count(self) -> None:
        """Count the action as done, once; the others do it before the client can see anything of it."""
        if self._action:
            self.proxy.count(self._action)
            self._action = ""

    def forward(self, body: bytes | None = None, target: str | None = None) -> Answer:
        """The node's answer, to the request as it came or to another body."""
        request = self.request
        left_out = _OF_THE_CONNECTION | ({"content-encoding"} if body is not None else set())
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in left_out]
        return self.proxy.ask(
            request.method, target or request.target, headers, request.raw if body is None else body,
            chunked=request.chunked, always_length="content-length" in request.headers,
        )  # fmt: skip

    def send(self, answer: Answer, *, only: int | None = None) -> None:
        """Answer; with `only`, no more than so many bytes of the body that is announced, and then hang up."""
        bodiless = self.request.method == "HEAD" or answer.status in (204, 304)
        whole = answer.raw if only is None else answer.raw[:only]
        if bodiless:
            self._begin(answer, None if answer.status in (204, 304) else answer.length)
        elif answer.chunked and only is None:
            self._begin(answer, None)
            self._pieces(whole[start : start + 2**16] for start in range(0, len(whole), 2**16))
        else:
            self._begin(answer, str(len(answer.raw)), whole)
        if only is not None:
            self.hang_up()

    def stream(self, answer: Answer, pieces: Iterable[bytes]) -> None:
        """Answer with a body that is never held whole."""
        self._begin(replace(answer, chunked=True), None)
        self._pieces(pieces)

    def _begin(self, answer: Answer, length: str | None, body: bytes = b"") -> None:
        self.count()
        self.answered = True
        headers = list(answer.headers)
        if length is not None:
            headers.append(("Content-Length", length))
        elif answer.chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        if self._handler.close_connection:
            headers.append(("Connection", "close"))
        lines = [f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self._handler.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def _pieces(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self._handler.wfile.write(b"0\r\n\r\n")

    def hang_up(self) -> None:
        """End the connection as a server that is done with it."""
        self.count()
        self.answered = True
        self._handler.close_connection = True

    def reset(self) -> None:
        """End the connection as a server that has died."""
        self.hang_up()
        self._handler.reset()

    def pause(self, seconds: float) -> bool:
        """Wait; whether the proxy is still open."""
        return not self.proxy.closing.wait(seconds)

    def client_waits(self) -> bool:
        """Whether the client is still there: it says nothing while it waits, and hangs up when it no longer does."""
        return not select.select([self._handler.connection], [], [], 0)[0]


Action = Callable[[Exchange], None]


def forward(exchange: Exchange) -> None:
    """Pass it on, as if there were no rule."""
    exchange.send(exchange.forward())


def answer(
    status: int,
    body: Any = None,
    content_type: str | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    product: bool = True,
) -> Action:
    """Answer this instead of asking the node: text, bytes or JSON; without a body, Elasticsearch's own error."""

    def answer(exchange: Exchange) -> None:
        exchange.send(_made(exchange.request, status, body, content_type, headers, product=product))

    return answer


def change(edit: Callable[[Any], Any]) -> Action:
    """Pass it on, and change the JSON that comes back."""

    def change(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.send(answer.with_json(edit(json.loads(answer.body))))

    return change


def fail_items(status: int, error_type: str, every: int = 3, reason: str = "turned away by the proxy") -> Action:
    """Of a bulk request, keep every third item from the node, and answer that it failed so."""

    def fail_items(exchange: Exchange) -> None:
        request = exchange.request
        operations = list(_operations(request.body))
        failing = set(range(every - 1, len(operations), every))
        kept = b"".join(lines for number, (_, _, lines) in enumerate(operations) if number not in failing)
        if kept:
            answer = exchange.forward(kept, _without(request.target, "filter_path"))
            if answer.status != 200:
                exchange.send(answer)
                return
        else:  # the node would refuse an empty body
            answer = _made(request, 200, {"took": 0, "errors": False, "items": []})
        value = json.loads(answer.body)
        assert len(value["items"]) == len(operations) - len(failing)
        for number in sorted(failing):
            operation, about, _ = operations[number]
            index = about.get("_index", request.path.strip("/").split("/")[0])
            error = {"type": error_type, "reason": reason}
            item = {"_index": index, "_id": about.get("_id"), "status": status, "error": error}
            value["items"].insert(number, {operation: item})
        value["errors"] = value["errors"] or bool(failing)
        if fields := request.query.get("filter_path"):
            value = _filtered(value, [path.split(".") for path in fields.split(",")])
        exchange.proxy.count("failed_items", len(failing))
        exchange.send(answer.with_json(value))

    return fail_items


def reset_before(exchange: Exchange) -> None:
    """The connection dies before the node has seen the request."""
    exchange.reset()


def reset_after(exchange: Exchange) -> None:
    """The node does what it is asked, and the connection dies before the answer."""
    exchange.forward()
    exchange.reset()


def cut(size: int | None = None) -> Action:
    """The connection ends after so many bytes of the answer's body, or half of them."""

    def cut(exchange: Exchange) -> None:
        answer = exchange.forward()
        only = len(answer.raw) // 2 if size is None else size
        assert only < len(answer.raw), f"the answer has {len(answer.raw)} bytes; {only} do not cut it"
        exchange.send(answer, only=only)

    return cut


def silence(seconds: float, *, before: bool = False) -> Action:
    """The node has done what it was asked, but nothing is heard of it for so long.

    With `before`, the request waits, and comes to the node only if the client still waits for it then.
    """

    def silence(exchange: Exchange) -> None:
        answer = None if before else exchange.forward()
        exchange.count()
        if exchange.pause(seconds) and exchange.client_waits():
            exchange.send(answer or exchange.forward())
        else:
            exchange.hang_up()

    return silence


def drop_page(exchange: Exchange) -> None:
    """The node answers, and its answer is lost on the way."""
    exchange.forward()
    exchange.send(_made(exchange.request, 503))


def huge(size: int) -> Action:
    """Answer a search with so many bytes of hits."""

    def huge(exchange: Exchange) -> None:
        exchange.stream(_made(exchange.request, 200, b""), _hits(size))

    return huge


# ---- who may ask


Auth = Callable[[Request], str | None]
"""Why a request may not be made; None if it may."""


def require_basic(user: str, password: str) -> Auth:
    expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def denied(request: Request) -> str | None:
        if request.headers.get("authorization") == expected:
            return None
        return _missing(request) or f"unable to authenticate user [{_user(request)}] for REST request [{request.path}]"

    return denied


def require_api_key(key: str) -> Auth:
    def denied(request: Request) -> str | None:
        if request.headers.get("authorization") == f"ApiKey {key}":
            return None
        return _missing(request) or (
            "unable to authenticate with provided credentials and anonymous access is not allowed for this request"
        )

    return denied


def _missing(request: Request) -> str | None:
    if "authorization" in request.headers:
        return None
    return f"missing authentication credentials for REST request [{request.path}]"


def _user(request: Request) -> str:
    scheme, _, code = request.headers["authorization"].partition(" ")
    return base64.b64decode(code).decode("utf-8", "replace").split(":")[0] if scheme == "Basic" else "?"


def unauthorized(reason: str) -> Action:
    """Elasticsearch's answer to those it does not know."""

    def unauthorized(exchange: Exchange) -> None:
        ways = ['Basic realm="security", charset="UTF-8"', "ApiKey"]
        error = {"type": "security_exception", "reason": reason, "header": {"WWW-Authenticate": ways}}
        answer = _made(exchange.request, 401, {"error": {"root_cause": [error], **error}, "status": 401})
        exchange.send(replace(answer, headers=answer.headers + [("WWW-Authenticate", way) for way in ways]))

    return unauthorized


# ---- the proxy


@dataclass
class Rule:
    """What is done at which requests."""

    matches: Callable[[Request], bool]
    action: Action
    times: int | None
    after: int
    seen: int = 0
    """How many requests it has matched."""

    def due(self, request: Request) -> bool:
        if not self.matches(request):
            return False
        self.seen += 1
        return self.seen > self.after and (self.times is None or self.seen <= self.after + self.times)


@dataclass(eq=False)
class Proxy:
    """Listens on a port of its own, and passes everything on to a node but what rules name."""

    upstream_url: str
    tls: bool = field(default=False, kw_only=True)
    auth: Auth | None = field(default=None, kw_only=True)
    ca_file: Path = field(init=False)
    """With TLS: the certificate of the authority, for clients that are to trust it."""
    fingerprint: str = field(init=False)
    """With TLS: SHA-256 of the server's own certificate, in hex."""
    done: Counter[str] = field(default_factory=Counter, init=False)
    """How often each action was done, by its name; beside them `failed_items`, `unauthorized` requests, `node_gone`
    where the node could not be reached, and `no_handshake` where TLS came to nothing."""
    log: list[Seen] = field(default_factory=list, init=False)
    """Every request, in the order of their ordinals."""
    closing: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        upstream = urlsplit(self.upstream_url)
        assert upstream.scheme == "http"
        assert upstream.hostname
        self._upstream = (upstream.hostname, upstream.port or 80)
        self._lock = threading.RLock()
        self._rules: list[Rule] = []
        self._failures: list[BaseException] = []
        self._to_node: set[socket.socket] = set()

    def __enter__(self) -> Proxy:
        with contextlib.ExitStack() as stack:
            self._server = stack.enter_context(_Server(self, self._certificate(stack) if self.tls else None))
            thread = threading.Thread(target=self._server.serve_forever, args=[0.02])
            thread.start()
            stack.callback(thread.join)
            stack.callback(self._close)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        if self._failures and error is None:
            raise self._failures[0]

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> int:
        """How many have come, those included that were turned away."""
        return len(self.log)

    def when(self, matches: Callable[[Request], bool], action: Action, times: int | None = 1, after: int = 0) -> Rule:
        """Do this at the next `times` requests that match, but for the first `after`; None: at all of them.

        Rules are asked in the order in which they were made; the first that is due acts, and later ones do not see the
        request.
        """
        rule = Rule(matches, action, times, after)
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        """Forget all rules."""
        with self._lock:
            self._rules.clear()

    def count(self, name: str, more: int = 1) -> None:
        with self._lock:
            self.done[name] += more

    def ask(
        self,
        method: str,
        target: str,
        headers: Headers,
        body: bytes,
        *,
        chunked: bool = False,
        always_length: bool = False,
    ) -> Answer:
        """The node's answer, on a connection of its own."""
        connection = http.client.HTTPConnection(*self._upstream, timeout=120)
        try:
            connection.connect()
        except OSError as error:
            raise NodeGoneError from error
        own = connection.sock  # the connection lets go of it with the answer
        try:
            with self._lock:
                self._to_node.add(own)
                if self.closing.is_set():
                    raise NodeGoneError
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
            elif body or always_length:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None, encode_chunked=chunked)
            with connection.getresponse() as response:
                return Answer(
                    response.status,
                    [(name, value) for name, value in response.getheaders() if name.lower() not in _OF_THE_CONNECTION],
                    response.read(),
                    chunked=response.getheader("Transfer-Encoding") == "chunked",
                    length=response.getheader("Content-Length"),
                )
        except (OSError, http.client.HTTPException) as error:
            raise NodeGoneError from error
        finally:
            with self._lock:
                self._to_node.discard(own)
            connection.close()

    def serve(self, handler: _Handler, method: str, target: str, headers: Any, raw: bytes, chunked: bool) -> None:
        """Answer a request by what the rules say."""
        with self._lock:
            request = Request(len(self.log) + 1, method, target, headers, raw, chunked)
            action: Action = forward
            try:
                reason = self.auth(request) if self.auth else None
                if reason is not None:
                    action = unauthorized(reason)
                else:
                    action = next((rule.action for rule in self._rules if rule.due(request)), forward)
            except Exception as error:
                self.fail(error)
            name = "" if action is forward else getattr(action, "__name__", type(action).__name__)
            self.log.append(Seen(method, request.path, name))
        exchange = Exchange(self, request, handler, name)
        try:
            action(exchange)
            assert exchange.answered, f"{name} has neither answered nor hung up"
        except NodeGoneError:
            self.count("node_gone")
            exchange.reset()
        except OSError:
            raise  # the client has gone
        except Exception as error:
            self.fail(error)
            exchange.reset()

    def fail(self, error: BaseException) -> None:
        with self._lock:
            self._failures.append(error)

    def _close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        with self._lock:
            sockets = [*self._server.clients, *self._to_node]
        for one in sockets:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(one, socket.SHUT_RDWR)  # of TLS, too, without a word to the other side

    def _certificate(self, stack: contextlib.ExitStack) -> ssl.SSLContext:
        import trustme  # only these tests pay for it

        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        authority = trustme.CA()
        certificate = authority.issue_cert("127.0.0.1", "localhost")
        self.ca_file = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.ca_file))
        der = ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())
        self.fingerprint = hashlib.sha256(der).hexdigest()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        return context


class _Server(ThreadingHTTPServer):
    """Threads end with the server: none is left behind."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, proxy: Proxy, context: ssl.SSLContext | None) -> None:
        self.proxy = proxy
        self.clients: set[socket.socket] = set()
        self._context = context
        super().__init__(("127.0.0.1", 0), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        client, address = super().get_request()
        if self._context:
            # not here: one client that says nothing must not keep the others out
            client = self._context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
        with self.proxy._lock:
            self.clients.add(client)
        return client, address

    def shutdown_request(self, request: Any) -> None:
        with self.proxy._lock:
            self.clients.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        assert error
        self.proxy.fail(error)


class _Handler(BaseHTTPRequestHandler):
    """Reads requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client has gone
            if isinstance(self.connection, ssl.SSLSocket):
                try:
                    self.connection.do_handshake()
                except OSError:
                    self.server.proxy.count("no_handshake")
                    raise
            super().handle()

    def do_any(self) -> None:
        chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        body = b"".join(self._chunks()) if chunked else self._read(int(self.headers.get("Content-Length") or 0))
        self.server.proxy.serve(self, self.command, self.path, self.headers, body, chunked)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_any  # noqa: N815

    def _read(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionError("the client has gone")
        return data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self._read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass

    def reset(self) -> None:
        """Close at once: without lingering, this is no end but a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.connection.close()

    def log_message(self, *_: object) -> None:
        pass


# ---- bodies


def _made(
    request: Request,
    status: int,
    body: Any = None,
    content_type: str | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    product: bool = True,
) -> Answer:
    """An answer as the node would give it."""
    if body is None:
        kind = {429: "es_rejected_execution_exception", 404: "resource_not_found_exception"}.get(status, "exception")
        error = {"type": kind, "reason": "so says the proxy"}
        body = {"error": {"root_cause": [error], **error}, "status": status}
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if content_type is None:
        accepted = request.headers.get("accept", "")
        content_type = accepted if "json" in accepted and "," not in accepted else "application/json"
    own = {"Content-Type": content_type, **dict([PRODUCT] if product else []), **(headers or {})}
    return Answer(status, list(own.items()), body, length=str(len(body)))


def _operations(body: bytes) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """The items of a bulk request: what to do, with which document, and the lines that say so."""
    lines = iter(line + b"\n" for line in body.split(b"\n") if line.strip())
    for line in lines:
        [(operation, about)] = json.loads(line).items()
        yield operation, about, line if operation == "delete" else line + next(lines)


def _without(target: str, parameter: str) -> str:
    parts = urlsplit(target)
    query = "&".join(part for part in parts.query.split("&") if part.split("=")[0] not in ("", parameter))
    return parts._replace(query=query).geturl()


def _filtered(value: Any, paths: list[list[str]]) -> Any:
    """What `filter_path` leaves of a value; of patterns it knows `*` for one name."""
    if any(not path for path in paths):
        return value
    if isinstance(value, list):
        return [kept for item in value if (kept := _filtered(item, paths)) not in ({}, [], None)]
    if not isinstance(value, dict):
        return None
    left = {}
    for key, item in value.items():
        further = [path[1:] for path in paths if path[0] in (key, "*")]
        if further and ((kept := _filtered(item, further)) not in ({}, [], None) or any(not path for path in further)):
            left[key] = kept
    return left


def _hits(size: int) -> Iterator[bytes]:
    """The answer to a search, of exactly so many bytes."""
    head = (
        b'{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},'
        b'"hits":{"total":{"value":1,"relation":"gte"},"max_score":null,"hits":['
    )
    tail = b"]}}"
    hit = b'{"_index":"huge","_id":"0","_score":null,"_source":{"text":"%b"}}' % (b"x" * 1000)
    left = size - len(head) - len(tail)
    count = (left + 1) // (len(hit) + 1)
    assert count > 0, f"an answer of {size} bytes is not huge"
    yield head + hit
    block = (b"," + hit) * 64
    for _ in range((count - 1) // 64):
        yield block
    rest = (b"," + hit) * ((count - 1) % 64)
    yield rest + b" " * (left - count * (len(hit) + 1) + 1) + tail
