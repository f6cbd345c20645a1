"""The proxy of the tests: every action as a client sees it, and what the node behind it has seen."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from elastic_transport import TlsError
from elasticsearch import (
    ApiError,
    AuthenticationException,
    ConnectionError,
    ConnectionTimeout,
    Elasticsearch,
    UnsupportedProductError,
    helpers,
)

from tests.support.elastic_proxy import (
    Action,
    Auth,
    Exchange,
    Proxy,
    Request,
    answer,
    change,
    cut,
    drop_page,
    fail_items,
    huge,
    require_api_key,
    require_basic,
    reset_after,
    reset_before,
    silence,
)

TYPE_OF_A_CONFLICT = "version_conflict_engine_exception"
JSON = "application/vnd.elasticsearch+json;compatible-with=9"


class Node(ThreadingHTTPServer):
    """What little of a node is needed: documents, a scroll over ten numbers, and an echo."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.written: list[str] = []
        self.scrolls: dict[str, int] = {}
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        if path.endswith("_bulk"):
            return 200, {"took": 1, "errors": False, "items": [self.write(line) for line in body.splitlines()[::2]]}
        if method == "DELETE":
            [scroll] = json.loads(body)["scroll_id"]
            found = self.scrolls.pop(scroll, None) is not None
            return 200 if found else 404, {"succeeded": found, "num_freed": int(found)}
        if path.endswith("_search"):
            self.scrolls["one"] = 0
            return 200, self.page("one")
        if path == "/_search/scroll":
            scroll = json.loads(body)["scroll_id"]
            return (200, self.page(scroll)) if scroll in self.scrolls else (404, {"error": "no such scroll"})
        return 200, {"said": body.decode("latin-1")}

    def write(self, line: bytes) -> dict[str, Any]:
        [(operation, about)] = json.loads(line).items()
        self.written.append(about["_id"])
        return {operation: {"_index": "i", "_id": about["_id"], "_version": 1, "status": 201}}

    def page(self, scroll: str) -> dict[str, Any]:
        start = self.scrolls[scroll]
        self.scrolls[scroll] += 3
        hits = [{"_id": str(number)} for number in range(start, min(start + 3, 10))]
        return {"_scroll_id": scroll, "_shards": {"total": 1, "successful": 1, "failed": 0}, "hits": {"hits": hits}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Node

    def do_any(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        self.server.asked.append((self.command, self.path))
        self.server.bodies.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        status, value = self.server.reply(self.command, path, plain)
        content = json.dumps(value).encode()
        packed = "gzip" in self.headers.get("Accept-Encoding", "")
        if packed:
            content = gzip.compress(content, mtime=0)
        self.send_response(status)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", JSON)
        self.send_header("X-Twice", "one")
        self.send_header("X-Twice", "two")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        if path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for byte in content:
                self.wfile.write(b"1;x=y\r\n%c\r\n" % byte)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_any  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def running() -> Iterator[Node]:
    with Node() as node:
        thread = threading.Thread(target=node.serve_forever, args=[0.02])
        thread.start()
        yield node
        node.shutdown()
        thread.join()


@pytest.fixture
def node(running: Node) -> Node:
    for noted in (running.asked, running.bodies, running.headers, running.written, running.scrolls):
        noted.clear()
    return running


@pytest.fixture
def proxy(node: Node) -> Iterator[Proxy]:
    with Proxy(node.url) as proxy:
        yield proxy


@pytest.fixture
def plain(proxy: Proxy) -> Iterator[HTTPConnection]:
    connection = to(proxy)
    yield connection
    connection.close()


@pytest.fixture
def client(proxy: Proxy) -> Iterator[Elasticsearch]:
    with Elasticsearch(proxy.url, max_retries=0, request_timeout=10) as client:
        yield client


def to(proxy: Proxy) -> HTTPConnection:
    return HTTPConnection(urlsplit(proxy.url).netloc, timeout=10)


def said(connection: HTTPConnection, method: str, path: str, body: Any = None, **headers: str) -> Any:
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def everything(_: Request) -> bool:
    return True


def bulk(request: Request) -> bool:
    return request.path.endswith("/_bulk")


def lines(*ids: str) -> bytes:
    return b"".join(b'{"index":{"_id":"%b"}}\n{"n":1}\n' % one.encode() for one in ids)


# ---- what no rule names


def test_all_is_passed_on_as_it_came(node: Node, plain: HTTPConnection) -> None:
    plain.request("POST", "/a%2Cb/_doc?x=1&y=%20&z", b"h\x00i", {"X-One": "1", "Accept": "text/plain"})
    response = plain.getresponse()
    assert json.loads(response.read()) == {"said": "h\x00i"}
    assert response.status == 200
    assert response.headers.get_all("X-Twice") == ["one", "two"]
    assert response.headers["X-Elastic-Product"] == "Elasticsearch"
    assert node.asked == [("POST", "/a%2Cb/_doc?x=1&y=%20&z")]
    assert node.bodies == [b"h\x00i"]
    [headers] = node.headers
    assert (headers["x-one"], headers["accept"], headers["content-length"]) == ("1", "text/plain", "3")
    assert headers["host"] == urlsplit(node.url).netloc


def test_a_connection_serves_many_requests(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    ports = set()
    for number in range(3):
        assert said(plain, "GET", f"/{number}")[0] == 200
        ports.add(plain.sock.getsockname())
    assert len(ports) == 1
    assert proxy.requests == 3
    assert [seen.path for seen in proxy.log] == ["/0", "/1", "/2"]
    assert not proxy.done


def test_chunks_go_both_ways(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    bodies = []
    proxy.when(lambda request: bool(bodies.append(request.body)), answer(500))
    plain.request(
        "POST", "/chunked", iter([b"a" * 70_000, b"b"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"}
    )
    response = plain.getresponse()
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert "Content-Length" not in response.headers
    assert len(json.loads(response.read())["said"]) == 70_001
    assert bodies == node.bodies == [b"a" * 70_000 + b"b"]
    assert node.headers[0]["transfer-encoding"] == "chunked"
    assert said(plain, "GET", "/after")[0] == 200


def test_compressed_bodies_stay_as_they_are_and_are_read_by_rules(
    node: Node, proxy: Proxy, plain: HTTPConnection
) -> None:
    packed = gzip.compress(b'{"a":1}', mtime=0)
    read = []
    proxy.when(lambda request: bool(read.append(request.json)), answer(500))
    plain.request("POST", "/x", packed, {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
    response = plain.getresponse()
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.read() == gzip.compress(b'{"said": "{\\"a\\":1}"}', mtime=0)
    assert node.bodies == [packed]
    assert read == [{"a": 1}]


def test_answers_without_a_body(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    plain.request("HEAD", "/x")
    response = plain.getresponse()
    assert (response.status, response.headers["Content-Length"], response.read()) == (200, "12", b"")
    proxy.when(everything, answer(404))
    proxy.when(everything, answer(204, b""))
    for method, status in [("HEAD", 404), ("GET", 204)]:
        assert said(plain, method, "/x") == (status, b"")
    assert said(plain, "GET", "/x") == (200, b'{"said": ""}')


def test_requests_at_once_are_each_counted_once(node: Node, proxy: Proxy) -> None:
    ordinals = []
    rule = proxy.when(lambda request: bool(ordinals.append(request.ordinal) or True), answer(503), times=40, after=20)

    def ask(number: int) -> list[int]:
        connection = to(proxy)
        statuses = [said(connection, "GET", f"/{number}")[0] for _ in range(10)]
        connection.close()
        return statuses

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for some in threads.map(ask, range(8)) for status in some]
    assert (statuses.count(503), statuses.count(200)) == (40, 40)
    assert ordinals == list(range(1, 81))
    assert (proxy.requests, proxy.done["answer"], rule.seen, len(node.asked)) == (80, 40, 80, 40)


# ---- rules


def test_rules_count_what_they_match(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(lambda request: request.method == "POST", answer(429), times=2, after=1)
    proxy.when(lambda request: request.query.get("a") == "b c", answer(410), times=None)
    asked = [("POST", "/"), ("GET", "/"), ("POST", "/"), ("GET", "/?a=b+c"), ("POST", "/?a=b%20c"), ("POST", "/")]
    assert [said(plain, *one)[0] for one in asked] == [200, 200, 429, 410, 429, 200]
    assert said(plain, "POST", "/?a=b%20c")[0] == 410
    assert proxy.done == {"answer": 4}
    assert [seen.action for seen in proxy.log] == ["", "", "answer", "answer", "answer", "", "answer"]
    proxy.clear()
    assert said(plain, "GET", "/?a=b+c")[0] == 200


def test_actions_of_ones_own(proxy: Proxy, plain: HTTPConnection) -> None:
    def teapot(exchange: Exchange) -> None:
        given = exchange.forward(b"other")
        exchange.send(given.with_json({"got": json.loads(given.body), "ordinal": exchange.request.ordinal}))

    proxy.when(everything, teapot)
    assert json.loads(said(plain, "PUT", "/x", b"one")[1]) == {"got": {"said": "other"}, "ordinal": 1}
    assert proxy.done == {"teapot": 1}


def _fails(request: Request) -> bool:
    raise ValueError("a rule of no use")


def _does_nothing(exchange: Exchange) -> None:
    pass


@pytest.mark.parametrize(
    ("matches", "action", "words"),
    [
        (_fails, answer(500), "a rule of no use"),
        (everything, _does_nothing, "_does_nothing has neither answered nor hung up"),
        (everything, cut(10_000), "10000 do not cut it"),
        (everything, huge(10), "is not huge"),
    ],
)
def test_what_is_wrong_with_a_rule_is_raised(
    node: Node, matches: Callable[[Request], bool], action: Action, words: str
) -> None:
    with pytest.raises((ValueError, AssertionError), match=words), Proxy(node.url) as proxy:
        proxy.when(matches, action)
        connection = to(proxy)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            said(connection, "GET", "/x")


# ---- actions


def test_an_answer_made_up(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(everything, answer(429))
    proxy.when(everything, answer(200, "<html>log in</html>", "text/html", {"X-Gateway": "g"}))
    proxy.when(everything, answer(200, {"a": [1]}, product=False))
    found = []
    for _ in range(3):
        plain.request("GET", "/x", headers={"Accept": "application/json"})
        response = plain.getresponse()
        headers = response.headers
        found.append((response.status, headers["Content-Type"], headers["X-Elastic-Product"], response.read()))
        assert headers["X-Gateway"] == ("g" if len(found) == 2 else None)
    error = b'{"type": "es_rejected_execution_exception", "reason": "so says the proxy"}'
    whole = b'{"error": {"root_cause": [%b], %b, "status": 429}' % (error, error[1:])
    assert found == [
        (429, "application/json", "Elasticsearch", whole),
        (200, "text/html", "Elasticsearch", b"<html>log in</html>"),
        (200, "application/json", None, b'{"a": [1]}'),
    ]
    assert not node.asked


def test_an_answer_made_up_for_the_client(proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(everything, answer(503))
    with pytest.raises(ApiError, match=r"ApiError\(503, 'exception', 'so says the proxy'\)"):
        client.search(index="i")
    proxy.when(everything, answer(200, {}, product=False))
    with pytest.raises(UnsupportedProductError):
        client.search(index="i")
    proxy.when(everything, answer(200, "<html>", "text/html"))
    assert client.perform_request("GET", "/", headers={"accept": "application/json"}).body == "<html>"
    assert client.search(index="i")["hits"]["hits"][0]["_id"] == "0"


def test_an_answer_changed(proxy: Proxy, client: Elasticsearch) -> None:
    def lose_a_shard(value: dict[str, Any]) -> dict[str, Any]:
        return value | {"_shards": {"total": 2, "failed": 1}}

    proxy.when(everything, change(lose_a_shard), times=2)
    assert client.search(index="i")["_shards"] == {"total": 2, "failed": 1}
    packed = client.perform_request("POST", "/i/_search", headers={"accept": JSON, "accept-encoding": "gzip"})
    assert packed["_shards"] == {"total": 2, "failed": 1}
    assert proxy.done == {"change": 2}


def test_items_of_a_bulk_request_fail(node: Node, proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(bulk, fail_items(429, "es_rejected_execution_exception"))
    operations = [{"index": {"_index": "i", "_id": str(number)}} for number in range(7)]
    body = [line for operation in operations for line in (operation, {"n": 1})]
    result = client.bulk(operations=body)
    assert result["errors"] is True
    items = [item["index"] for item in result["items"]]
    assert [item["_id"] for item in items] == [str(number) for number in range(7)]
    assert [item["status"] for item in items] == [201, 201, 429, 201, 201, 429, 201]
    assert items[5]["error"] == {"type": "es_rejected_execution_exception", "reason": "turned away by the proxy"}
    assert node.written == ["0", "1", "3", "4", "6"]
    assert proxy.done == {"fail_items": 1, "failed_items": 2}
    assert client.bulk(operations=body)["errors"] is False


def test_items_of_all_kinds_fail_in_their_places(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(bulk, fail_items(403, "cluster_block_exception", every=2, reason="[FORBIDDEN/12]"))
    body = (
        b'{"create":{"_id":"a"}}\n{}\n{"delete":{"_id":"b","_index":"j"}}\n'
        b'{"index":{"_id":"c"}}\n{}\n\n{"update":{}}\n{}\n'
    )
    value = json.loads(said(plain, "POST", "/i/_bulk?refresh=true", body)[1])
    error = {"type": "cluster_block_exception", "reason": "[FORBIDDEN/12]"}
    assert value["items"][1] == {"delete": {"_index": "j", "_id": "b", "status": 403, "error": error}}
    assert value["items"][3] == {"update": {"_index": "i", "_id": None, "status": 403, "error": error}}
    assert [next(iter(item)) for item in value["items"]] == ["create", "delete", "index", "update"]
    assert node.written == ["a", "c"]
    assert node.asked == [("POST", "/i/_bulk?refresh=true")]


def test_all_items_fail_without_the_node(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(bulk, fail_items(429, "busy", every=1), times=2)
    for body, headers in [(lines("a", "b"), {}), (gzip.compress(lines("a", "b")), {"Content-Encoding": "gzip"})]:
        value = json.loads(said(plain, "POST", "/_bulk", body, **headers)[1])
        assert [item["index"]["status"] for item in value["items"]] == [429, 429]
        assert value["errors"] is True
    assert not node.asked


def test_no_item_fails_where_there_are_too_few(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(bulk, fail_items(429, "busy"))
    packed = {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"}
    value = json.loads(gzip.decompress(said(plain, "POST", "/_bulk", gzip.compress(lines("a", "b")), **packed)[1]))
    assert (value["errors"], len(value["items"])) == (False, 2)
    assert node.written == ["a", "b"]


def test_failed_items_are_filtered_as_the_node_would(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(bulk, fail_items(429, "busy", every=2), times=None)
    paths = "errors,items.*.status,items.*.error.type"
    value = json.loads(said(plain, "POST", f"/_bulk?filter_path={paths}&refresh=true", lines("a", "b"))[1])
    assert value == {
        "errors": True,
        "items": [{"index": {"status": 201}}, {"index": {"status": 429, "error": {"type": "busy"}}}],
    }
    assert node.asked == [("POST", "/_bulk?refresh=true")]
    value = json.loads(said(plain, "POST", "/_bulk?filter_path=took,items.*.error", lines("a", "b"))[1])
    assert value["took"] == 1
    assert [set(item["index"]) for item in value["items"]] == [{"error"}]


def test_a_helper_of_the_client_sends_failed_items_again(node: Node, proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(bulk, fail_items(429, "es_rejected_execution_exception"))
    actions = [{"_index": "i", "_id": str(number), "n": 1} for number in range(9)]
    done = helpers.bulk(client, actions, max_retries=1, initial_backoff=0, raise_on_error=False)
    assert done == (9, [])
    assert node.written == ["0", "1", "3", "4", "6", "7", "2", "5", "8"]
    assert proxy.requests == 2


def test_reset_before_the_node_has_seen_it(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(everything, reset_before)
    with pytest.raises(ConnectionResetError):
        said(plain, "POST", "/_bulk", lines("a"))
    assert (node.asked, proxy.done) == ([], {"reset_before": 1})
    plain.close()
    assert said(plain, "POST", "/_bulk", lines("a"))[0] == 200


def test_reset_after_the_node_has_done_it(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(everything, reset_after)
    with pytest.raises(ConnectionResetError):
        said(plain, "POST", "/_bulk", lines("a"))
    assert (node.written, proxy.done) == (["a"], {"reset_after": 1})


def test_a_client_that_asks_again_writes_twice(node: Node, proxy: Proxy) -> None:
    proxy.when(bulk, reset_after)
    proxy.when(bulk, reset_before)
    with Elasticsearch(proxy.url, max_retries=2) as client:
        client.bulk(body=[{"index": {"_index": "i", "_id": "a"}}, {}])
    assert node.written == ["a", "a"]
    assert [seen.action for seen in proxy.log] == ["reset_after", "reset_before", ""]


@pytest.mark.parametrize("size", [None, 0, 11])
def test_an_answer_cut(proxy: Proxy, plain: HTTPConnection, size: int | None) -> None:
    whole = said(plain, "GET", "/chunked")[1]
    proxy.when(everything, cut(size))
    plain.request("GET", "/chunked")
    response = plain.getresponse()
    assert response.headers["Content-Length"] == str(len(whole))
    with pytest.raises(IncompleteRead) as error:
        response.read()
    assert error.value.partial == whole[: len(whole) // 2 if size is None else size]


def test_an_answer_cut_is_an_error_of_the_connection(proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(everything, cut(20))
    with pytest.raises(ConnectionError) as error:
        client.search(index="i")
    assert "20 bytes read" in error.value.message
    assert client.search(index="i")["_scroll_id"] == "one"


def test_silence_after_the_node_has_done_it(node: Node, proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(bulk, silence(0.3), times=2)
    operations = [{"index": {"_index": "i", "_id": "a"}}, {}]
    with pytest.raises(ConnectionTimeout):
        client.options(request_timeout=0.1).bulk(operations=operations)
    assert node.written == ["a"]
    start = time.monotonic()
    assert client.bulk(operations=operations)["errors"] is False
    assert time.monotonic() - start >= 0.3
    assert node.written == ["a", "a"]
    assert proxy.done == {"silence": 2}


def test_silence_before_the_node_hears_of_it(node: Node, proxy: Proxy, plain: HTTPConnection) -> None:
    proxy.when(everything, silence(0.1, before=True), times=2)
    assert said(plain, "POST", "/_bulk", lines("a"))[0] == 200
    assert node.written == ["a"]
    plain.request("POST", "/_bulk", lines("b"))
    plain.close()  # it waits no longer: the node never hears of it
    until(lambda: proxy.done["silence"] == 2)
    time.sleep(0.2)
    assert node.written == ["a"]


def test_silence_ends_with_the_proxy(node: Node) -> None:
    before = set(threading.enumerate())
    with Proxy(node.url) as proxy:
        proxy.when(everything, silence(3600))
        connection = to(proxy)
        connection.request("GET", "/x")
        idle = socket.create_connection(connection.sock.getpeername())  # has not said a word
        until(lambda: proxy.done["silence"] == 1)
        start = time.monotonic()
    assert time.monotonic() - start < 1
    until(lambda: set(threading.enumerate()) <= before)
    with contextlib.closing(connection), pytest.raises(RemoteDisconnected):
        connection.getresponse()
    with idle, contextlib.suppress(ConnectionResetError):  # if nobody had come to greet it yet
        assert idle.recv(1) == b""


def test_a_page_of_a_scroll_is_lost(node: Node, proxy: Proxy, client: Elasticsearch) -> None:
    proxy.when(lambda request: request.path == "/_search/scroll", drop_page)
    pages = [client.search(index="i", scroll="1m")]
    with pytest.raises(ApiError, match="503"):
        client.scroll(scroll_id="one")
    while pages[-1]["hits"]["hits"]:
        pages.append(client.scroll(scroll_id="one"))
    assert [hit["_id"] for page in pages for hit in page["hits"]["hits"]] == list("0126789")
    assert proxy.done == {"drop_page": 1}


@pytest.mark.parametrize("size", [1_300, 100_001, 3_000_000])
def test_a_huge_answer_is_json_of_that_size(proxy: Proxy, plain: HTTPConnection, size: int) -> None:
    proxy.when(everything, huge(size))
    _, body = said(plain, "POST", "/i/_search")
    assert len(body) == size
    hits = json.loads(body)["hits"]["hits"]
    assert {len(hit["_source"]["text"]) for hit in hits} == {1000}
    assert body.count(b" ") < 1_100  # it is full of hits
    assert said(plain, "GET", "/x")[0] == 200


def test_a_huge_answer_is_never_held(proxy: Proxy, plain: HTTPConnection) -> None:
    size = 2**40
    proxy.when(everything, huge(size))
    tracemalloc.start()
    plain.request("POST", "/i/_search")
    response = plain.getresponse()
    for _ in range(200):
        assert len(response.read(2**17)) == 2**17
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**22
    response.close()  # and the proxy does not mind that the rest is not wanted


# ---- who may ask, and by what certificate


@pytest.mark.parametrize(
    ("auth", "right", "wrong", "reason"),
    [
        (
            require_basic("elastic", "p:s s"),
            {"basic_auth": ("elastic", "p:s s")},
            {"basic_auth": ("elastic", "pass")},
            "unable to authenticate user [elastic] for REST request [/i/_search]",
        ),
        (
            require_api_key("a2V5"),
            {"api_key": "a2V5"},
            {"api_key": "a2V6"},
            "unable to authenticate with provided credentials",
        ),
        (
            require_basic("elastic", "x"),
            {"basic_auth": ("elastic", "x")},
            {"api_key": "x"},
            "unable to authenticate user [?]",
        ),
    ],
)
def test_only_those_who_are_known(
    node: Node, auth: Auth, right: dict[str, Any], wrong: dict[str, Any], reason: str
) -> None:
    with Proxy(node.url, auth=auth) as proxy:
        proxy.when(everything, answer(503), after=1)
        with Elasticsearch(proxy.url) as client:
            with pytest.raises(AuthenticationException, match="missing authentication credentials for REST") as error:
                client.search(index="i")
            assert error.value.meta.headers["x-elastic-product"] == "Elasticsearch"
            assert error.value.body["status"] == 401
            with pytest.raises(AuthenticationException) as error:
                client.options(**wrong).search(index="i")
            assert reason in error.value.body["error"]["root_cause"][0]["reason"]
            assert not node.asked
            assert client.options(**right).search(index="i")["_scroll_id"] == "one"
        assert proxy.done == {"unauthorized": 2}  # rules do not see who may not ask
        assert proxy.requests == 3


def test_tls_with_the_authority_or_the_fingerprint(node: Node) -> None:
    with Proxy(node.url, tls=True) as proxy:
        for trust in [{"ca_certs": str(proxy.ca_file)}, {"ssl_assert_fingerprint": proxy.fingerprint}]:
            with Elasticsearch(proxy.url, max_retries=0, **trust) as client:
                assert client.search(index="i")["_scroll_id"] == "one"
        assert proxy.url.startswith("https://127.0.0.1:")
        for trust in [{}, {"ssl_assert_fingerprint": "0" * 64}]:
            with Elasticsearch(proxy.url, max_retries=0, **trust) as client, pytest.raises(TlsError):
                client.search(index="i")
        until(lambda: proxy.done["no_handshake"] == 1)  # who looks at fingerprints shakes hands first
        assert proxy.requests == 2
    assert not proxy.ca_file.exists()


def test_no_tls_where_tls_is_spoken(node: Node) -> None:
    with Proxy(node.url, tls=True) as proxy, Elasticsearch(proxy.url.replace("s:", ":"), max_retries=0) as client:
        with pytest.raises(ConnectionError):
            client.search(index="i")
        until(lambda: proxy.done["no_handshake"] == 1)


def test_tls_where_none_is_spoken(proxy: Proxy) -> None:
    with Elasticsearch(proxy.url.replace("http", "https"), max_retries=0) as client, pytest.raises(TlsError):
        client.search(index="i")


def test_actions_under_tls(node: Node) -> None:
    context = ssl.create_default_context()
    with Proxy(node.url, tls=True) as proxy:
        context.load_verify_locations(proxy.ca_file)
        connection = http.client.HTTPSConnection(urlsplit(proxy.url).netloc, timeout=10, context=context)
        for action, error in [
            (reset_after, ConnectionResetError),
            (cut(3), IncompleteRead),
            (silence(0.05, before=True), None),
        ]:
            proxy.when(everything, action)
            with contextlib.closing(connection):
                if error:
                    with pytest.raises(error):
                        said(connection, "GET", "/x")
                else:
                    assert said(connection, "GET", "/x")[0] == 200
        assert len(node.asked) == 3
        proxy.when(everything, silence(3600))
        connection.request("GET", "/x")
        until(lambda: proxy.done["silence"] == 2)
    with contextlib.closing(connection), pytest.raises(OSError):
        connection.getresponse()


# ---- a node that goes


def test_a_node_that_is_not_there(plain: HTTPConnection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    with Proxy(f"http://127.0.0.1:{port}") as proxy:
        connection = to(proxy)
        with contextlib.closing(connection), pytest.raises(ConnectionResetError):
            said(connection, "GET", "/x")
        assert proxy.done == {"node_gone": 1}


def test_a_node_that_hangs_does_not_keep_the_proxy(node: Node) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging, contextlib.ExitStack() as stack:
        with Proxy(f"http://127.0.0.1:{hanging.getsockname()[1]}") as proxy:
            connection = to(proxy)
            stack.enter_context(contextlib.closing(connection))
            connection.request("GET", "/x")
            stack.enter_context(hanging.accept()[0])
            start = time.monotonic()
        assert time.monotonic() - start < 1
        with pytest.raises(OSError):
            connection.getresponse()


# ---- a real node


def test_bulk_requests_to_a_real_node(elastic_url: str, elastic_prefix: str) -> None:
    index = f"{elastic_prefix}-bulk"
    actions = [{"_index": index, "_id": str(number), "n": number} for number in range(10)]
    fields = "errors,items.*.status,items.*._id,items.*.error.type"
    with Proxy(elastic_url) as proxy, Elasticsearch(proxy.url, max_retries=1, http_compress=True) as client:
        proxy.when(bulk, fail_items(429, "es_rejected_execution_exception"))
        proxy.when(bulk, reset_after)
        done = helpers.bulk(client, actions, max_retries=1, initial_backoff=0, raise_on_error=False)
        assert done == (10, [])
        assert [seen.action for seen in proxy.log] == ["fail_items", "reset_after", ""]
        assert client.indices.refresh(index=index).meta.status == 200
        hits = client.search(index=index, size=20, version=True)["hits"]["hits"]
        # what was kept from the node came again, and what it had done without a word, twice
        assert {hit["_id"]: hit["_version"] for hit in hits} == {str(n): 2 if n in (2, 5, 8) else 1 for n in range(10)}
        # of the fields of an answer, the proxy leaves as many as the node
        operations = [{"create": {"_id": "0"}}, {"n": 1}, {"delete": {"_id": "1"}}]
        own = client.bulk(index=index, operations=operations, filter_path=fields)
        assert own["items"][0]["create"] == {"_id": "0", "status": 409, "error": {"type": TYPE_OF_A_CONFLICT}}
        proxy.when(bulk, fail_items(429, "busy", every=3))
        again = client.bulk(index=index, operations=[*operations, {"delete": {"_id": "2"}}], filter_path=fields)
        assert again["items"][0] == own["items"][0]
        assert again["items"][1] == {"delete": {"_id": "1", "status": 404}}
        assert again["items"][2] == {"delete": {"_id": "2", "status": 429, "error": {"type": "busy"}}}
        assert set(again.body) == set(own.body)
