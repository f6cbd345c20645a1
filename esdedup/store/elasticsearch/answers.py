"""What comes back from a server: read no further than is sane, parsed, and put into words where it is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from elastic_transport import NodeConfig, SerializationError, Serializer, Urllib3HttpNode
from urllib3 import BaseHTTPResponse, HTTPResponse

from esdedup.errors import StoreError

ANSWER_BYTES = 2**27
"""The longest answer that is read: more than the longest document that a server takes."""

JSON = "application/json"

_AT_ONCE = 2**20


class TooLongError(StoreError):
    """An answer is longer than `ANSWER_BYTES`."""


class GoneError(StoreError):
    """An index that is asked for is not there."""


class LostAnswerError(Exception):
    """A request that must not be repeated was answered with nothing, or not in full."""


class Node(Urllib3HttpNode):
    """A node whose answers have an end, and no warnings: what its next version will change is no user's business."""

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
                    body.clear()  # the error keeps this frame
                    response.close()
                    raise TooLongError
        finally:
            response.release_conn()
        headers = {name: value for name, value in response.headers.items() if name.lower() != "warning"}
        return HTTPResponse(bytes(body), headers, response.status)

    return read


class Json(Serializer):
    """JSON by orjson; what comes back may also be handed on as bytes that are JSON already."""

    mimetype = JSON

    def dumps(self, data: Any) -> bytes:
        """The bytes of a request."""
        return data if isinstance(data, bytes) else orjson.dumps(data)

    def loads(self, data: bytes) -> Any:
        """The value of an answer."""
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise SerializationError(f"an answer that is no JSON ({error})") from error


def is_of_elasticsearch(headers: Mapping[str, str], body: Any) -> bool:
    """Whether an answer is Elasticsearch's own, and not that of something between."""
    return headers.get("x-elastic-product") == "Elasticsearch" and isinstance(body, Mapping)


def reason_of(body: Any) -> str:
    """What an error in an answer says, in one line."""
    error = body.get("error", body) if isinstance(body, Mapping) else re.sub(r"<[^>]*>", " ", str(body))
    if isinstance(error, Mapping):
        error = (error.get("root_cause") or [error])[0]
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


def is_gone(body: Any) -> bool:
    """Whether an answer, or an item of one, tells of an index that is not there."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return isinstance(error, Mapping) and error.get("type") == "index_not_found_exception"


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer; `LostAnswerError` where a shard is missing: what is lost must not look like what is not there."""
    shards = answer["_shards"]
    if shards["failed"] or answer.get("timed_out"):
        failures = shards.get("failures") or [{}]
        raise LostAnswerError from ValueError(reason_of(failures[0].get("reason", "a shard did not answer")))
    return answer


PASSING = frozenset({429, *range(500, 600)})
"""With these, the same request may be granted later: the server, or something before it, is busy or not well."""

BLOCKED = "the server refuses to write ({reason}): its disk is nearly full, or an index was made read-only; mend that \
and run the same command again"


def gone(reason: str) -> str:
    """What to say of an index that is not there."""
    return (
        f"an index of this store is gone ({reason.partition(' and ')[0]}): another command has replaced or dropped the "
        "store; run this one again when that has ended"
    )
