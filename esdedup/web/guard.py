"""Checks for every request: known hosts only, a token if one is set, no writing, no large bodies. Also the security
headers of every answer.

Any page in the user's browser can reach 127.0.0.1 if its name resolves to it (DNS rebinding). The Host header reveals
that. Answers may not be framed, run foreign scripts, or be sent elsewhere.
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

from esdedup.web.bodies import Bodies
from esdedup.web.other_programs import PREFLIGHT, cors_headers, is_preflight, prefers_json

COOKIE = "esdedup-token"
ENTRANCE = "/enter"
TOKEN_NEEDED = "a token is required: send Authorization: Bearer TOKEN"
OPEN = ("/assets/",)
"""Paths that need no token."""

_REFUSED_A_SECOND = 500
_LONGEST_WAIT = 1.0  # seconds

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_HERE = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]{0,2000})?")  # an address on this server
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^][\s/:?#@\\]+)(:[0-9]{1,5})?")

Refuse = Callable[[Scope, int, str, Mapping[str, str] | None], Response]
"""Makes the answer to a refused request from its status, the reason, and headers."""


class Guard:
    """Wraps an application. `hosts` are names without ports; `*` allows all. Pages of `origins` may read answers.
    `refuse` makes the answers to refused requests. `bodies` limits what is received.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        token: str | None,
        refuse: Refuse,
        bodies: Bodies,
        origins: Collection[str],
    ) -> None:
        self._app = app
        self._bodies = bodies
        self._origins = origins
        self._vary = "Accept, Origin" if origins else "Accept"
        self._hosts = {host.lower() for host in hosts}
        self._token = token
        self._refuse = refuse
        self._next = 0.0  # when the next refusal is due

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.update(SECURITY_HEADERS | cors_headers(self._origins, headers))
                answered.add_vary_header(self._vary)
                if not scope["path"].startswith(OPEN):
                    answered["Cache-Control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None or not self._knows(headers):
            await self._slow_down()
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        declared = int(headers.get("content-length", "0")[-20:])
        with self._bodies.receiving(receive, min(declared, self._bodies.most)) as bounded:
            if scope["path"] == ENTRANCE and scope["method"] == "POST" and self._token is not None:
                try:
                    answer = await self._enter(scope, bounded)
                except HTTPException as error:
                    answer = self._refuse(scope, error.status_code, error.detail, error.headers)
                await answer(scope, receive, guarded)
                return
            if scope["method"] == "HEAD":
                scope = {**scope, "method": "GET"}  # the server leaves out the body
            await self._app(scope, bounded, guarded)

    async def _slow_down(self) -> None:
        """Wait, if there are many requests that are refused or come without the token."""
        now = asyncio.get_running_loop().time()
        turn = max(now, min(self._next, now + _LONGEST_WAIT))
        self._next = turn + 1 / _REFUSED_A_SECOND
        if turn > now:
            await asyncio.sleep(turn - now)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = _HOST.fullmatch(headers.get("host", "").lower())
        if host is None or ("*" not in self._hosts and host[1] not in self._hosts):
            return self._refuse(scope, 421, "this host name is not allowed; start serve with --allow-host NAME", None)
        if is_preflight(scope["method"], headers):  # it comes without the token
            if cors_headers(self._origins, headers):
                return Response(None, 204, PREFLIGHT)
            return self._refuse(scope, 403, "this origin is not allowed; start serve with --allow-origin URL", None)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return self._refuse(scope, 405, "this page is read-only", {"Allow": "GET, HEAD, POST"})
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > self._bodies.most:
            return self._refuse(scope, 413, self._bodies.too_large, None)
        if scope["path"].startswith(OPEN) or scope["path"] == ENTRANCE or self._knows(headers):
            return None
        if "text/html" in headers.get("accept", "") and not prefers_json(headers):
            return RedirectResponse(_entrance(_asked(scope)), 303)
        return self._refuse(scope, 401, TOKEN_NEEDED, {"WWW-Authenticate": "Bearer"})

    def _knows(self, headers: Headers) -> bool:
        """Return whether the request has the token, or no token is needed."""
        if self._token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = _cookie(headers.get("cookie", ""))
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    async def _enter(self, scope: Scope, receive: Receive) -> Response:
        """Store the token from the form in a cookie that scripts cannot read."""
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        given, target = typed(body, "token"), typed(body, "next")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), str(self._token).encode()):
            return RedirectResponse(_entrance(target, wrong=True), 303)
        answer = RedirectResponse(target if _HERE.fullmatch(target) else "/", 303)
        answer.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=scope.get("scheme") == "https")
        return answer


def _asked(scope: Scope) -> str:
    """Return the requested address."""
    query = scope["query_string"].decode("ascii", "replace")
    return quote(scope["path"]) + (f"?{query}" if query else "") if scope["method"] == "GET" else ""


def _entrance(target: str, *, wrong: bool = False) -> str:
    """Return the address of the login form, which then leads on to `target`."""
    query = {"wrong": "1"} if wrong else {}
    if target != "/" and _HERE.fullmatch(target):
        query["next"] = target
    return ENTRANCE + (f"?{urlencode(query)}" if query else "")


def typed(body: bytes, field: str) -> str:
    """Return the value of this field of a form, empty without one. Raises `HTTPException` if the body is not from our
    form.
    """
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=8).get(field, [""])[0]
    except ValueError as error:
        raise HTTPException(400, "the form has too many fields") from error


def _cookie(header: str) -> str:
    """Return our token from the cookies. Cookies of other services on this machine arrive too, in any format."""
    return cookie_parser(header).get(COOKIE, "")
