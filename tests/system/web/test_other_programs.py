"""The API for other programs: JSON by `Accept`, other origins, unknown parameters, and what openapi.json says."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from starlette.datastructures import Headers

import esdedup
from esdedup.errors import UsageError
from esdedup.web.other_programs import checked_origins, prefers_json
from tests.support.commands import said
from tests.system.web.browser import expect
from tests.system.web.conftest import Collection
from tests.system.web.corpus import SCRIPT
from tests.system.web.inside import running
from tests.system.web.served import ROOT, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TOKEN = "a-token-of-a-test-for-programs"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ALLOWED = "https://wiki.example"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
JSON = {"Accept": "application/json"}


@pytest.mark.parametrize(
    ("accept", "json"),
    [
        ("application/json", True),
        ("application/json, text/plain, */*", True),
        ("application/*", True),
        ("APPLICATION/JSON; charset=utf-8; q=0.5", True),
        ("text/html;q=0.4, application/json;q=0.5", True),
        ("text/html;q=0, */*", True),
        ("", False),
        ("*/*", False),
        (BROWSER, False),
        ("text/html, application/json", False),
        ("text/html;q=0.5, application/json;q=0.4", False),
        ("application/json;q=0", False),
        ("application/json;q=0, text/*;q=0", False),
        ("application/json;q=2", False),
        ("application/json;q=", False),
        ("text/csv", False),
        (",;,;q=1", False),
    ],
)
def test_what_is_preferred(accept: str, json: bool) -> None:
    assert prefers_json(Headers({"accept": accept})) is json


def test_every_page_answers_json(one_site: Site) -> None:
    pages = [path for path in one_site.pages() if path not in ("/", "/api", "/enter")]
    for path in [*pages, "/stale"]:
        told, shown = one_site.ask(path, headers=JSON), one_site.ask(path, headers={"Accept": BROWSER})
        assert told.kind == "application/json", path
        assert told.body == one_site.ask(f"/api{path}").body
        assert (shown.status, shown.kind) == (told.status, "text/html")
        assert told.headers["vary"] == shown.headers["vary"] == "Accept"
    for path in ("/", "/api"):
        assert one_site.ask(path, headers=JSON).json == one_site.api("/openapi.json")
    for path in ("/check", "/text"):
        api = one_site.post(f"/api{path}", {"text": SCRIPT}).body
        assert one_site.post(path, {"text": SCRIPT}, **JSON).body == api
        assert one_site.form(path, JSON, text=SCRIPT).body == api
    assert one_site.post("/check", {"txt": ""}, **JSON).json == {"error": "text: is missing; txt: no such field"}
    assert one_site.ask("/clusters?page=2&back=", headers=JSON).status == 200


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/api/clusters?size=1", "size: no such parameter; did you mean min_size?"),
        ("/api/clusters?kind=drift&Sort=size", "Sort: no such parameter; did you mean sort?"),
        ("/api/similar?text=a&threshold=1", "threshold: no such parameter; did you mean jaccard?"),
        ("/api/clusters?page=2", "page: no such parameter; this address takes after, article, document, kind, limit, "),
        ("/api/overview?x=1", "x: no such parameter; this address takes none"),
        ("/api/stale?" + "y" * 500 + "=", "y" * 60 + ": no such parameter; this address takes none"),
        ("/api/similar?text=a&lang=--", "lang: give a language code such as en, de or zh"),
        ("/api/similar?text=a&jaccard=nan", "jaccard: give 1.0 or less"),
        ("/api/similar?text=a&min_similarity=much", "min_similarity: give a number"),
        ("/api/similar", "text: is missing"),
    ],
)
def test_a_parameter_that_is_not_known(one_site: Site, path: str, line: str) -> None:
    told = one_site.ask(path)
    assert told.status == 422
    assert told.json["error"].startswith(line)


def test_pages_refuse_them_too(one_site: Site) -> None:
    for path in ("/?q=1", "/clusters?size=1", "/articles?after=1", "/api?x=1"):
        told = one_site.ask(path)
        assert (told.status, told.kind) == (422, "text/html")
        assert "no such parameter" in told.text


@pytest.mark.both_stores
def test_similar_suggest_and_explain_are_those_of_python(site: Site) -> None:
    for text in (SCRIPT, SCRIPT[:40], "the old brige"):
        rows = [row.to_dict() for row in esdedup.similar(text, store=site.store, min_similarity=0.3, limit=7)]
        assert site.api("/similar", text=text, min_similarity=0.3, limit=7)["similar"] == json.loads(json.dumps(rows))
        found = [row.to_dict() for row in esdedup.suggest(text, store=site.store, limit=3)]
        told = site.api("/suggest", prefix=text, limit=2)
        assert told == {"completions": found[:2], "more": len(found) > 2}
    a, b = (row["id"] for row in esdedup.similar(SCRIPT, store=site.store, limit=2))
    explained = esdedup.explain(a, b, store=site.store).to_dict()
    assert site.api("/explain", a=a, b=b) == json.loads(json.dumps(explained))
    assert site.api("/similar", text=SCRIPT, document="nobody") == {"text": SCRIPT, "similar": [], "left_out": 0}
    told = site.ask("/api/explain", a=a, b="nobody:1")
    assert told.status == 404
    assert told.json["error"].startswith("no sentence nobody:1")


@pytest.mark.parametrize(
    ("origin", "plain"),
    [
        ("https://Example.com", "https://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("*", "*"),
    ],
)
def test_origins(origin: str, plain: str) -> None:
    assert checked_origins([origin], with_token=False) == {plain}


@pytest.mark.parametrize(
    "origin", ["", "null", "example.com", "https://example.com/", "https://a.example/x", "ftp://a", "https://*.a", "**"]
)
def test_what_is_no_origin(origin: str) -> None:
    from esdedup.web.serving import serve

    with pytest.raises(UsageError, match=r"--allow-origin .*: give scheme://host or scheme://host:port"):
        serve("nowhere.duckdb", origins=["https://good.example", origin])


def test_not_every_origin_with_a_token() -> None:
    with pytest.raises(UsageError, match=r"--allow-origin \*: where a token is set, name each origin"):
        checked_origins(["*"], with_token=True)


def test_what_the_command_says() -> None:
    told = said(
        "serve", "--store", "nowhere.duckdb", "--allow-origin", "https://a.example", "--allow-origin", "a.example"
    )
    assert told.code == 2
    assert told.err.count("\n") == 1
    assert "--allow-origin a.example: give scheme://host" in told.err


@pytest.fixture(scope="module")
def open_to_one(embedded_collection: Collection) -> Iterator[Site]:
    """A server with a token, that pages of one origin may ask."""
    with running(embedded_collection.store, token=TOKEN, origins={ALLOWED}) as (site, _):
        yield site


def test_only_allowed_origins_may_read(open_to_one: Site, one_site: Site) -> None:
    asked = {"Origin": ALLOWED}
    for path, status, headers in (
        ("/api/overview", 200, BEARER), ("/api/overview", 401, {}), ("/api/clusters?size=1", 422, BEARER),
        ("/clusters/x", 422, BEARER), ("/nothing", 404, BEARER),
    ):  # fmt: skip
        told = open_to_one.ask(path, headers={**headers, **asked})
        assert told.status == status
        assert told.headers["access-control-allow-origin"] == ALLOWED
        assert told.headers["vary"] == "Accept, Origin"
        assert "access-control-allow-credentials" not in told.headers
        for other in (
            "https://evil.example",
            "null",
            ALLOWED + ".evil.example",
            ALLOWED + ":8080",
            "http://wiki.example",
        ):
            foreign = open_to_one.ask(path, headers={**headers, "Origin": other})
            assert "access-control-allow-origin" not in foreign.headers
            assert foreign.headers["vary"] == "Accept, Origin"
    assert "access-control-allow-origin" not in one_site.ask("/api/overview", headers=asked).headers


def test_what_a_browser_asks_first(open_to_one: Site, one_site: Site) -> None:
    asked = {"Origin": ALLOWED, "Access-Control-Request-Method": "POST"}
    told = open_to_one.ask("/api/check", method="OPTIONS", headers=asked)
    assert (told.status, told.body) == (204, b"")
    assert told.headers["access-control-allow-origin"] == ALLOWED
    assert told.headers["access-control-allow-methods"] == "GET, HEAD, POST"
    assert told.headers["access-control-allow-headers"] == "Authorization, Content-Type"
    assert "Origin" in told.headers["vary"]
    for site, headers in ((open_to_one, asked | {"Origin": "https://evil.example"}), (one_site, asked)):
        told = site.ask("/api/check", method="OPTIONS", headers=headers)
        assert told.status == 403
        assert told.json["error"] == "this origin is not allowed; start serve with --allow-origin URL"
    assert open_to_one.ask("/api/check", method="OPTIONS").status == 405
    assert open_to_one.ask("/api/check", method="OPTIONS", headers=asked | {"Host": "evil.example"}).status == 421


def test_every_origin_if_so_said(embedded_collection: Collection) -> None:
    with running(embedded_collection.store, origins={"*"}) as (site, _):
        told = site.ask("/api/overview", headers={"Origin": "https://anybody.example"})
    assert told.headers["access-control-allow-origin"] == "*"


def test_every_operation_and_parameter_has_words_and_an_example(open_to_one: Site) -> None:
    described = open_to_one.ask("/api/openapi.json", headers=BEARER).json
    assert described["components"]["securitySchemes"]["HTTPBearer"]["description"]
    shown = open_to_one.ask("/api", headers={**BEARER, "Accept": BROWSER}).text
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert operation["description"], path
            [sample] = operation["x-codeSamples"]
            assert sample["source"].startswith("curl -s 'http://127.0.0.1:8765/"), path
            assert "{" not in urlsplit(sample["source"].split("'")[1]).path
            assert "Bearer $ESDEDUP_SERVE_TOKEN" in sample["source"]
            for parameter in operation.get("parameters", []):
                assert parameter["description"], (path, parameter)
                assert parameter["schema"]["examples"], (path, parameter)
                assert parameter["description"].replace("`", "")[:20] in shown.replace("`", "")
    for name in ("Typed", "Pasted"):
        [text] = described["components"]["schemas"][name]["properties"].values()
        assert text["description"]
        assert text["examples"]


def test_the_server_does_as_it_says(open_to_one: Site) -> None:
    """Schemathesis asks for what is described and for what is not allowed, and compares each answer with that."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.core.failures import FailureGroup

    schema = schemathesis.openapi.from_dict(open_to_one.ask("/api/openapi.json", headers=BEARER).json)
    schema.config.update(base_url=open_to_one.url)
    schema.config.checks.positive_data_acceptance.expected_statuses.append("400")  # `after` an id that nothing has
    bounded = settings(
        max_examples=4, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    asked = 0
    failed: list[str] = []
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in schemathesis.GenerationMode:

            @bounded
            @given(case=operation.as_strategy(generation_mode=mode))
            def holds(case: Any) -> None:
                nonlocal asked
                asked += 1
                try:
                    case.call_and_validate(headers=BEARER, timeout=30)
                except FailureGroup as error:  # its traceback takes minutes to print
                    failed.append(str(error))

            holds()
    assert not failed, "\n".join(failed)
    assert asked > 80


def recipe(server: str) -> str:
    """The page of docs/page.md that searches as you type."""
    [page] = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "page.md").read_text("utf-8"), re.DOTALL)
    script = page.split("<script>")[1].split("</script>")[0].strip().splitlines()
    assert len(script) <= 20
    assert page.count("http://127.0.0.1:8765") == 1
    return str(page.replace("http://127.0.0.1:8765", server.rstrip("/")))


@contextmanager
def elsewhere() -> Iterator[ThreadingHTTPServer]:
    """A server of one page, which is set as its `page`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(self.server.page.encode() if self.path == "/" else b"")  # type: ignore[attr-defined]

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_search_as_you_type_in_a_page_of_another_origin(embedded_collection: Collection, browser: Browser) -> None:
    with elsewhere() as server:
        port = server.server_address[1]
        with running(embedded_collection.store, origins={f"http://127.0.0.1:{port}"}) as (site, _):
            server.page = recipe(site.url)  # type: ignore[attr-defined]
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{port}/")
            page.get_by_placeholder("Type a sentence").press_sequentially("the page said", delay=20)
            expect(page.locator("#found li").get_by_text(SCRIPT)).to_be_visible()
            page.get_by_placeholder("Type a sentence").fill("x" * 2001)
            expect(page.get_by_text("prefix: longer than 2,000 characters; send less at once")).to_be_visible()
            page.goto(f"http://localhost:{port}/")  # another origin, which is not allowed
            page.get_by_placeholder("Type a sentence").fill("the page said")
            expect(page.get_by_text("Failed to fetch")).to_be_visible()
            page.close()
