"""OpenSearch as a server: what differs from Elasticsearch, of which it is a fork, on the way to it.

OpenSearch refuses the media types that the client has sent since version 8, and does not name the product that the
client wants to see in each answer. From version 3 on it has a header of its own; before that, only the answer to
`GET /` says what it is. Once it is known, requests have plain media types, and its answers get the name.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
from elastic_transport import HttpHeaders, Urllib3HttpNode
from elastic_transport.client_utils import DEFAULT, DefaultType

if TYPE_CHECKING:
    from elastic_transport._node import NodeApiResponse

PRODUCT = "x-elastic-product"
_OWN = "x-opensearch-version"
_VERSIONED = re.compile(r"application/vnd\.elasticsearch\+([a-z-]+); ?compatible-with=\d+")
_OWN_ERROR = re.compile(rb'^\s*\{\s*"(error|_index|_shards|acknowledged|took|count)"')


class EitherNode(Urllib3HttpNode):
    """A node of Elasticsearch or OpenSearch, whichever it turns out to be."""

    _is_opensearch = False

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: DefaultType | float | None = DEFAULT,
    ) -> NodeApiResponse:
        """Send a request as the server understands it."""
        if not self._is_opensearch:
            answer = super().perform_request(method, target, body, headers, request_timeout)
            if PRODUCT in answer.meta.headers or not self._comes_from_opensearch(answer, headers, request_timeout):
                return answer
            self._is_opensearch = True
            if answer.meta.status != 406:  # if so, it did nothing, because it does not know the media type
                return _named(answer)
        return _named(super().perform_request(method, target, body, _plain(headers), request_timeout))

    def _comes_from_opensearch(
        self, answer: NodeApiResponse, headers: HttpHeaders | None, request_timeout: DefaultType | float | None
    ) -> bool:
        if _OWN in answer.meta.headers or answer.meta.mimetype != "application/json":
            return _OWN in answer.meta.headers
        front = super().perform_request("GET", "/", None, _plain(headers), request_timeout)
        try:
            return bool(orjson.loads(front.body)["version"]["distribution"] == "opensearch")
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return False


def _plain(headers: HttpHeaders | None) -> HttpHeaders:
    return HttpHeaders({name: _VERSIONED.sub(r"application/\1", value) for name, value in (headers or {}).items()})


def _named(answer: NodeApiResponse) -> NodeApiResponse:
    """Return the answer with the name that the client wants to see, unless it comes from a proxy."""
    meta = answer.meta
    is_own = meta.mimetype == "application/json" and (meta.status < 400 or _OWN_ERROR.search(answer.body))
    if not (is_own or _OWN in meta.headers):
        return answer
    return answer._replace(meta=replace(meta, headers=HttpHeaders({**meta.headers, PRODUCT: "Elasticsearch"})))
