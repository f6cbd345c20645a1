"""`esdedup kibana import`: what goes over the wire, and one clear line for whatever comes back.

There is no Kibana where these tests run: a small server answers as one does.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import socket
import ssl
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path

import pytest

from esdedup.errors import KibanaError, UsageError
from esdedup.kibana import saved_objects as kibana
from esdedup.kibana.saved_objects import dashboard_body, import_dashboards, saved_objects
from tests.support.small_server import Request, server

STORE = "http://127.0.0.1:9200/news"
SUCCESS = (200, '{"successCount":7,"success":true,"warnings":[],"successResults":[]}')
OTHERS = (200, '{"successCount":6,"success":true}')
PUT = (200, '{"id":"esdedup-news","data":{"title":"esdedup news"},"meta":{"version":"WzEsMV0="}}')
SECRET = 'pass "word" é'


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ES_"):
            monkeypatch.delenv(name)


def refusal(address: str) -> str:
    """The line in which an import ends."""
    with pytest.raises(KibanaError) as caught:
        import_dashboards(STORE, address)
    line = str(caught.value)
    assert line.startswith(f"{address}: ")
    assert "\n" not in line
    return line.removeprefix(f"{address}: ")


def file_of(request: Request) -> tuple[str, str, bytes]:
    """Of a form's one part: the name of its field, that of its file, and its bytes."""
    form = message_from_bytes(f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode() + request.body)
    [part] = form.get_payload()
    return (
        str(part.get_param("name", header="content-disposition")),
        str(part.get_filename()),
        part.get_payload(decode=True),
    )


# ---- what is sent


def test_the_objects_of_the_store_are_sent() -> None:
    with server(SUCCESS) as (url, requests):
        done = import_dashboards(STORE, url + "/")
    assert done == {"objects": 7, "dashboard": f"{url}/app/dashboards#/view/esdedup-news"}
    [question, request] = requests
    assert (question.method, question.path, question.body) == ("GET", "/api/status", b"")
    assert (request.method, request.path) == ("POST", "/api/saved_objects/_import?overwrite=true")
    assert request.headers["kbn-xsrf"]
    field, name, sent = file_of(request)
    assert (field, name.endswith(".ndjson")) == ("file", True)
    assert sent == saved_objects("news")
    assert "authorization" not in request.headers


def test_a_space_and_a_base_path_stay_in_the_address() -> None:
    with server(SUCCESS) as (url, requests):
        done = import_dashboards(STORE, f"{url}/kibana/s/press")
    assert [request.path for request in requests] == [
        "/kibana/s/press/api/status", "/kibana/s/press/api/saved_objects/_import?overwrite=true",
    ]  # fmt: skip
    assert done["dashboard"] == f"{url}/kibana/s/press/app/dashboards#/view/esdedup-news"


def test_user_and_password_are_those_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_USERNAME", "elastic")
    monkeypatch.setenv("ES_PASSWORD", SECRET)
    with server(SUCCESS) as (url, requests):
        import_dashboards(STORE, url)
    [(scheme, code)] = {tuple(request.headers["authorization"].split(" ")) for request in requests}
    assert (scheme, base64.b64decode(code).decode()) == ("Basic", f"elastic:{SECRET}")


def test_an_api_key_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_API_KEY", "abc123==")
    with server(SUCCESS) as (url, requests):
        import_dashboards(STORE, url)
    assert requests[0].headers["authorization"] == "ApiKey abc123=="


def test_no_secret_is_logged_or_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("ES_USERNAME", "elastic")
    monkeypatch.setenv("ES_PASSWORD", SECRET)
    with caplog.at_level(logging.DEBUG), server((401, '{"statusCode":401}')) as (url, requests):
        told = refusal(url)
    code = requests[0].headers["authorization"].split(" ")[1]
    for secret in (SECRET, code):
        assert secret not in caplog.text + told
        assert secret not in requests[0].path


# ---- the form that the version of Kibana takes


def status(number: str, code: int = 200) -> tuple[int, str]:
    version = {"number": number, "build_hash": "0123", "build_flavor": "traditional"}
    return code, json.dumps({"name": "kibana", "version": version, "status": {"overall": {"level": "available"}}})


@pytest.mark.parametrize("number", ["8.16.0", "8.19.3", "9.0.0", "9.3.4"])
def test_older_versions_import_all_objects(number: str) -> None:
    with server(status(number), SUCCESS) as (url, requests):
        assert import_dashboards(STORE, url)["objects"] == 7
    assert [request.method for request in requests] == ["GET", "POST"]
    assert file_of(requests[1])[2] == saved_objects("news")


