"""The views. Each turns the parameters of a request into a query to the store.

A page and its JSON version use the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.convertors import Convertor, register_url_convertor

from esdedup.analysis.names import Kind
from esdedup.jobs.searching import MIN_SIMILARITY, filters_of
from esdedup.output.contents.comparisons import Explanation
from esdedup.store.cluster_queries import MOST, ClusterQuery, Order
from esdedup.store.corpus import Filters
from esdedup.text.splitting import CODE
from esdedup.web.answers import browse, check, lookups, meanings, overview, shapes
from esdedup.web.request_queue import CachedQuery, StoreQuery


class _DocumentId(Convertor[str]):
    """The rest of a path, which is the id of a document: it may contain slashes and, unlike `path`, line ends."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("document", _DocumentId())

_MOST_LETTERS = 2_000  # of an id, of search words, and of a text in an address

_CLUSTER = "^[0-9a-f]{16}$"
_LANGUAGE = f"^{CODE}$"
FORMS = {_CLUSTER: "the id of a cluster: 16 hexadecimal digits", _LANGUAGE: "a language code such as en, de or zh"}
"""What each pattern demands, in words."""


def _unless_empty(default: Any = None) -> BeforeValidator:
    """Use the default if a form sends an empty field."""
    return BeforeValidator(lambda value: default if value == "" else value)


def _means(meaning: str, example: Any, **limits: Any) -> Any:
    """Describe a query parameter."""
    return Query(description=meaning, examples=[example], **limits)


Letters = Annotated[str, Field(max_length=_MOST_LETTERS)]
_Words = Annotated[Letters | None, _unless_empty()]
_Size = Annotated[int, Field(ge=2, le=MOST)]
_ID = "00df55a8b44a4ae5"

ClusterId = Annotated[str, Path(description="Id of the cluster.", examples=[_ID], pattern=_CLUSTER)]
DocumentId = Annotated[str, Path(description="Id of the document.", examples=["12"], max_length=_MOST_LETTERS)]
After = Annotated[
    Annotated[str, Field(pattern=_CLUSTER)] | None,
    _unless_empty(),
    _means("Continue after the cluster with this id: `after` of the previous answer.", _ID),
]
OneKind = Annotated[Kind | None, _unless_empty(), _means("Only clusters of this kind.", "drift")]
Document = Annotated[_Words, _means("Only what is in the document with this id.", "12")]
Article = Annotated[_Words, _means("Only what is in the document with this id or title.", "Velworth")]
AllWords = Annotated[_Words, _means("Only clusters with all these words in one text.", "river bridge")]
Source = Annotated[_Words, _means("Only sentences of the source with this name.", "wiki.xml")]
Language = Annotated[
    Annotated[str, Field(pattern=_LANGUAGE)] | None,
    _unless_empty(),
    _means("Only sentences in this language.", "en"),
]
Limit = Annotated[int, _means("Most rows of the answer.", 10, ge=1, le=100)]
FewestSentences = _means("Fewest sentences of a cluster.", 3)

_EXAMPLE = "Velworth is known for needles."


class Typed(BaseModel, extra="forbid"):
    """One sentence, or its beginning."""

    text: Annotated[str, Field(description="The sentence.", examples=[_EXAMPLE], max_length=check.MOST_CHARS)]


class Pasted(BaseModel, extra="forbid"):
    """A whole text."""

    text: Annotated[str, Field(description="The text.", examples=[_EXAMPLE], max_length=check.MOST_TEXT)]


def check_sentence(typed: Typed) -> StoreQuery[shapes.Check]:
    """Near-duplicates of a sentence, and sentences that begin the same way."""
    return lambda store: check.check(store, typed.text)


def check_text(pasted: Pasted) -> StoreQuery[shapes.CheckedText]:
    """Each sentence of a text, with the nearest sentence of the collection."""
    return lambda store: check.check_text(store, pasted.text)


def _filters(lang: Language = None, source: Source = None, document: Document = None) -> Filters:
    return filters_of(lang, source, document)


Filtered = Annotated[Filters, Depends(_filters)]


def similar(
    text: Annotated[Letters, _means("One sentence. `/api/check` takes longer ones.", _EXAMPLE)],
    filters: Filtered,
    jaccard: Annotated[
        float | None, _means("Least Jaccard similarity of a match. Default: that of the last scan.", 0.8, gt=0, le=1)
    ] = None,
    min_similarity: Annotated[
        float, _means("Leave out what is less similar than this, unless it is a match.", 0.5, ge=0, le=1)
    ] = MIN_SIMILARITY,
    limit: Limit = 20,
) -> StoreQuery[shapes.SimilarSentences]:
    """The stored sentences that are similar to a text: matches first, then the most similar."""
    return lambda store: lookups.similar(store, text, jaccard, min_similarity, limit, filters)


def suggest(
    prefix: Annotated[Letters, _means("What was typed, from two characters on.", "velworth is kn")],
    filters: Filtered,
    limit: Limit = 10,
) -> StoreQuery[shapes.Completions]:
    """The stored texts that complete what was typed: those that begin with it, then those with its words anywhere."""
    return lambda store: lookups.suggest(store, prefix, limit, filters)


def explain(
    a: Annotated[Letters, _means("Id of a sentence: DOCUMENT:POSITION.", "12:3")],
    b: Annotated[Letters, _means("Id of another sentence.", "4071:0")],
) -> StoreQuery[dict[str, Any]]:
    """Why two sentences did or did not match: what they share, the thresholds, the verdict in words, and the diff."""
    return lambda store: lookups.explain(store, a, b)


def clusters(
    kind: OneKind = None,
    min_size: Annotated[_Size, _unless_empty(2), FewestSentences] = 2,
    max_size: Annotated[_Size, _unless_empty(MOST), _means("Most sentences of a cluster.", 100)] = MOST,
    document: Document = None,
    article: Article = None,
    text: AllWords = None,
    sort: Annotated[Order, _means("What comes first: see above.", "contradiction")] = "size",
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
    document: Document = None, article: Article = None, after: After = None
) -> StoreQuery[shapes.ContradictionList]:
    """Sentences that state different facts about the same thing, the most confident first."""
    return lambda store: meanings.contradiction_list(store, document, article, after)


def stale() -> CachedQuery[shapes.CorrectionList]:
    """Corrections that did not arrive: a page has changed a fact, and others still state the old one."""
    return CachedQuery("stale", meanings.corrections)


def templates(
    min_size: Annotated[_Size, _unless_empty(3), FewestSentences] = 3,
    document: Document = None,
    article: Article = None,
    text: AllWords = None,
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
    """A page at `path` with its template, and its JSON version under `/api`. Without a template, only the latter."""

    path: str
    template: str | None
    ask: Callable[..., StoreQuery[Any] | CachedQuery[Any]]
    shape: Any
    body: type[BaseModel] | None = None  # what is posted: JSON to the API, a form to the page
    long: bool = False  # whether it may read the whole store


VIEWS = (
    View("/check", "check_result.html", check_sentence, shapes.Check, Typed),
    View("/text", "text_result.html", check_text, shapes.CheckedText, Pasted),
    View("/similar", None, similar, shapes.SimilarSentences),
    View("/suggest", None, suggest, shapes.Completions),
    View("/explain", None, explain, Explanation, long=True),
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
