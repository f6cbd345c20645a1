"""Answers as HTML: templates, links between pages, and the few files that pages load."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from importlib import resources
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from esdedup.analysis.names import KINDS
from esdedup.analysis.templates import frame_pieces
from esdedup.output.html import environment, style
from esdedup.web import charts
from esdedup.web.answers.browse import PAGE
from esdedup.web.charts import ring
from esdedup.web.paging import FIRST, numbered, paging

_FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_OTHER_STYLES = ("check.css", "overview.css")  # sent as a part of page.css

SECTIONS = (
    ("/", "Check"),
    ("/clusters", "Clusters"),
    ("/contradictions", "Contradictions"),
    ("/templates", "Templates"),
    ("/articles", "Articles"),
    ("/overview", "Overview"),
)
"""The links at the top of every page."""


class Pages:
    """Renders templates. `article_url` is a link to an article, with {title} or {id}."""

    def __init__(self, article_url: str | None, *, with_token: bool) -> None:
        self.with_token = with_token
        folder = resources.files("esdedup.web") / "assets"
        self._files = {name: (folder / name).read_bytes() for name in _FILES}
        styles = [self._files["page.css"], *((folder / name).read_bytes() for name in _OTHER_STYLES)]
        self._files["page.css"] = b"\n".join([style().encode(), *styles])
        self._environment = environment("esdedup.web")
        self._environment.globals |= {
            "sections": SECTIONS,
            "kinds_of_clusters": KINDS,
            "asset": self._asset,
            "article_link": lambda place: _filled(article_url, place),
            "ring": ring,
            "charts": charts,
            "paging": paging,
            "numbered": numbered,
            "first_page": FIRST,
            "page_rows": PAGE,
        }
        self._environment.filters |= {
            "path": lambda text: quote(text, safe=""),
            "slotted": _slotted,
        }

    def render(self, template: str, request: Request, answer: Any) -> str:
        """Return the page of an answer. In templates, `again` returns this page's address with other parameters."""
        return self._environment.get_template(template).render(
            answer=answer,
            here=request.scope["path"],
            asked=defaultdict(lambda: None, request.query_params),  # missing parameters are None
            again=lambda **changes: _again(request, changes),
        )

    def assets(self) -> Router:
        """Return the files below /assets. They can be cached forever, because their names contain a hash of their
        content.
        """
        return Router([Route("/{mark}/{name}", self._file)])

    def _asset(self, name: str) -> str:
        return f"/assets/{hashlib.sha256(self._files[name]).hexdigest()[:12]}/{name}"

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            return Response(status_code=404)
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(self._files[name], 200, headers, _FILES[name])


def _slotted(frame: str, most: int = 10_000) -> list[tuple[str, bool]]:
    """Split the beginning of a frame into pieces. Each says whether it is the name of a slot."""
    parts: list[tuple[str, bool]] = []
    for piece in frame_pieces(frame):
        text = piece if isinstance(piece, str) else piece[0]
        if len(text) > most:
            return [*parts, (f"{text[:most]}…", False)]
        parts.append((text, not isinstance(piece, str)))
        most -= len(text)
    return parts


def _again(request: Request, changes: dict[str, Any]) -> str:
    """Return the address of this page with other parameters. None removes one."""
    asked = {**request.query_params, **changes}
    query = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def _filled(article_url: str | None, place: dict[str, Any]) -> str | None:
    """Return the link to an article, if there is one."""
    if article_url is None:
        return None
    title = place["title"] or place["document"]
    return article_url.replace("{title}", quote(title.replace(" ", "_"), safe="/:")).replace(
        "{id}", quote(place["document"], safe="")
    )
