"""The application: each view as a page and as JSON, within limits, behind the guard."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import Any

import orjson
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Scope

from esdedup._version import __version__
from esdedup.errors import EsdedupError, UsageError
from esdedup.web.answers.browse import UnknownError
from esdedup.web.bodies import Bodies
from esdedup.web.describing import described
from esdedup.web.exports import FEED, add_exports
from esdedup.web.guard import TOKEN_NEEDED, Guard, Refuse, typed
from esdedup.web.other_programs import prefers_json, refuse_unknown
from esdedup.web.pages import Pages
from esdedup.web.request_queue import BusyError, CachedQuery, RequestQueue, StoreQuery, SupersededError, in_thread
from esdedup.web.views import ERRORS, FORMS, VIEWS, View

_API = "/api"
_BEARER = HTTPBearer(description="The value of ESDEDUP_SERVE_TOKEN.", auto_error=False)  # the guard checks it


def create_app(
    queue: RequestQueue,
    *,
    hosts: Collection[str],
    token: str | None = None,
    article_url: str | None = None,
    bodies: Bodies | None = None,
    origins: Collection[str] = (),
) -> ASGIApp:
    """Create the application. It passes queries to `queue`, for requests that name one of `hosts` and know the `token`.

    `article_url` is a link to an article, with {title} or {id}. `bodies` limits what is received. Pages of `origins`
    may read answers.
    """
    pages = Pages(article_url, with_token=token is not None)

    app = FastAPI(
        title="esdedup",
        version=__version__,
        description="Near-duplicate sentences of a collection. Each page shows one of these answers.",
        openapi_url=f"{_API}/openapi.json",
        docs_url=None,  # these pages would load files from the network
        redoc_url=None,
        dependencies=[Depends(refuse_unknown), *([] if token is None else [Depends(_BEARER)])],
    )
    for view in VIEWS:
        _add_view(app, queue, pages, view)
    add_exports(app, queue)
    _add_plain_pages(app, pages)
    app.openapi = cache(partial(described, app.openapi))  # type: ignore[method-assign]
    app.mount("/assets", pages.assets())
    refuse = _refuser(pages)
    _add_errors(app, refuse)
    return Guard(app, hosts, token, refuse, bodies or Bodies(), origins)


def _add_view(app: FastAPI, queue: RequestQueue, pages: Pages, view: View) -> None:
    async def as_json(request: Request, query: StoreQuery[Any] = Depends(view.ask)) -> Response:  # noqa: B008
        return _json(await queue.ask(request, query, long=view.long))

    async def as_page(
        request: Request,
        query: StoreQuery[Any] = Depends(view.ask),  # noqa: B008
        page: str = "",
        back: str = "",
    ) -> Response:
        return await shown(request, query)  # the template reads `page` and `back`

    async def of_form(request: Request) -> Response:
        assert view.body is not None
        body = await request.body()
        try:
            if request.headers.get("content-type", "").startswith("application/json"):
                query = view.ask(view.body.model_validate_json(body))
            else:
                query = view.ask(view.body(text=typed(body, "text")))
        except ValidationError as error:
            raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error
        return await shown(request, query)

    async def shown(request: Request, query: StoreQuery[Any] | CachedQuery[Any]) -> Response:
        answer = await queue.ask(request, query)
        if prefers_json(request.headers):
            return _json(answer)
        # rendering a large page takes long, and other requests wait
        return HTMLResponse(await in_thread(partial(pages.render, str(view.template), request, answer)))

    name, methods = view.ask.__name__, ["GET" if view.body is None else "POST"]
    app.add_api_route(
        _API + view.path, as_json, methods=methods, response_model=view.shape, name=f"{name}_json",
        summary=(view.ask.__doc__ or "").strip().splitlines()[0], description=view.ask.__doc__, responses=ERRORS,
        operation_id=name,
    )  # fmt: skip
    if view.template is not None:
        page = as_page if view.body is None else of_form
        app.add_api_route(view.path, page, methods=methods, name=name, include_in_schema=False)


def _add_plain_pages(app: FastAPI, pages: Pages) -> None:
    @app.get("/", include_in_schema=False, name="check")
    async def check(request: Request) -> Response:
        if prefers_json(request.headers):
            return _json(app.openapi())
        return HTMLResponse(pages.render("check.html", request, {}))

    @app.get("/enter", include_in_schema=False, name="enter")
    async def enter(request: Request, wrong: str | None = None, next: str = "/") -> Response:
        if not pages.with_token:
            return RedirectResponse("/", 303)
        if prefers_json(request.headers):
            raise HTTPException(401, TOKEN_NEEDED, {"WWW-Authenticate": "Bearer"})
        answer = {"wrong": wrong is not None, "next": next}
        return HTMLResponse(pages.render("enter.html", request, answer))

    @app.get(_API, include_in_schema=False, name="api")
    async def api(request: Request) -> Response:
        if prefers_json(request.headers):
            return _json(app.openapi())
        return HTMLResponse(pages.render("api.html", request, {"paths": app.openapi()["paths"]}))


def _refuser(pages: Pages) -> Refuse:
    """Return a function that answers a refused request with one line, as JSON or as a page."""

    def refuse(scope: Scope, status: int, line: str, headers: Mapping[str, str] | None) -> Response:
        if scope["path"].startswith((f"{_API}/", FEED)) or prefers_json(Headers(scope=scope)):
            return _json({"error": line}, status, headers)
        page = pages.render("error.html", Request(scope), {"status": status, "line": line})
        return HTMLResponse(page, status, headers)

    return refuse


def _add_errors(app: FastAPI, refuse: Refuse) -> None:
    def add(kind: type[Exception], status: int, line: Callable[[Any], str] = str) -> None:
        async def respond(request: Request, error: Exception) -> Response:
            code = getattr(error, "status_code", status)
            headers = {"Retry-After": "1"} if code == 503 else getattr(error, "headers", None)
            return refuse(request.scope, code, line(error), headers)

        app.add_exception_handler(kind, respond)

    add(UnknownError, 404, lambda error: str(error.args[0]))
    add(HTTPException, 404, lambda error: str(error.detail))
    add(RequestValidationError, 422, _what_is_wrong)
    add(UsageError, 400)
    add(BusyError, 503)
    add(SupersededError, 499)
    add(ClientDisconnect, 499, lambda _: "the client is gone")
    add(EsdedupError, 503)


_IN_WORDS = {
    "string_too_long": "longer than {max_length:,} characters; send less at once",
    "int_parsing": "give a whole number",
    "greater_than_equal": "give {ge} or more",
    "less_than_equal": "give {le:,} or less",
    "literal_error": "give one of {expected}",
    "greater_than": "give more than {gt}",
    "float_parsing": "give a number",
    "extra_forbidden": "no such field",
    "missing": "is missing",
    "string_pattern_mismatch": "give {form}",
    "json_invalid": "this is not JSON",
    "model_attributes_type": "send a JSON object, with Content-Type: application/json",
}


def _what_is_wrong(error: RequestValidationError) -> str:
    found = []
    for one in error.errors()[:5]:
        where = "" if one["type"] == "json_invalid" else ".".join(str(part) for part in one["loc"][1:])
        words = _IN_WORDS.get(one["type"])
        context = one.get("ctx", {})
        form = FORMS.get(context.get("pattern", ""))
        what = one["msg"] if words is None else words.format(form=form, **context)
        found.append(f"{where}: {what}" if where else what)
    return "; ".join(found)


def _json(answer: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(answer), status, headers, "application/json")