@pytest.mark.parametrize("number", ["9.4.0", "9.4.5", "9.5.0-SNAPSHOT", "9.5.2", "9.10.0", "10.0.0"])
@pytest.mark.parametrize("made", [200, 201])
def test_newer_versions_take_the_dashboard_through_its_own_api(number: str, made: int) -> None:
    with server(status(number), OTHERS, (made, PUT[1])) as (url, requests):
        done = import_dashboards(STORE, f"{url}/s/press")
    assert done == {"objects": 7, "dashboard": f"{url}/s/press/app/dashboards#/view/esdedup-news"}
    assert [(request.method, request.path) for request in requests] == [
        ("GET", "/s/press/api/status"),
        ("POST", "/s/press/api/saved_objects/_import?overwrite=true"),
        ("PUT", "/s/press/api/dashboards/esdedup-news"),
    ]
    objects = file_of(requests[1])[2].splitlines(keepends=True)
    assert objects == saved_objects("news").splitlines(keepends=True)[:-1]
    assert {json.loads(line)["type"] for line in objects} == {"index-pattern", "search"}
    assert requests[2].headers["content-type"] == "application/json"
    assert requests[2].headers["kbn-xsrf"]
    assert requests[2].body == dashboard_body("news")


@pytest.mark.parametrize(
    "unknown",
    [
        (401, '{"statusCode":401}'), (403, '{"statusCode":403}'), (404, '{"statusCode":404}'), (302, ""), (200, ""),
        (200, '{"status":{"overall":{"level":"available"}}}'), (503, '{"status":{"overall":{"level":"critical"}}}'),
        (200, '{"version":"9.5.0"}'), (200, '{"version":{"number":null}}'), (200, "<!DOCTYPE html>"), (200, "[]"),
    ],
)  # fmt: skip
def test_a_version_that_is_not_told_is_an_older_one(unknown: tuple[int, str]) -> None:
    with server(unknown, SUCCESS) as (url, requests):
        assert import_dashboards(STORE, url)["objects"] == 7
    assert file_of(requests[1])[2] == saved_objects("news")


def test_a_part_of_kibana_may_be_down() -> None:
    with server(status("9.5.0", 503), OTHERS, PUT) as (url, requests):
        import_dashboards(STORE, url)
    assert [request.method for request in requests] == ["GET", "POST", "PUT"]


def test_a_busy_kibana_is_asked_again_for_each_step() -> None:
    busy = (503, "Kibana server is not ready yet")
    with server(busy, status("9.4.0"), busy, OTHERS, (429, "{}"), PUT) as (url, requests):
        assert import_dashboards(STORE, url)["objects"] == 7
    assert [request.method for request in requests] == ["GET", "GET", "POST", "POST", "PUT", "PUT"]


@pytest.mark.parametrize("answers", [(status("9.3.0"), SUCCESS), (status("9.5.0"), OTHERS, PUT)])
def test_a_second_import_asks_for_the_same(answers: tuple[tuple[int, str], ...]) -> None:
    with server(*answers, *answers) as (url, requests):
        assert import_dashboards(STORE, url) == import_dashboards(STORE, url)
    asked = [
        (request.method, request.path, file_of(request)[2] if request.method == "POST" else request.body)
        for request in requests
    ]
    assert asked[: len(answers)] == asked[len(answers) :]
    assert all("overwrite=true" in path for method, path, _ in asked if method == "POST")


@pytest.mark.parametrize(
    ("code", "body", "told"),
    [
        (400, '{"statusCode":400,"message":"[request body.panels.0]: types that failed validation"}',
         "Kibana refuses it (400): [request body.panels.0]: types that failed validation; fix that"),
        (403, '{"statusCode":403,"message":"Unable to create dashboard"}',
         "permission denied (403): Unable to create dashboard; use credentials that can write saved objects"),
        (404, '{"statusCode":404,"message":"Not Found"}', "no Dashboards API at /api/dashboards/ (404); let the proxy"),
        (409, '{"statusCode":409,"message":"version conflict"}', "Kibana refuses it (409): version conflict; fix that"),
        (503, '{"statusCode":503}', "still busy or starting (503); run the same command again later"),
        (200, "<!DOCTYPE html>", "the answer (200) is not that of Kibana's import"),
        (200, '{"id":"another"}', "the answer (200) is not that of Kibana's import"),
    ],
)  # fmt: skip
def test_a_dashboard_that_is_refused_is_one_line(
    monkeypatch: pytest.MonkeyPatch, code: int, body: str, told: str
) -> None:
    monkeypatch.setattr(kibana, "PATIENCE", 0.1)
    with server(status("9.5.0"), OTHERS, (code, body)) as (url, requests):
        assert told in refusal(url)
    assert [request.method for request in requests][:3] == ["GET", "POST", "PUT"]


