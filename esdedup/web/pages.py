"""Answers as HTML: templates, links between pages, and parts of lists."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple
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

_TRAIL = 40
"""Pages that one can go back at most; the address has 17 characters for each."""

Changes = Mapping[str, Any]
"""Parameters of an address. None removes one."""

FIRST: Changes = {"after": None, "page": None, "back": None}


class Paging(NamedTuple):
    """The number of a page, None if its address does not tell, and what leads to those beside it."""

    page: int | None
    previous: Changes | None
    next: Changes | None

    def numbers(self, shown: int, limit: int) -> tuple[int, int] | None:
        """Return the numbers of the first and the last row, if so many of `limit` rows are shown."""
        if self.page is None or not shown:
            return None
        first = (self.page - 1) * limit + 1
        return first, first + shown - 1


def numbered(asked: Mapping[str, str | None], rows: int, limit: int) -> Paging:
    """Return the way from a page of a list that is known as a whole; its address has only the number of the page."""
    last = max(1, -(-rows // limit))
    page = min(_number(asked) or 1, last)
    return Paging(page, {"page": page - 1} if page > 1 else None, {"page": page + 1} if page < last else None)


def paging(asked: Mapping[str, str | None], following: str | None) -> Paging:
    """Return the way from a page that was `asked` for with these parameters; the next one is `following` this id."""
    here = asked.get("after") or None
    if here is None:
        return Paging(1, None, None if following is None else {"after": following, "page": 2, "back": None})
    trail = re.findall("[0-9a-f]{16}", asked.get("back") or "")[-_TRAIL:]
    number = _number(asked)
    page = number and max(2, number)
    previous: Changes | None = None
    if trail:
        previous = {"after": trail[-1], "page": page and max(2, page - 1), "back": "-".join(trail[:-1])}
    elif page == 2:
        previous = FIRST
    on = {"after": following, "page": page and page + 1, "back": "-".join([*trail, here][-_TRAIL:])}
    return Paging(page, previous, None if following is None else on)


def _number(asked: Mapping[str, str | None]) -> int | None:
    found = re.fullmatch("[1-9][0-9]{0,8}", asked.get("page") or "", re.ASCII)
    return int(found[0]) if found else None


_FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_OTHER_STYLES = ("check.css", "overview.css")  # sent as a part of page.css

SECTIONS = (
    ("/", "Check"),
    ("/clusters", "Clusters"),
    ("/contradictions", "Contradictions"),
    ("/stale", "Corrections"),
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
