"""The views. Each turns the parameters of a request into a query to the store.

A page and its JSON version use the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.convertors import Convertor, register_url_convertor

from esdedup.analysis.names import Kind
from esdedup.store.cluster_queries import MOST, ClusterQuery, Order
from esdedup.web.answers import browse, check, meanings, overview, shapes
from esdedup.web.request_queue import CachedQuery, StoreQuery


class _DocumentId(Convertor[str]):
    """The rest of a path, which is the id of a document: it may contain slashes and, unlike `path`, line ends."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("document", _DocumentId())

_MOST_LETTERS = 2_000  # of an id or of search words


def _unless_empty(default: Any = None) -> BeforeValidator:
    """Use the default if a form sends an empty field."""
    return BeforeValidator(lambda value: default if value == "" else value)


Words = Annotated[Annotated[str, Field(max_length=_MOST_LETTERS)] | None, _unless_empty()]
ClusterId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
After = Annotated[Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None, _unless_empty()]
DocumentId = Annotated[str, Path(max_length=_MOST_LETTERS)]
OneKind = Annotated[Kind | None, _unless_empty()]
Size = Annotated[int, Query(ge=2, le=MOST), _unless_empty(2)]
Limit = Annotated[int, Query(ge=1, le=100)]


class Typed(BaseModel):
    """One sentence, or its beginning."""

    text: Annotated[str, Field(max_length=check.MOST_CHARS)]


class Pasted(BaseModel):
    """A whole text."""

    text: Annotated[str, Field(max_length=check.MOST_TEXT)]


def check_sentence(typed: Typed) -> StoreQuery[shapes.Check]:
    """Near-duplicates of a sentence, and sentences that begin the same way."""
    return lambda store: check.check(store, typed.text)


def check_text(pasted: Pasted) -> StoreQuery[shapes.CheckedText]:
    """Each sentence of a text, with the nearest sentence of the collection."""
    return lambda store: check.check_text(store, pasted.text)


def clusters(
    kind: OneKind = None,
    min_size: Size = 2,
    max_size: Annotated[Size, _unless_empty(MOST)] = MOST,
    document: Words = None,
    article: Words = None,
    text: Words = None,
    sort: Order = "size",
    after: After = None,
    limit: Limit = browse.PAGE,
) -> StoreQuery[shapes.ClusterList]:
    """Clusters by kind, size, document (an id) or article (an id or a title), and with all these words in one text.

    The largest first, or those with the weakest edge, the most confident kind, the most confident contradiction or the
    most copies.
    """
    query = ClusterQuery(
        min_size, kind, document, text, article=article, sort=sort, after=after, limit=limit, max_size=max_size
    )
    return lambda store: browse.cluster_list(store, query)


def cluster(identity: ClusterId) -> StoreQuery[shapes.ClusterPage]:
    """One cluster: its aligned texts, their pairs, the weakest pair, and who copied from whom."""
    return lambda store: browse.cluster_page(store, identity)


def contradictions(
    document: Words = None, article: Words = None, after: After = None
) -> StoreQuery[shapes.ContradictionList]:
    """Sentences that state different facts about the same thing, the most confident first."""
    return lambda store: meanings.contradiction_list(store, document, article, after)


def stale() -> CachedQuery[shapes.CorrectionList]:
    """Corrections that did not arrive: a page has changed a fact, and others still state the old one."""
    return CachedQuery("stale", meanings.corrections)


def templates(
    min_size: Annotated[Size, _unless_empty(3)] = 3,
    document: Words = None,
    article: Words = None,
    text: Words = None,
    after: After = None,
) -> StoreQuery[shapes.ClusterList]:
    """Clusters of sentences that fill one frame, the largest first."""
    query = ClusterQuery(min_size, "template", document, text, article=article, after=after)
    return lambda store: browse.cluster_list(store, query)


def template(identity: ClusterId) -> StoreQuery[shapes.TemplateTable]:
    """The frame of a template, and the table of the values in its slots."""
    return lambda store: meanings.template_table(store, identity)


def article_list() -> CachedQuery[shapes.ArticleList]:
    """The pairs of articles with the most common sentences."""
    return CachedQuery("articles", overview.article_list)


def article(identity: DocumentId) -> CachedQuery[shapes.ArticlePage]:
    """The articles that share sentences with one article, and its clusters."""
    return CachedQuery(("article", identity), lambda store: overview.article_page(store, identity))


def overview_of_all() -> CachedQuery[shapes.Overview]:
    """Counts, sizes, kinds, settings, what was skipped, and the share of similar pairs that the tokens find."""
    return CachedQuery("overview", overview.overview)


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "model": shapes.Refusal}
    for status, what in (
        (400, "The request is not valid."),
        (401, "The token is missing: Authorization: Bearer TOKEN."),
        (404, "Nothing has this id."),
        (408, "The body did not arrive in time."),
        (413, "The body is too large."),
        (421, "This host name is not allowed."),
        (422, "A parameter is missing or not valid."),
        (503, "Too many queries at once, or the store cannot be read."),
    )
}
"""Errors, as openapi.json describes them."""


class View(NamedTuple):
    """A page at `path` with its template, and its JSON version under `/api`."""

    path: str
    template: str
    ask: Callable[..., StoreQuery[Any] | CachedQuery[Any]]
    shape: Any
    body: type[BaseModel] | None = None  # what is posted: JSON to the API, a form to the page


VIEWS = (
    View("/check", "check_result.html", check_sentence, shapes.Check, Typed),
    View("/text", "text_result.html", check_text, shapes.CheckedText, Pasted),
    View("/clusters", "clusters.html", clusters, shapes.ClusterList),
    View("/clusters/{identity}", "cluster.html", cluster, shapes.ClusterPage),
    View("/contradictions", "contradictions.html", contradictions, shapes.ContradictionList),
    View("/stale", "stale.html", stale, shapes.CorrectionList),
    View("/templates", "templates.html", templates, shapes.ClusterList),
    View("/templates/{identity}", "template.html", template, shapes.TemplateTable),
    View("/articles", "articles.html", article_list, shapes.ArticleList),
    View("/articles/{identity:document}", "article.html", article, shapes.ArticlePage),
    View("/overview", "overview.html", overview_of_all, shapes.Overview),
)