# ---- what comes back


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, '{"statusCode":401,"error":"Unauthorized","message":"[security_exception]"}',
         "access denied (401); set ES_API_KEY, or ES_USERNAME and ES_PASSWORD, of a user who may use Kibana"),
        (403, '{"statusCode":403,"error":"Forbidden","message":"Unable to bulk_create dashboard"}',
         "permission denied (403): Unable to bulk_create dashboard; use credentials that can write saved objects"),
        (400, '{"statusCode":400,"error":"Bad Request","message":"Invalid file extension .txt"}',
         "Kibana refuses it (400): Invalid file extension .txt; fix that"),
        (409, '{"statusCode":409,"error":"Conflict","message":"version conflict"}',
         "Kibana refuses it (409): version conflict; fix that"),
        (413, '{"statusCode":413,"message":"Payload content length greater than maximum"}', "(413): Payload"),
        (422, '{"statusCode":422,"message":"Document \\"esdedup-news\\" belongs to a more recent version of Kibana '
         '[8.9.0] when the last known version is [8.7.0]."}',
         'Kibana is too old: Document "esdedup-news" belongs to a more recent version of Kibana [8.9.0]'),
        (200, '{"successCount":6,"success":false,"errors":[{"id":"esdedup-news","type":"dashboard","error":{'
         '"type":"unknown","statusCode":422,"message":"It belongs to a more recent version of Kibana [8.9.0]"}}]}',
         "Kibana is too old: dashboard esdedup-news (It belongs to a more recent version of Kibana [8.9.0]); "
         "the dashboard is for 8.9 and newer"),
        (200, '{"successCount":5,"success":false,"errors":[{"id":"a","type":"search","error":{'
         '"type":"missing_references","references":[{"type":"index-pattern","id":"b"}]}},{"id":"c","type":"dashboard","error":{"type":"conflict"}}]}',
         "not imported: search a (missing_references index-pattern b), dashboard c (conflict); Kibana's log"),
        (200, '{"success":false}', "not imported: no reason given; Kibana's log may say more"),
        (200, '{"success":false,"errors":["odd",{"error":"odd","type":"x"}]}', "not imported: x None (refused);"),
        (200, "<!DOCTYPE html><title>Log in</title>", "(200) is not that of Kibana's import; --kibana must be all"),
        (200, '{"success":true}', "the answer (200) is not that of Kibana's import"),
        (200, "[]", "the answer (200) is not that of Kibana's import"),
        (200, "", "the answer (200) is not that of Kibana's import"),
        (302, "", "the answer (302) is not that of Kibana's import"),
        (404, '{"statusCode":404,"error":"Not Found"}', "the answer (404) is not that of Kibana's import"),
        (500, '{"statusCode":500,"message":"An internal server error occurred"}', "refuses it (500): An internal"),
    ],
)  # fmt: skip
def test_what_went_wrong_is_one_line(status: int, body: str, told: str) -> None:
    with server((status, body)) as (url, requests):
        line = refusal(url)
    assert told in line
    assert [request.method for request in requests] == ["GET", "POST"]  # asking again would not help


def test_a_long_list_of_refusals_is_cut() -> None:
    errors = [{"id": str(at), "type": "dashboard", "error": {"type": "conflict"}} for at in range(1000)]
    with server((200, json.dumps({"success": False, "errors": errors}))) as (url, _):
        assert len(refusal(url)) < 400


def test_a_kibana_that_is_starting_is_asked_again() -> None:
    with server((503, "Kibana server is not ready yet"), (503, "no"), SUCCESS) as (url, requests):
        assert import_dashboards(STORE, url)["objects"] == 7
    assert len(requests) == 4


def test_one_that_never_gets_ready_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kibana, "PATIENCE", 0.3)
    with server((503, "Kibana server is not ready yet")) as (url, requests):
        assert refusal(url) == "still busy or starting (503); run the same command again later"
    assert len(requests) > 1


