"""Whatever is sent to whatever address, the server answers, and never with an error of its own."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.system.web.corpus import SCRIPT
from tests.system.web.served import Site

# the same examples each time, and none of them made smaller: each is an answer of a server
BOUNDED = settings(
    max_examples=40, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck), deadline=None,
)  # fmt: skip
FINE = {200, 303, 307, 400, 404, 405, 413, 421, 422}

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
hostile = st.sampled_from(
    [
        "", "\0", "../../etc/passwd", "%", "%00", "%ZZ", "' OR 1=1 --", '"; DROP TABLE sentences; --', "<script>", "*",
        "a" * 2_000, "\u202e", "\ud7ff", "\U0010ffff", "{{7*7}}", "$where", "-1", "0", "1e999", "NaN", "null", "[]",
        "~", "?", "0" * 16, "f" * 16, "AND", "NOT (", "a:b", "\\", "/", "//", ".", "..", "\r\nX: y", "\t", " ", "=1+1",
    ]
)  # fmt: skip
value = st.one_of(hostile, anything, st.integers().map(str))


def of_schema(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """Values that this schema allows, as addresses hold them."""
    if "anyOf" in schema:
        return st.one_of([of_schema(one) for one in schema["anyOf"] if one != {"type": "null"}])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"]).map(str)
    if schema["type"] == "number":
        return st.floats(0, schema["maximum"]).map(str)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    return st.one_of(anything, hostile).map(lambda text: text[: schema.get("maxLength")])


def operations(site: Site) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of all that openapi.json knows."""
    paths = site.api("/openapi.json")["paths"]
    return [(method.upper(), path, told) for path, methods in paths.items() for method, told in methods.items()]


def parameters(site: Site, told: dict[str, Any]) -> list[tuple[dict[str, Any], st.SearchStrategy[str]]]:
    """Each with values that it allows, that are there, and that it does not."""
    ids = st.sampled_from([one["id"] for one in site.api("/clusters", limit=100)["clusters"]])
    documents = st.sampled_from([row["a"] for row in site.api("/articles")["pairs"]])
    known = {"identity": st.one_of(ids, documents), "after": ids, "document": documents}
    found = []
    for one in told.get("parameters", []):
        choices = [of_schema(one["schema"]), value]
        if one["name"] in known:
            choices.append(known[one["name"]])
        found.append((one, st.one_of(choices)))
    return found


def sound(site: Site, path: str, **more: Any) -> None:
    answer = site.ask(path, **more)
    assert answer.status in FINE, (path, more, answer)
    assert "content-security-policy" in answer.headers
    if path.startswith("/api/") and answer.status not in (200, 307):
        assert list(answer.json) == ["error"], (path, answer)
    if answer.kind == "text/html":
        assert "<script>" not in answer.text


# pages are made of the same answers on every kind of store
@pytest.mark.parametrize(("kind", "api"), [("embedded", True), ("server", True), ("embedded", False)])
def test_every_address_with_whatever_parameters(site: Site, api: bool) -> None:
    asked = 0
    for method, path, told in operations(site):
        if method == "POST" or (path.endswith("/export") and not api):
            continue
        with_whatever(site, path if api else path.removeprefix("/api"), parameters(site, told))
        asked += 1
    assert asked >= 8


def with_whatever(site: Site, path: str, known: list[tuple[dict[str, Any], st.SearchStrategy[str]]]) -> None:
    @settings(BOUNDED, max_examples=20)
    @given(data=st.data())
    def asked(data: st.DataObject) -> None:
        query, where = {}, path
        for one, values in known:
            if one["in"] == "path":
                where = where.replace("{" + one["name"] + "}", quote(data.draw(values), safe=""))
            elif data.draw(st.booleans()):
                query[one["name"]] = data.draw(values)
        sound(site, where + "?" + urlencode(query))

    if known:
        asked()
    else:
        sound(site, path)


json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), anything, hostile),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(anything, inner, max_size=3)),
    max_leaves=5,
)
words = st.lists(
    st.sampled_from([*SCRIPT.split(), ".", "\n\n", "الله", "日本語。", "👩‍👩‍👧", "\x07"]), max_size=60
).map(" ".join)


@pytest.mark.usefixtures("elastic_url")
@BOUNDED
@example(body={"text": SCRIPT})
@example(body={"text": "a" * 20_001})
@example(body={"text": "\ud800"})
@example(body={"text": "﷽" * 9_999})
@example(body={"text": ("." * 7 + " ") * 2_000})
@given(body=st.one_of(json, st.fixed_dictionaries({"text": st.one_of(anything, hostile, words)})))
def test_whatever_json_is_posted(sites: Callable[[str], Site], body: Any) -> None:
    for kind in ("embedded", "server"):
        for path in ("/api/check", "/api/text"):
            sound(sites(kind), path, method="POST", body=body)


@BOUNDED
@given(
    body=st.one_of(st.binary(max_size=300), words.map(lambda text: urlencode({"text": text}).encode())),
    kind=st.sampled_from(["application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x"]),
)  # fmt: skip
def test_whatever_bytes_are_posted(one_site: Site, body: bytes, kind: str) -> None:
    for path in ("/check", "/text", "/api/check", "/api/text", "/enter", "/clusters"):
        sound(one_site, path, method="POST", body=body, headers={"Content-Type": kind})


piece = st.one_of(
    st.sampled_from(["api", "clusters", "templates", "articles", "assets", "..", "", "export"]),
    value.map(lambda text: quote(text, safe="")),
    st.text(string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@%", max_size=12),
)  # fmt: skip


@BOUNDED
@given(pieces=st.lists(piece, max_size=5), query=st.text(string.printable.strip().replace("#", ""), max_size=40))
def test_whatever_address_is_asked_for(one_site: Site, pieces: list[str], query: str) -> None:
    sound(one_site, "/" + "/".join(pieces) + "?" + query)


@BOUNDED
@given(
    name=st.sampled_from(["Accept", "Cookie", "Authorization", "Content-Length", "Content-Type", "Range", "Expect"]),
    text=st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
)  # fmt: skip
def test_whatever_headers_are_sent(one_site: Site, name: str, text: str) -> None:
    head = f"GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1\r\n{name}: ".encode() + text.encode("latin-1")
    got = one_site.raw(head + b"\r\nConnection: close\r\n\r\n" + b" " * 20)
    assert not got or got.split(b" ", 2)[1][:1] in (b"2", b"4"), got[:300]
