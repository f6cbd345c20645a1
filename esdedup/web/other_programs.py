"""What programs and pages of other origins need: JSON by `Accept`, `--allow-origin`, and no unknown parameter."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request

from esdedup.errors import UsageError
from esdedup.options import NAMES_ELSEWHERE

_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?")
_QUALITY = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_SHOWN = 60  # characters of an unknown name

PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}
"""What a browser may send for a page of an allowed origin."""


def checked_origins(origins: Sequence[str], *, with_token: bool) -> frozenset[str]:
    """Return allowed origins as browsers name them. Raises `UsageError` for what is none, and for `*` with a token."""
    for origin in origins:
        if origin == "*" and with_token:
            raise UsageError("--allow-origin *: where a token is set, name each origin, such as https://example.com")
        if origin != "*" and not _ORIGIN.fullmatch(origin.lower()):
            raise UsageError(
                f"--allow-origin {origin}: give scheme://host or scheme://host:port and nothing behind it, such as "
                "https://example.com"
            )
    lower = [origin.lower() for origin in origins]
    return frozenset(each.removesuffix(":443" if each.startswith("https") else ":80") for each in lower)


def cors_headers(origins: Collection[str], headers: Headers) -> dict[str, str]:
    """Return headers with which the page that sent this request may read the answer; none if its origin is unknown."""
    origin = headers.get("origin", "")
    if "*" not in origins and origin not in origins:
        return {}
    return {
        "Access-Control-Allow-Origin": "*" if "*" in origins else origin,
        "Access-Control-Expose-Headers": "Retry-After",
    }


def is_preflight(method: str, headers: Headers) -> bool:
    """Return whether a browser asks what a page of another origin may send."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def prefers_json(headers: Headers) -> bool:
    """Return whether `Accept` prefers JSON to HTML. Of equal qualities, that of the more specific range counts; if
    these are equal too, as in `*/*`, HTML is preferred.
    """
    accept = ",".join(headers.getlist("accept")).lower()
    json, html = _quality(accept, "application/json"), _quality(accept, "text/html")
    return json[0] > 0 and json > html


def _quality(accept: str, kind: str) -> tuple[float, int]:
    """Return the quality of a media type, and how specific the range is that says so."""
    specific = {kind: 3, f"{kind.partition('/')[0]}/*": 2, "*/*": 1}
    best = (0, 0.0)
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if name in specific:
            given = [piece for piece in parameters if piece.startswith("q=")]
            quality = _QUALITY.fullmatch(given[0]) if given else None
            best = max(best, (specific[name], float(quality[1]) if quality else float(not given)))
    return best[1], best[0]


def refuse_unknown(request: Request) -> None:
    """Raise `HTTPException` if the request has a query parameter that its route does not take."""
    known = sorted(_query_names(request.scope["route"].dependant))
    for name in request.query_params:
        if name not in known:
            raise HTTPException(422, f"{name[:_SHOWN]}: no such parameter; {_hint(name, known)}")


def _hint(name: str, known: list[str]) -> str:
    close = [NAMES_ELSEWHERE[name]] if NAMES_ELSEWHERE.get(name) in known else get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else f"this address takes {', '.join(known) or 'none'}"


def _query_names(dependant: Any) -> set[str]:
    """Return the names of the query parameters of a route and of what it depends on."""
    names = {parameter.alias for parameter in dependant.query_params}
    return names.union(*(_query_names(each) for each in dependant.dependencies))
