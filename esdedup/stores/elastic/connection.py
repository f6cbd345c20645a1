"""Requests to a server, with patience for what passes and one clear line for what does not."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, NoReturn

import elasticsearch
import orjson
from elastic_transport import ConnectionTimeout, NdjsonSerializer, Serializer, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from esdedup.errors import NotAStoreError, StoreError
from esdedup.stores.elastic.address import ServerAddress, client_options

TIMEOUT = 60.0
"""Seconds to wait for one answer."""

PATIENCE = 120.0
"""Seconds to go on asking a server that is busy, restarting or out of reach."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_PASSING = (429, 502, 503, 504)
_JSON = "application/json"


class LostAnswerError(Exception):
    """A request that must not be repeated was answered with nothing, or not wholly."""


class _Json(Serializer):
    """JSON by orjson; what comes back may also be handed on as bytes that are JSON already."""

    mimetype = _JSON

    def dumps(self, data: Any) -> bytes:
        return data if isinstance(data, bytes) else orjson.dumps(data)

    def loads(self, data: bytes) -> Any:
        return orjson.loads(data)


class Connection:
    """A server. Every request may come to it twice, so all that are made are such that this does no harm."""

    def __init__(self, address: ServerAddress, connections: int = 8) -> None:
        self.address = address
        # both spellings of the media type: the plain one, and the one that names a version
        json = {name: _Json() for name in (_JSON, "application/vnd.elasticsearch+json")}
        self._client = Elasticsearch(
            **client_options(address),
            connections_per_node=connections,
            request_timeout=TIMEOUT,
            max_retries=0,
            retry_on_timeout=False,
            serializers={**json, "application/vnd.elasticsearch+x-ndjson": NdjsonSerializer()},
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        missing: bool = False,
        again: bool = True,
        lines: bool = False,
        **parameters: Any,
    ) -> Any:
        """The answer to a request, as parsed JSON; None where nothing is there, if that may be (`missing`).

        Asked again for a while where the server is busy or out of reach; not `again`: `LostAnswerError`. `lines` says
        that the body is newline-delimited JSON. Raises `StoreError`, or the client's `ApiError` for what the caller
        must decide.
        """
        kind = "application/x-ndjson" if lines else _JSON
        headers = {"accept": _JSON} | ({} if body is None else {"content-type": kind})
        end, pause = time.monotonic() + PATIENCE, _FIRST_PAUSE
        while True:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", elasticsearch.ElasticsearchWarning)
                    answer = self._client.perform_request(method, path, params=parameters, headers=headers, body=body)
                if method != "HEAD" and isinstance(answer.body, str | bytes):
                    self._fail(f"answered {method} {path.split('?')[0]} with no JSON; is this Elasticsearch?")
                return answer.body
            except ApiError as error:
                if error.status_code == 404 and missing:
                    return None
                self._raise_if_final(error)
                cause: Exception = error
            except UnicodeDecodeError as error:
                cause = error
            except TransportError as error:
                if isinstance(error, TlsError):
                    self._raise_tls(error)
                cause = error
            if not again:
                raise LostAnswerError from cause
            if time.monotonic() + pause > end:
                self._give_up(cause)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    # -- what went wrong ------------------------------------------------------------------------------------

    def _raise_if_final(self, error: ApiError) -> None:
        """Raise what waiting will not mend."""
        status, reason = error.status_code, reason_of(error.body)
        if isinstance(error, UnsupportedProductError):
            raise NotAStoreError(f"{self.address}: the server is not Elasticsearch; name another --store") from error
        if status == 401:
            self._fail("access denied (401); set ES_API_KEY, or ES_USERNAME and ES_PASSWORD", error)
        if status == 403 and not is_block(error.body):
            self._fail(f"not allowed (403): {reason}; use credentials that may read and write {self.address.prefix}-*")
        if is_block(error.body):
            self._fail(BLOCKED.format(reason=reason), error)
        if "media_type_header" in str(error.body):
            self._fail(
                f"the server is older than the client, which is {version('elasticsearch')}; "
                "pip install 'elasticsearch>=8.16,<9', which speaks to 8 and 9",
                error,
            )
        if status not in _PASSING:
            raise error

    def _raise_tls(self, error: TlsError) -> NoReturn:
        line = " ".join(str(error).split())
        if "fingerprint" in line.lower():
            self._fail("the server's certificate has another fingerprint than ES_CA_FINGERPRINT", error)
        if "CERTIFICATE_VERIFY_FAILED" in line or "certificate verify failed" in line:
            self._fail(
                "the server's certificate is not trusted; set ES_CA_CERTS to the file of its authority, "
                "or ES_CA_FINGERPRINT",
                error,
            )
        self._fail("no TLS there; is the address http:// rather than https://?", error)

    def _give_up(self, error: Exception) -> NoReturn:
        if isinstance(error, ApiError):
            self._fail(f"still busy or unavailable ({error.status_code}): {reason_of(error.body)}", error)
        if isinstance(error, ConnectionTimeout):
            self._fail(f"no answer within {TIMEOUT:g} seconds", error)
        refused = "refused" in str(error).lower()
        what = "nothing listens there (connection refused)" if refused else " ".join(str(error).split())
        self._fail(f"{what}; is the server running? esdedup node start starts one here", error, final=True)

    def _fail(self, what: str, error: Exception | None = None, *, final: bool = False) -> NoReturn:
        rest = "" if final or "; " in what else "; run the same command again to go on"
        raise StoreError(f"{self.address}: {what}{rest}") from error


BLOCKED = "the server refuses to write ({reason}): its disk is nearly full, or an index was made read-only; mend that \
and run the same command again"


def reason_of(body: Any) -> str:
    """What an error in an answer says, in one line."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        error = error.get("reason") or error.get("type")
    line = " ".join(str(error).split())
    return line if len(line) <= 200 else line[:200] + "…"


def is_block(body: Any) -> bool:
    """Whether an answer, or an item of one, tells of an index that must not be written: waiting does not help."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return (
        isinstance(error, Mapping)
        and error.get("type") == "cluster_block_exception"
        and any(word in str(error.get("reason")) for word in ("read-only", "FORBIDDEN"))
    )
