"""Answers as files: a cluster, or the table of a template."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from esdedup.analysis.templates import Table
from esdedup.files import compact_json
from esdedup.output.meaning_files import atom_feed, write_csv
from esdedup.web.answers.browse import whole_cluster
from esdedup.web.answers.meanings import whole_table
from esdedup.web.request_queue import RequestQueue
from esdedup.web.views import ERRORS, ClusterId, stale

FEED = "/stale.atom"

_MEMBER = ("id", "source", "document", "title", "position", "revision", "timestamp", "text")


def add_exports(app: FastAPI, queue: RequestQueue) -> None:
    """Add the routes of the files."""

    @app.get(
        "/api/clusters/{identity}/export",
        summary="A cluster as a file.",
        tags=["files"],
        responses=_described("json", "csv"),
    )
    async def export_cluster(
        request: Request,
        identity: ClusterId,
        form: Annotated[Literal["json", "csv"], Query(description="Format of the file.", examples=["csv"])] = "json",
    ) -> Response:
        """All members of a cluster: as the line of clusters.jsonl, or as a table."""
        if form == "json":
            found = await queue.ask(
                request, lambda store: compact_json(whole_cluster(store, identity)) + "\n", long=True
            )
            return _file(found, f"{identity}.json", "application/json")
        found = await queue.ask(request, lambda store: _members(whole_cluster(store, identity)), long=True)
        return _file(found, f"{identity}.csv", "text/csv; charset=utf-8")

    @app.get(
        "/api/templates/{identity}/export", summary="A template's table as CSV.", tags=["files"],
        response_class=Response, responses=_described("csv"),
    )  # fmt: skip
    async def export_template(request: Request, identity: ClusterId) -> Response:
        """A row for each sentence, a column for each slot."""
        found = await queue.ask(request, lambda store: _fillers(whole_table(store, identity)), long=True)
        return _file(found, f"{identity}.csv", "text/csv; charset=utf-8")

    @app.get(
        FEED, summary="Corrections that did not arrive, as a feed.", tags=["files"],
        response_class=Response, responses=_described("atom"),
    )  # fmt: skip
    async def stale_feed(request: Request) -> Response:
        """An Atom feed (RFC 4287): an entry for each correction, the newest first."""
        found = await queue.ask(request, stale())
        rows: Any = found["corrections"]
        feed = atom_feed(rows, str(request.base_url))
        return Response(feed, 200, None, "application/atom+xml; charset=utf-8")


def _described(*forms: str) -> dict[int | str, dict[str, Any]]:
    kinds = {"json": "application/json", "csv": "text/csv", "atom": "application/atom+xml"}
    return ERRORS | {200: {"description": "A file.", "content": {kinds[form]: {} for form in forms}}}


def _members(cluster: dict[str, Any]) -> str:
    return _table(_MEMBER, ([member[name] for name in _MEMBER] for member in cluster["members"]))


def _fillers(table: Table) -> str:
    header = ("id", "document", "title", *(column.name for column in table.columns))
    rows = (
        [sentence["id"], sentence["document"], sentence["title"], *(column.cells[at] for column in table.columns)]
        for at, sentence in enumerate(table.sentences)
    )
    return _table(header, rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return CSV that a spreadsheet reads as text."""
    out = io.StringIO()
    write_csv(header, rows, out, "\n")
    return out.getvalue()


def _file(content: str, name: str, kind: str) -> Response:
    return Response(content, 200, {"Content-Disposition": f'attachment; filename="{name}"'}, kind)
