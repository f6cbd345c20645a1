"""The Kibana dashboard of a store: the saved objects of `mappings/kibana` for one prefix, and their import."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
_TARGET = "/api/saved_objects/_import?overwrite=true"
_BUSY = (429, 502, 503, 504)


def saved_objects(prefix: str) -> bytes:
    """Return what Kibana imports for the store of a prefix, as newline-delimited JSON: data views, searches, a
    dashboard.
    """
    return _WRITTEN_FOR.sub(prefix, mapping_text("kibana/esdedup.ndjson")).encode()


def import_dashboards(store: str, kibana: str) -> dict[str, Any]:
    """Import the dashboard of the store at an address into Kibana. It replaces an earlier import.

    Returns `objects`, the number of objects, and `dashboard`, its address. The store itself is not used. Credentials
    and trusted certificates come from the same environment variables as for the store. Raises `UsageError` for invalid
    addresses and variables, and `KibanaError` if the import fails.
    """
    prefix = ServerAddress.parse(store).prefix
    address = _checked(kibana)
    answer = _Import(address, prefix).answer(saved_objects(prefix))
    return {"objects": answer["successCount"], "dashboard": f"{address}/app/dashboards#/view/esdedup-{prefix}"}


def _checked(address: str) -> str:
    """Return an address without unexpected parts."""
    scheme, host, port, path = split_address(address, "--kibana", _FORM)
    path = path.rstrip("/")
    if not (_HOST.fullmatch(host) and _PATH.fullmatch(path)):
        raise UsageError(f"--kibana: the address is not valid; {_FORM}")
    return f"{scheme}://{host}{'' if port is None else f':{port}'}{path}"


class _Import:
    """One import. It is repeated while Kibana is busy or starting; importing twice has the same result as once."""

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

    def answer(self, objects: bytes) -> dict[str, Any]:
        """Return Kibana's answer when everything is imported."""
        part = ("esdedup.ndjson", objects, "application/x-ndjson")  # Kibana rejects files with other extensions
        body, kind = encode_multipart_formdata({"file": part})
        pauses = Pauses()
        try:
            while True:
                try:
                    meta, raw = self._node.perform_request("POST", _TARGET, body, HttpHeaders({"content-type": kind}))
                except TransportError as error:
                    self._raise_if_hopeless(error)
                    if not pauses.wait(FIRST_PATIENCE):
                        self._fail(
                            f"no connection ({_line(_root(error))}); check that Kibana is running at this address"
                        )
                    continue
                if meta.status in _BUSY and pauses.wait(PATIENCE):
                    continue
                payload = _parsed(raw)
                if (
                    meta.status == 200
                    and payload.get("success") is True
                    and isinstance(payload.get("successCount"), int)
                ):
                    return payload
                self._fail(_problem(meta.status, meta.headers, payload))
        finally:
            self._node.close()

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
