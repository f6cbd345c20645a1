"""The client for `elasticsearch.helpers`. Its requests are retried like those of `Connection.ask`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event, get_ident
from typing import Any

from elastic_transport import ApiResponseMeta, HttpHeaders, ObjectApiResponse
from elasticsearch import ApiError, Elasticsearch

from esdedup.errors import StoreError
from esdedup.store.elasticsearch.answers import BLOCKED, PASSING, gone, is_block, is_gone, reason_of
from esdedup.store.elasticsearch.connection import PATIENCE, SAID_AFTER, Connection

_NO_META = ApiResponseMeta(200, "1.1", HttpHeaders(), 0.0, None)  # type: ignore[arg-type]  # no helper looks at it


class HelperClient(Elasticsearch):
    """A client for one piece of work. It makes no request after `ended` is set.

    `check` is called before each bulk request and raises an error if nothing more may be sent.
    """

    def __init__(self, connection: Connection, ended: Event, check: Callable[[], None] | None = None) -> None:
        super().__init__(_transport=connection.transport)
        self._connection = connection
        self._ended = ended
        self._check = check
        self._rejected: dict[int, float] = {}  # by thread, since when the server has rejected writes

    def options(self, **_: Any) -> HelperClient:
        """Return this client: the connection handles the helpers' options."""
        return self

    def perform_request(
        self, method: str, path: str, *, params: Mapping[str, Any] | None = None, body: Any = None, **_: Any
    ) -> Any:
        """Send a bulk request."""
        return ObjectApiResponse(body=self._bulk(path, body, dict(params or {})), meta=_NO_META)

    def takes(self, path: str, body: bytes) -> bool:
        """Send the body of a bulk request. Return whether the server did all of it, without a look at each item."""
        self._before_writing()
        try:
            answer = self._connection.ask(
                "POST", path, body, lines=True, raising=(413,), ended=self._ended,
                require_alias="true", filter_path="errors",
            )  # fmt: skip
        except ApiError:
            return False
        return answer.get("errors") is False

    def _before_writing(self) -> None:
        if self._ended.is_set():
            raise StoreError(f"{self._connection.address}: interrupted; run the same command again to continue")
        if self._check is not None:
            self._check()

    def _bulk(self, path: str, lines: list[bytes], parameters: dict[str, Any]) -> dict[str, Any]:
        """Send the lines of a bulk request. If it is too long for the server or a proxy, split it in halves."""
        self._before_writing()
        one = 1 if lines[0].startswith(b'{"delete"') else 2  # lines of an action; a request has only one kind
        try:
            answer: dict[str, Any] = self._connection.ask(
                "POST", path, b"\n".join(lines) + b"\n", lines=True, raising=(413,), ended=self._ended, **parameters
            )
        except ApiError as error:
            if len(lines) > one:
                middle = len(lines) // one // 2 * one
                halves = [self._bulk(path, half, parameters) for half in (lines[:middle], lines[middle:])]
                return {"items": [item for half in halves for item in half["items"]]}
            detail = {"type": "too_long", "reason": f"too long for the server: {sum(map(len, lines)) + one:,} bytes"}
            answer = {"errors": True, "items": [{"index": {"status": error.status_code, "error": detail}}]}
        self._say_rejections(answer)
        if answer["errors"]:
            for item, document in zip(answer["items"], lines[one - 1 :: one], strict=True):
                [detail] = item.values()
                self._raise_if_useless(detail)
                detail["document"] = document
        return answer

    def _say_rejections(self, answer: dict[str, Any]) -> None:
        """Say that the server has been rejecting writes for a while. The helper sends them again."""
        detail = next((item for each in answer.get("items", ()) for item in each.values() if "error" in item), None)
        if detail is None or detail["status"] not in PASSING:
            self._rejected.pop(get_ident(), None)
            return
        now = time.monotonic()
        waited = now - self._rejected.setdefault(get_ident(), now)
        if 2 * waited > SAID_AFTER:  # the next pause is about as long
            self._connection.notice.say(str(detail["status"]), waited, PATIENCE)

    def _raise_if_useless(self, item: dict[str, Any]) -> None:
        """Raise `StoreError` if neither another document nor another attempt would help."""
        status = item["status"]
        if is_block(item) or status in (401, 403) or (status == 404 and "error" in item):
            reason = reason_of(item)
            detail = gone(reason) if is_gone(item) else f"the server does not accept writes ({reason})"
            raise StoreError(
                f"{self._connection.address}: {BLOCKED.format(reason=reason) if is_block(item) else detail}"
            )
