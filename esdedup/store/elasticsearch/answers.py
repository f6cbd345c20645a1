"""Answers of a server: limit their length, parse them, and turn errors into messages."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from elastic_transport import NodeConfig, SerializationError, Serializer
from urllib3 import BaseHTTPResponse, HTTPResponse

from esdedup.errors import StoreError
from esdedup.store.elasticsearch.opensearch import EitherNode

ANSWER_BYTES = 2**27
"""The longest answer that is read, in bytes: longer than the longest document that a server accepts."""

JSON = "application/json"

_AT_ONCE = 2**20


class TooLongError(StoreError):
    """An answer is longer than `ANSWER_BYTES`."""


class GoneError(StoreError):
    """A requested index does not exist."""


class LostAnswerError(Exception):
    """A part of an answer is missing."""


class Node(EitherNode):
    """A node that limits the length of answers and ignores warnings: deprecations do not concern users."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.pool.urlopen = _reading(self.pool.urlopen)  # type: ignore[method-assign]


def _reading(urlopen: Callable[..., BaseHTTPResponse]) -> Callable[..., BaseHTTPResponse]:
    """Read answers here, piece by piece."""

    def read(*arguments: Any, **options: Any) -> BaseHTTPResponse:
        response = urlopen(*arguments, **options, preload_content=False, redirect=False)
        try:
            body = bytearray()
            for piece in response.stream(_AT_ONCE):
                body += piece
                if len(body) > ANSWER_BYTES:
                    body.clear()  # the error keeps this frame alive
                    response.close()
                    raise TooLongError
        finally:
            response.release_conn()
        headers = {name: value for name, value in response.headers.items() if name.lower() != "warning"}
        return HTTPResponse(bytes(body), headers, response.status)

    return read


class Json(Serializer):
    """JSON with orjson. Bytes of a request that are JSON already are sent unchanged."""

    mimetype = JSON

    def dumps(self, data: Any) -> bytes:
        """Encode a request."""
        return data if isinstance(data, bytes) else orjson.dumps(data)

    def loads(self, data: bytes) -> Any:
        """Decode an answer."""
        collects = gc.isenabled()
        gc.disable()  # or it looks for garbage again and again among all that is being made, which takes twice as long
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise SerializationError(f"the answer is not valid JSON ({error})") from error
        finally:
            if collects:
                gc.enable()


def is_of_elasticsearch(headers: Mapping[str, str], body: Any) -> bool:
    """Whether an answer comes from Elasticsearch, and not from a proxy."""
    return headers.get("x-elastic-product") == "Elasticsearch" and isinstance(body, Mapping)


def reason_of(body: Any) -> str:
    """Return the reason of an error answer, in one line."""
    error = body.get("error", body) if isinstance(body, Mapping) else re.sub(r"<[^>]*>", " ", str(body))
    if isinstance(error, Mapping):
        error = (error.get("root_cause") or [error])[0]
        error = error.get("reason") or error.get("type")
    line = " ".join(str(error).split())
    return line if len(line) <= 200 else line[:200] + "…"


def is_block(body: Any) -> bool:
    """Whether an answer, or an item of one, reports an index that is write-blocked: waiting does not help."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return (
        isinstance(error, Mapping)
        and error.get("type") == "cluster_block_exception"
        and any(word in str(error.get("reason")) for word in ("read-only", "FORBIDDEN"))
    )


def is_gone(body: Any) -> bool:
    """Whether an answer, or an item of one, reports a missing index."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return isinstance(error, Mapping) and error.get("type") == "index_not_found_exception"


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer. Raise `LostAnswerError` if a shard is missing, since lost hits must not look like no hits."""
    shards = answer["_shards"]
    if shards["failed"] or answer.get("timed_out"):
        failures = shards.get("failures") or [{}]
        raise LostAnswerError from ValueError(reason_of(failures[0].get("reason", "a shard did not answer")))
    if "hits" in answer:
        answer["hits"].setdefault("hits", [])  # a filter of the answer leaves out an empty list
    return answer


PASSING = frozenset({429, *range(500, 600)})
"""Temporary errors, for which the same request may succeed later: the server or a proxy is busy or unavailable."""

BLOCKED = "the server does not accept writes ({reason}): its disk is nearly full, or an index is read-only; fix this \
and run the same command again"


def gone(reason: str) -> str:
    """Return the message for a missing index."""
    return (
        f"an index of this store is gone ({reason.partition(' and ')[0]}): another command has replaced or dropped the "
        "store; run this command again after it ends"
    )
