"""Addresses, certificates, passwords and servers that are not what they should be: one line that says what to do."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from esdedup.node.jars import free_ports
from tests.support.commands import said
from tests.support.elastic_proxy import (
    Exchange,
    Proxy,
    Request,
    answer,
    require_api_key,
    require_basic,
    reset_before,
    silence,
)
from tests.system.robustness.helpers import one_line

HTML = "<html><head><title>Log in</title></head><body>This network wants to know you.</body></html>"
NOT_ELASTICSEARCH = "the server is neither Elasticsearch nor OpenSearch; check --store"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 0.3)
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.TIMEOUT", 5.0)
    for name in [name for name in os.environ if name.startswith("ES_")]:
        monkeypatch.delenv(name)


def status(address: str, code: int = 1) -> str:
    return one_line(said("status", "--store", address), code)


def every(_: Request) -> bool:
    return True


def at(proxy: Proxy, scheme: str | None = None) -> str:
    return f"{scheme or proxy.url.split(':')[0]}:{proxy.url.partition(':')[2]}/nothing"


def is_reached(address: str) -> bool:
    """Whether the server lets us in, and says that it has no such store."""
    return "there is no store" in status(address)


def test_nothing_listens() -> None:
    [port] = free_ports(1)
    line = status(f"http://127.0.0.1:{port}/wiki")
    hint = "start the server, or start one on this machine with esdedup node start"
    assert line == f"esdedup: http://127.0.0.1:{port}/wiki: connection refused; {hint}\n"


def test_where_nothing_was_ever_heard_patience_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.PATIENCE", 3600.0)
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.FIRST_PATIENCE", 0.3)
    [port] = free_ports(1)
    assert "connection refused" in status(f"http://127.0.0.1:{port}/wiki")


def test_no_such_host() -> None:
    assert "no host of this name is known" in status("http://nowhere.invalid:9200/wiki")


def test_tls_is_told_apart_from_none(elastic_url: str) -> None:
    with Proxy(elastic_url, tls=True) as proxy:
        line = status(at(proxy, "http"))
        assert line.endswith("the server closed the connection without an answer; try https:// instead of http://\n")
    with Proxy(elastic_url) as proxy:
        assert status(at(proxy, "https")).endswith("the server does not use TLS; try http:// instead of https://\n")
    # where nobody says a word, it may be this or that
    with Proxy(elastic_url) as proxy:
        proxy.when(every, reset_before, times=None)
        assert "no connection (" in status(at(proxy)) or "https:// instead of http://" in status(at(proxy))


def test_certificates(elastic_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy(elastic_url, tls=True) as proxy:
        line = status(at(proxy))
        assert "the server's certificate is not trusted (unable to get local issuer certificate)" in line
        assert line.endswith("; set ES_CA_CERTS to the CA certificate file, or ES_CA_FINGERPRINT\n")
        monkeypatch.setenv("ES_CA_CERTS", str(proxy.ca_file))
        assert is_reached(at(proxy))
        # the name is checked, too
        assert "is not trusted (Hostname mismatch" in status(at(proxy).replace("127.0.0.1", "127.1"))
        monkeypatch.delenv("ES_CA_CERTS")
        monkeypatch.setenv(
            "ES_CA_FINGERPRINT", ":".join(proxy.fingerprint.upper()[at : at + 2] for at in range(0, 64, 2))
        )
        assert is_reached(at(proxy))
        monkeypatch.setenv("ES_CA_FINGERPRINT", "00" * 32)
        assert "the certificate does not match ES_CA_FINGERPRINT; check the address and the fingerprint" in status(
            at(proxy)
        )


@pytest.mark.parametrize("told", ["00" * 31, "00" * 33, "0" * 63 + "g", "SHA256:" + "00" * 32])
def test_what_is_no_fingerprint(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_CA_FINGERPRINT", told)
    line = status("https://127.0.0.1:9/wiki", 2)
    assert line == "esdedup: ES_CA_FINGERPRINT is not a SHA-256 fingerprint, which has 64 hexadecimal digits\n"


def test_files_of_certificates_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text.pem"
    text.write_text("no certificate\n")
    for path, why in (
        (tmp_path / "missing.pem", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (text, "the file contains no certificate"),
    ):
        monkeypatch.setenv("ES_CA_CERTS", str(path))
        line = status("https://127.0.0.1:9/wiki", 2)
        assert line == f"esdedup: ES_CA_CERTS {path}: {why}; set it to the CA certificate file\n"


@pytest.mark.parametrize(
    "password", ["simple", "Gürkensalat", "пароль", "a:b\n", b"\xff\xfe".decode("utf-8", "surrogateescape")]
)
def test_passwords_in_any_letters(elastic_url: str, password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "Basic " + base64.b64encode(os.fsencode(f"käthe:{password}")).decode()
    with Proxy(
        elastic_url, auth=lambda request: None if request.headers.get("authorization") == expected else "no"
    ) as proxy:
        denied = "access denied (401); set ES_API_KEY, or ES_USERNAME and ES_PASSWORD\n"
        assert status(at(proxy)).endswith(denied)
        monkeypatch.setenv("ES_USERNAME", "käthe")
        monkeypatch.setenv("ES_PASSWORD", password)
        assert is_reached(at(proxy))
        monkeypatch.setenv("ES_PASSWORD", password + "x")
        assert status(at(proxy)).endswith(denied)


def test_basic_and_key_as_the_proxy_knows_them(elastic_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_USERNAME", "elastic")
    monkeypatch.setenv("ES_PASSWORD", "changeme")
    with Proxy(elastic_url, auth=require_basic("elastic", "changeme")) as proxy:
        assert is_reached(at(proxy))
    monkeypatch.delenv("ES_USERNAME")
    monkeypatch.delenv("ES_PASSWORD")
    monkeypatch.setenv("ES_API_KEY", "a2V5OnNlY3JldA==")
    with Proxy(elastic_url, tls=True, auth=require_api_key("a2V5OnNlY3JldA==")) as proxy:
        monkeypatch.setenv("ES_CA_CERTS", str(proxy.ca_file))
        assert is_reached(at(proxy))
        monkeypatch.setenv("ES_API_KEY", "another")
        assert "access denied (401)" in status(at(proxy))


def test_secrets_that_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("two words", "key\n\n", "schlüssel"):
        monkeypatch.setenv("ES_API_KEY", key)
        line = status("http://127.0.0.1:9/wiki", 2)
        assert line.startswith("esdedup: ES_API_KEY is not valid")
        assert "schlüssel" not in line
    monkeypatch.delenv("ES_API_KEY")
    monkeypatch.setenv("ES_CLOUD_ID", "no cloud")
    assert status("cloud:/wiki", 2).startswith("esdedup: ES_CLOUD_ID is not valid: ")


def older(exchange: Exchange) -> None:
    """A server of the version before, which does not know what the client speaks."""
    why = "A compatible version is required on both Content-Type and Accept headers"
    error = {"type": "media_type_header_exception", "reason": why}
    answer(400, {"error": {"root_cause": [error], **error}, "status": 400})(exchange)


STRANGERS: dict[str, tuple[Callable[[Exchange], None], str]] = {
    "a page": (answer(200, HTML, "text/html", product=False), NOT_ELASTICSEARCH),
    "a page that is not there": (answer(404, HTML, "text/html", product=False), NOT_ELASTICSEARCH),
    "the way to another page": (answer(302, HTML, "text/html", {"Location": "/"}, product=False), NOT_ELASTICSEARCH),
    "JSON of others": (answer(200, {"message": "hello"}, product=False), NOT_ELASTICSEARCH),
    "JSON of others that is not there": (answer(404, {"message": "no route"}, product=False), NOT_ELASTICSEARCH),
    "an older server": (older, "pip install 'elasticsearch>=8.16,<9', which supports servers 8 and 9"),
    "not allowed": (answer(403), "use credentials that can read and write nothing-*"),
    "a gateway's page": (answer(502, HTML, "text/html", product=False), "unavailable (502): Log in This network wants"),
    "half an answer": (answer(200, b'{"a":'), "the answer is not valid JSON"),
    "no object": (answer(200, b"[1]"), "the answer to GET /nothing-* does not come from Elasticsearch"),
    "no letters": (answer(200, b"\xff\xfe", "text/plain"), "run the same command again to continue"),
    "nothing": (answer(200, b""), "the answer is not valid JSON"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_answers_of_others(elastic_url: str, name: str) -> None:
    action, words = STRANGERS[name]
    with Proxy(elastic_url) as proxy:
        proxy.when(every, action, times=None)
        line = status(at(proxy))
        assert words in line
        assert at(proxy) in line
        # and nothing is written there
        assert {seen.method for seen in proxy.log} == {"GET"}


def test_silence_is_named(elastic_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.store.elasticsearch.connection.TIMEOUT", 0.5)
    with Proxy(elastic_url) as proxy:
        proxy.when(every, silence(30), times=None)
        assert status(at(proxy)).endswith(": no answer within 0.5 seconds; run the same command again to continue\n")
