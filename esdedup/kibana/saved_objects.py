"""The Kibana dashboard of a store: the files of `mappings/kibana` for one prefix, and their import.

Data views and searches are saved objects in every version of Kibana. So is the dashboard up to 9.3; from 9.4 on, it
goes through the Dashboards API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, NoReturn

import orjson
from elastic_transport import ConnectionTimeout, HttpHeaders, NodeConfig, TlsError, TransportError
from elastic_transport.client_utils import url_to_node_config
from urllib3 import encode_multipart_formdata

from esdedup.errors import KibanaError, UsageError
from esdedup.store.elasticsearch.address import ServerAddress, client_options, split_address
from esdedup.store.elasticsearch.answers import ANSWER_BYTES, Node, TooLongError
from esdedup.store.elasticsearch.connection import FIRST_PATIENCE, PATIENCE, TIMEOUT, Pauses
from esdedup.store.schemas import mapping_text

OLDEST = "8.9"
"""The version of Kibana whose format the objects have. Older versions reject them."""

_WRITTEN_FOR = re.compile(r"\bwiki\b")  # the prefix in the file, where this word means nothing else
_FORM = "give --kibana http://HOST:PORT or https://HOST:PORT, including the path of Kibana or its space, as in /s/SPACE"
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")
_PATH = re.compile(r"(/[A-Za-z0-9._~%-]+)*")
_IMPORT = "/api/saved_objects/_import?overwrite=true"
_DASHBOARDS = "/api/dashboards/"
_DASHBOARDS_SINCE = (9, 4)
"""The API is a preview in 9.4 and stable in 9.5. Our dashboard has one form for both."""
_BUSY = (429, 502, 503, 504)


def saved_objects(prefix: str) -> bytes:
    """Return what Kibana imports for the store of a prefix, as newline-delimited JSON: data views, searches, a
    dashboard.
    """
    return _WRITTEN_FOR.sub(prefix, mapping_text("kibana/esdedup.ndjson")).encode()


def dashboard_body(prefix: str) -> bytes:
    """Return the dashboard for the store of a prefix as the Dashboards API takes it: a JSON object."""
    return _WRITTEN_FOR.sub(prefix, mapping_text("kibana/dashboard.json")).encode()


def import_dashboards(store: str, kibana: str) -> dict[str, Any]:
    """Import the dashboard of the store at an address into Kibana. It replaces an earlier import.

    Returns `objects`, the number of objects, and `dashboard`, its address. Kibana is asked for its version: before 9.4,
    or if it does not tell, the dashboard is imported as a saved object. The store itself is not used. Credentials and
    trusted certificates come from the same environment variables as for the store. Raises `UsageError` for invalid
    addresses and variables, and `KibanaError` if the import fails.
    """
    prefix = ServerAddress.parse(store).prefix
    address = _checked(kibana)
    name = f"esdedup-{prefix}"
    objects = saved_objects(prefix)
    with closing(_Kibana(address, prefix)) as server:
        if server.version() < _DASHBOARDS_SINCE:
            count = server.imported(objects)
        else:
            *others, _ = objects.splitlines(keepends=True)  # the dashboard is last, as it refers to the others
            count = server.imported(b"".join(others)) + 1
            server.put_dashboard(name, dashboard_body(prefix))
    return {"objects": count, "dashboard": f"{address}/app/dashboards#/view/{name}"}


def _checked(address: str) -> str:
    """Return an address without unexpected parts."""
    scheme, host, port, path = split_address(address, "--kibana", _FORM)
    path = path.rstrip("/")
    if not (_HOST.fullmatch(host) and _PATH.fullmatch(path)):
        raise UsageError(f"--kibana: the address is not valid; {_FORM}")
    return f"{scheme}://{host}{'' if port is None else f':{port}'}{path}"


class _Kibana:
    """A Kibana server. Requests are repeated while it is busy or starting; each may arrive twice without harm."""

    def __init__(self, address: str, prefix: str) -> None:
        self._address = address
        options = client_options(ServerAddress(address, prefix))
        headers = {"kbn-xsrf": "esdedup", "accept": "application/json"}
        if "api_key" in options:
            headers["authorization"] = f"ApiKey {options['api_key']}"
        if "basic_auth" in options:
            headers["authorization"] = f"Basic {options['basic_auth']}"
        trust = {name: options[name] for name in ("ca_certs", "ssl_assert_fingerprint") if name in options}
        config: NodeConfig = url_to_node_config(address, use_default_ports_for_scheme=True)
        self._node = Node(replace(config, headers=headers, request_timeout=TIMEOUT, **trust))

    def version(self) -> tuple[int, int]:
        """Return the version, or (0, 0) if Kibana does not tell it: from 9.5 on, only to users with `monitor`."""
        _, _, payload = self._answer("GET", "/api/status")
        told = payload.get("version")
        match = re.match(r"(\d+)\.(\d+)", str(told.get("number"))) if isinstance(told, dict) else None
        return (int(match[1]), int(match[2])) if match else (0, 0)

    def imported(self, objects: bytes) -> int:
        """Import saved objects and return how many they are."""
        part = ("esdedup.ndjson", objects, "application/x-ndjson")  # Kibana rejects files with other extensions
        body, kind = encode_multipart_formdata({"file": part})
        status, headers, payload = self._answer("POST", _IMPORT, body, kind)
        count = payload.get("successCount")
        if status != 200 or payload.get("success") is not True or not isinstance(count, int):
            self._fail(_problem(status, headers, payload))
        return count

    def put_dashboard(self, name: str, body: bytes) -> None:
        """Create the dashboard with this id, or replace it."""
        status, headers, payload = self._answer("PUT", _DASHBOARDS + name, body, "application/json")
        if status == 404:
            self._fail(
                f"no Dashboards API at {_DASHBOARDS} (404); let the proxy of Kibana pass it, or import --out by hand"
            )
        if status not in (200, 201) or payload.get("id") != name:
            self._fail(_problem(status, headers, payload))

    def close(self) -> None:
        self._node.close()

    def _answer(
        self, method: str, target: str, body: bytes | None = None, kind: str = ""
    ) -> tuple[int, HttpHeaders, dict[str, Any]]:
        """Return status, headers and JSON object of an answer."""
        headers = HttpHeaders({"content-type": kind} if body else {})
        pauses = Pauses()
        while True:
            try:
                meta, raw = self._node.perform_request(method, target, body, headers)
            except TransportError as error:
                self._raise_if_hopeless(error)
                if not pauses.wait(FIRST_PATIENCE):
                    self._fail(f"no connection ({_line(_root(error))}); check that Kibana is running at this address")
                continue
            payload = _parsed(raw)
            # /api/status answers 503 if a part of Kibana is down, with the status and the version
            if meta.status not in _BUSY or "status" in payload:
                return meta.status, meta.headers, payload
            if not pauses.wait(PATIENCE):
                self._fail(_problem(meta.status, meta.headers, payload))

    def _raise_if_hopeless(self, error: TransportError) -> None:
        if isinstance(error.__cause__, TooLongError):
            self._fail(f"the answer is longer than {ANSWER_BYTES >> 20} MiB, so it is not from Kibana; check --kibana")
        if isinstance(error, ConnectionTimeout):
            self._fail(f"no answer within {TIMEOUT:g} seconds; run the same command again")
        if isinstance(error, TlsError):
            self._fail(
                f"no trusted connection ({_line(_root(error))}); set ES_CA_CERTS to its certificate file, and "
                "unset ES_CA_FINGERPRINT, which is Elasticsearch's; or is the address http://?"
            )

    def _fail(self, what: str) -> NoReturn:
        raise KibanaError(f"{self._address}: {what}")


def _problem(status: int, headers: Mapping[str, str], payload: Mapping[str, Any]) -> str:
    """Return why an answer is not a success, and what to do."""
    reason = _refusals(payload) or _line(payload.get("message") or "no reason given")
    if "more recent version" in reason:
        return f"Kibana is too old: {reason}; the dashboard is for {OLDEST} and newer"
    if status == 200 and payload.get("success") is False:
        return f"not imported: {reason}; Kibana's log may say more"
    if headers.get("x-elastic-product") == "Elasticsearch":
        return "this is Elasticsearch; give Kibana's address with --kibana, as in http://127.0.0.1:5601"
    if status == 401:
        return "access denied (401); set ES_API_KEY, or ES_USERNAME and ES_PASSWORD, of a user who may use Kibana"
    if status == 403:
        return f"permission denied (403): {reason}; use credentials that can write saved objects in this space"
    if status in _BUSY:
        return f"still busy or starting ({status}); run the same command again later"
    if "statusCode" in payload and status != 404:
        return f"Kibana refuses it ({status}): {reason}; fix that and run the same command again"
    return f"the answer ({status}) is not that of Kibana's import; --kibana must be all that precedes /app in a browser"


def _parsed(raw: bytes) -> dict[str, Any]:
    """Return an answer that is a JSON object, otherwise an empty one."""
    try:
        payload = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return payload if isinstance(payload, dict) else {}


def _refusals(payload: Mapping[str, Any]) -> str:
    """Return the rejected objects and the reasons, as much as fits in a line."""
    errors = payload.get("errors")
    return _line(
        ", ".join(_refusal(one) for one in errors if isinstance(one, dict)) if isinstance(errors, list) else ""
    )


def _refusal(payload: Mapping[str, Any]) -> str:
    error = payload.get("error")
    why = error if isinstance(error, dict) else {}
    missing = why.get("references")
    named = [f"{one.get('type')} {one.get('id')}" for one in missing if isinstance(one, dict)] if missing else []
    reason = " ".join([str(why.get("message") or why.get("type") or "refused"), *named])
    return f"{payload.get('type')} {payload.get('id')} ({reason})"


def _line(payload: Any) -> str:
    line = " ".join(str(payload).split())
    return line if len(line) <= 300 else line[:300] + "…"


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
