"""What every request passes: known hosts only, a token where one is asked for, no writing, no large bodies; and what
every answer says to the browser.

A page on 127.0.0.1 can be reached by any page in the user's browser whose name resolves to it (DNS rebinding): the Host
header tells. Answers may not be framed, run foreign scripts, or be sent anywhere else.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Collection, Mapping
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 5 * 2**19
"""Of a request's body."""

MOST_SECONDS = 30
"""In which a request's body must have come."""

TOO_LARGE = f"more than {MOST_BYTES:,} bytes; send less at once"

COOKIE = "esdedup-token"
ENTRANCE = "/enter"
OPEN = ("/assets/",)
"""What also those see who have no token."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_HERE = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]{0,2000})?")  # an address of this server, and no other's
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^][\s/:?#@\\]+)(:[0-9]{1,5})?")

Tell = Callable[[Scope, int, str, Mapping[str, str] | None], Response]
"""The answer to a request that is refused: its status, why, and headers."""


class Guard:
    """Wraps an application. `hosts` are names without ports; `*` allows all. `tell` words what is refused."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str | None, tell: Tell) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._token = token
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answered[name] = value
                if not scope["path"].startswith(OPEN):
                    answered["Cache-Control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is None and scope["path"] == ENTRANCE and scope["method"] == "POST" and self._token is not None:
            try:
                refusal = await self._enter(scope, receive)
            except HTTPException as error:
                refusal = self._tell(scope, error.status_code, error.detail, None)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the server leaves the body out
        await self._app(scope, _bounded(receive), guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = _HOST.fullmatch(headers.get("host", "").lower())
        if host is None or ("*" not in self._hosts and host[1] not in self._hosts):
            return self._tell(scope, 421, "this name is not served here; --allow-host NAME lets it in", None)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return self._tell(scope, 405, "nothing can be changed here", {"Allow": "GET, HEAD, POST"})
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > MOST_BYTES:
            return self._tell(scope, 413, TOO_LARGE, None)
        if scope["path"].startswith(OPEN) or scope["path"] == ENTRANCE or self._knows(headers):
            return None
        if "text/html" in headers.get("accept", ""):
            return RedirectResponse(_entrance(_asked(scope)), 303)
        return self._tell(scope, 401, "give the token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})

    def _knows(self, headers: Headers) -> bool:
        """Whether who asks has the token, if there is one."""
        if self._token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = _cookie(headers.get("cookie", ""))
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    async def _enter(self, scope: Scope, receive: Receive) -> Response:
        """The token as it was typed into the form becomes a cookie, which scripts do not see."""
        body = b""
        bounded = _bounded(receive)
        while True:
            message = await bounded()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        given, wanted = typed(body, "token"), typed(body, "next")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), str(self._token).encode()):
            return RedirectResponse(_entrance(wanted, wrong=True), 303)
        answer = RedirectResponse(wanted if _HERE.fullmatch(wanted) else "/", 303)
        answer.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=scope.get("scheme") == "https")
        return answer


def _asked(scope: Scope) -> str:
    """The address that was asked for."""
    query = scope["query_string"].decode("ascii", "replace")
    return quote(scope["path"]) + (f"?{query}" if query else "") if scope["method"] == "GET" else ""


def _entrance(wanted: str, *, wrong: bool = False) -> str:
    """The entrance, from where the way leads on to what was wanted."""
    query = {"wrong": "1"} if wrong else {}
    if wanted != "/" and _HERE.fullmatch(wanted):
        query["next"] = wanted
    return ENTRANCE + (f"?{urlencode(query)}" if query else "")


class TooLargeError(HTTPException):
    """A body that does not tell its length is larger than it may be."""

    def __init__(self) -> None:
        super().__init__(413, TOO_LARGE)


def typed(body: bytes, field: str) -> str:
    """What was typed into this field of a form, nothing without one; `HTTPException` where no form sends this."""
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=8).get(field, [""])[0]
    except ValueError as error:
        raise HTTPException(400, "more fields than the form has") from error


def _bounded(receive: Receive) -> Receive:
    """The same, for a body that is neither too large nor too slow."""
    seen, whole = 0, False
    deadline = asyncio.get_running_loop().time() + MOST_SECONDS

    async def counted() -> Message:
        nonlocal seen, whole
        try:
            async with asyncio.timeout_at(None if whole else deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"not all of it came within {MOST_SECONDS} seconds") from None
        whole = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise TooLargeError()
        return message

    return counted


def _cookie(header: str) -> str:
    """The token among the cookies: those of whatever else this machine serves come too, of any form."""
    return cookie_parser(header).get(COOKIE, "")
