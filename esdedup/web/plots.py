"""Plots of a snapshot, drawn once, in colours for light and dark pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import FastAPI, Path, Request
from starlette.responses import Response

from esdedup.jobs.questions import threshold
from esdedup.output.curves import draw_curve
from esdedup.output.drawing import on_dark
from esdedup.output.histogram import draw_cluster_sizes
from esdedup.output.kinds_plot import draw_kinds
from esdedup.output.sizes import sizes_of_kinds
from esdedup.store.store import Store
from esdedup.web.answers.browse import UnknownError
from esdedup.web.answers.overview import curve
from esdedup.web.request_queue import CachedQuery, RequestQueue


def add_plots(app: FastAPI, queue: RequestQueue) -> None:
    """Add the routes of the plots: /plots/NAME.svg and /plots/NAME-dark.svg."""

    @app.get("/plots/{name}.svg", include_in_schema=False)
    async def plot(request: Request, name: Annotated[str, Path(max_length=100)]) -> Response:
        plain = name.removesuffix("-dark")
        if plain not in _DRAWINGS:
            raise UnknownError(f"no plot {name}")
        drawn = await queue.ask(request, CachedQuery(("plot", plain), _DRAWINGS[plain]))
        return Response(drawn if plain == name else on_dark(drawn), media_type="image/svg+xml")


def _sizes(store: Store) -> bytes:
    return draw_cluster_sizes(store.results.sizes(), "svg")


def _kinds(store: Store) -> bytes:
    return draw_kinds(sizes_of_kinds(store), "svg")


def _curve(store: Store) -> bytes:
    return draw_curve(curve(store), threshold(store), "svg")


_DRAWINGS: dict[str, Callable[[Store], bytes]] = {
    "cluster-sizes": _sizes,
    "kinds": _kinds,
    "s-curve": _curve,
}