def test_nobody_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kibana, "FIRST_PATIENCE", 0.3)
    line = refusal("http://127.0.0.1:9")
    assert line == "no connection ([Errno 111] Connection refused); check that Kibana is running at this address"


def test_silence_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kibana, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        line = refusal(f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert line == "no answer within 0.2 seconds; run the same command again"


def test_elasticsearch_is_not_kibana(elastic_url: str) -> None:
    assert "this is Elasticsearch; give Kibana's address with --kibana" in refusal(elastic_url)


def test_kibana_with_tls_is_trusted_by_its_authority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import trustme

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    monkeypatch.setattr(kibana, "FIRST_PATIENCE", 0.3)
    with server(SUCCESS, tls=context) as (url, requests):
        assert "no trusted connection (" in refusal(url)
        assert "set ES_CA_CERTS" in refusal(url)
        assert requests == []
        monkeypatch.setenv("ES_CA_CERTS", str(tmp_path / "ca.pem"))
        assert import_dashboards(STORE, url)["objects"] == 7
        monkeypatch.setenv("ES_CA_FINGERPRINT", "00" * 32)
        assert "unset ES_CA_FINGERPRINT" in refusal(url)
    with server(SUCCESS) as (url, _):
        monkeypatch.delenv("ES_CA_FINGERPRINT")
        assert "is the address http://?" in refusal(url.replace("http://", "https://"))


# ---- addresses


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:5601", "ftp://host", "http://", "http://host:x", "http://a b", "http://host/?a=b", "http://host/app#/home",
     "http://host/a b", "http://[::1", "https://host:99999"],
)  # fmt: skip
def test_an_address_that_makes_no_sense_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--kibana: the address is not valid; give --kibana http"):
        import_dashboards(STORE, address)


def test_no_password_in_an_address() -> None:
    with pytest.raises(UsageError, match="set ES_USERNAME and ES_PASSWORD") as caught:
        import_dashboards(STORE, "http://elastic:secret@127.0.0.1:5601")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("http://[::1]:5601/", "http://[::1]:5601"),
        ("https://Kibana.Example.org/s/press/", "https://kibana.example.org/s/press"),
    ],
)
def test_an_address_is_taken_as_browsers_do(given: str, taken: str) -> None:
    assert kibana._checked(given) == taken


# ---- the command


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from esdedup.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "kibana", "import", *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_the_command_says_where_the_dashboard_is(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    with server(SUCCESS) as (url, requests):
        done = command("--kibana", url, ESDEDUP_STORE=STORE)
        config.write_text(f'es-api-key = "key-in-a-file"\nkibana = "{url}"\n')
        as_json = command("--store", STORE, "--config", str(config), "--json")
    address = f"{url}/app/dashboards#/view/esdedup-news"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"imported 7 objects: {address}\n", "")
    assert json.loads(as_json.stdout) == {"objects": 7, "dashboard": address}
    assert [request.headers.get("authorization") for request in requests] == [
        None, None, "ApiKey key-in-a-file", "ApiKey key-in-a-file",
    ]  # fmt: skip


def test_the_command_fails_with_one_line() -> None:
    with server((200, '{"success":false}')) as (url, _):
        done = command("--store", STORE, "--kibana", url)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"esdedup: {url}: not imported: no reason given; Kibana's log may say more\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--store", "a.duckdb"], "a.duckdb: Kibana shows stores on a server"),
        (["--store", "http://127.0.0.1:9200/"], "the address must end with a prefix"),
        (["--store", STORE, "--out", "a.json"], "--out a.json: Kibana accepts only files with the extension .ndjson"),
        (["--store", STORE, "--out", "a.ndjson", "--kibana", "http://x"], "--out writes a file and --kibana imports"),
        (["--store", STORE, "--kibana", "http://u:secret@x"], "must not contain a user and password"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], told: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "secret" not in done.stderr


def test_a_file_to_import_by_hand(tmp_path: Path) -> None:
    out = tmp_path / "news.ndjson"
    done = command("--store", STORE, "--out", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wrote 7 objects to {out}\n", "")
    assert out.read_bytes() == saved_objects("news")
    assert list(tmp_path.iterdir()) == [out]
    refused = command("--store", STORE, "--out", str(tmp_path / "no" / "news.ndjson"))
    assert refused.returncode == 1
    assert "No such file or directory" in refused.stderr
