"""What can be asked: each view takes the parameters of a request and gives the question to put to the store.

A page and its twin in the API are made of the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, Field

from esdedup.store.cluster_queries import ClusterQuery
from esdedup.web.answers import articles, browse, check, meanings, overview, shapes
from esdedup.web.request_queue import Question, Whole

_MOST_LETTERS = 2_000  # of an id or of words that are looked for


def _unless_empty(default: Any = None) -> BeforeValidator:
    """What a form sends for a field that was left empty is the default."""
    return BeforeValidator(lambda value: default if value == "" else value)


Words = Annotated[Annotated[str, Field(max_length=_MOST_LETTERS)] | None, _unless_empty()]
ClusterId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
After = Annotated[Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None, _unless_empty()]
DocumentId = Annotated[str, Path(max_length=_MOST_LETTERS)]
Kind = Annotated[
    Literal["template", "identical", "copyediting", "drift", "references", "other"] | None, _unless_empty()
]
Sort = Literal["size", "jaccard", "confidence", "contradiction", "copies"]
Size = Annotated[int, Query(ge=2, le=2**31), _unless_empty(2)]
Limit = Annotated[int, Query(ge=1, le=100)]


class Typed(BaseModel):
    """One sentence, or its beginning."""

    text: Annotated[str, Field(max_length=check.MOST_CHARS)]


class Pasted(BaseModel):
    """A whole text."""

    text: Annotated[str, Field(max_length=check.MOST_TEXT)]


def check_sentence(typed: Typed) -> Question[shapes.Check]:
    """Near-duplicates of a sentence, and sentences that begin as it does."""
    return lambda store: check.check(store, typed.text)


def check_text(pasted: Pasted) -> Question[shapes.CheckedText]:
    """Each sentence of a text, with the nearest one of the collection."""
    return lambda store: check.check_text(store, pasted.text)


def clusters(
    kind: Kind = None,
    min_size: Size = 2,
    document: Words = None,
    article: Words = None,
    text: Words = None,
    sort: Sort = "size",
    after: After = None,
    limit: Limit = browse.PAGE,
) -> Question[shapes.ClusterList]:
    """Clusters of a kind, a size, a document (its id) or an article (its id or title), with all these words in a text.

    Largest first, or with the weakest edge, the surest kind, the surest contradiction or most copies first.
    """
    wanted = ClusterQuery(min_size, kind, document, text, article=article, sort=sort, after=after, limit=limit)
    return lambda store: browse.cluster_list(store, wanted)


def cluster(identity: ClusterId) -> Question[shapes.ClusterPage]:
    """One cluster: its texts under each other, their pairs, the weakest of these, who copied whom."""
    return lambda store: browse.cluster_page(store, identity)


def contradictions(
    document: Words = None, article: Words = None, after: After = None
) -> Question[shapes.ContradictionList]:
    """Sentences that state different facts of the same thing, the surest first."""
    return lambda store: meanings.contradiction_list(store, document, article, after)


def templates(
    min_size: Annotated[Size, _unless_empty(3)] = 3,
    document: Words = None,
    article: Words = None,
    text: Words = None,
    after: After = None,
) -> Question[shapes.ClusterList]:
    """Sentences that are filled into a frame, the largest such clusters first."""
    wanted = ClusterQuery(min_size, "template", document, text, article=article, after=after)
    return lambda store: browse.cluster_list(store, wanted)


def template(identity: ClusterId) -> Question[shapes.TemplateTable]:
    """The frame of a template, and the table of what fills it."""
    return lambda store: meanings.template_table(store, identity)


def article_list() -> Whole[shapes.ArticleList]:
    """The pairs of articles that have most sentences in common."""
    return Whole("articles", articles.article_list)


def article(identity: DocumentId) -> Whole[shapes.ArticlePage]:
    """What an article has in common with which others, and its clusters."""
    return Whole(("article", identity), lambda store: articles.article_page(store, identity))


def overview_of_all() -> Whole[shapes.Overview]:
    """Counts, sizes, kinds, settings, what was left out, and how much of what is there the tokens find."""
    return Whole("overview", overview.overview)


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "model": shapes.Refusal}
    for status, what in (
        (400, "It cannot mean anything as asked."),
        (401, "The token is missing: Authorization: Bearer TOKEN."),
        (404, "Nothing has this id."),
        (408, "The body did not come in time."),
        (413, "More than may be sent at once."),
        (421, "This name is not served here."),
        (422, "It is not of the form that is asked for."),
        (503, "Too many questions at once, or the store cannot be read."),
    )
}
"""What is answered instead, as openapi.json describes it."""


class View(NamedTuple):
    """A page at `path`, with its template, and its twin under `/api`."""

    path: str
    template: str
    ask: Callable[..., Question[Any] | Whole[Any]]
    shape: Any
    body: type[BaseModel] | None = None  # what is posted: JSON to the API, a form to the page


VIEWS = (
    View("/check", "check_result.html", check_sentence, shapes.Check, Typed),
    View("/text", "text_result.html", check_text, shapes.CheckedText, Pasted),
    View("/clusters", "clusters.html", clusters, shapes.ClusterList),
    View("/clusters/{identity}", "cluster.html", cluster, shapes.ClusterPage),
    View("/contradictions", "contradictions.html", contradictions, shapes.ContradictionList),
    View("/templates", "templates.html", templates, shapes.ClusterList),
    View("/templates/{identity}", "template.html", template, shapes.TemplateTable),
    View("/articles", "articles.html", article_list, shapes.ArticleList),
    View("/articles/{identity:path}", "article.html", article, shapes.ArticlePage),
    View("/overview", "overview.html", overview_of_all, shapes.Overview),
)
