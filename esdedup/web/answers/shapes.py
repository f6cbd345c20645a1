"""The shapes of answers, as JSON has them: what the pages show is what the API tells."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict  # which pydantic needs before Python 3.12

Runs = list[tuple[str, str]]
"""Runs of words: `=` in both texts, `-` only in the one that was asked about, `+` only in the other."""


class Place(TypedDict):
    """Where a sentence stands."""

    id: str
    source: str
    document: str
    title: str | None
    position: int
    revision: int | None
    timestamp: str | None


class Match(TypedDict):
    """A stored text that is like the one asked about. `places` are the first of `sentences` that have it."""

    text: str
    sentences: int
    places: list[Place]
    cut: bool  # whether more sentences may have it than were looked at
    shared_tokens: int
    jaccard: float
    containment: float  # the share of the shingles asked about that it has
    word_edit_distance: int
    match: bool  # whether its Jaccard reaches the threshold
    diff: Runs


class Check(TypedDict):
    """What the collection says of a text.

    An `unfinished` one has no end yet: it is looked up by containment, too, and in a `diff` its last word counts as the
    word that it begins.
    """

    text: str
    unfinished: bool
    threshold: float
    tokens: int
    matching: int  # texts that reach the threshold
    containing: int  # texts that have at least that share of its shingles
    similar: list[Match]
    more_similar: int  # texts beyond those
    beginnings: list[Match]  # texts that begin the same way, and are not among the similar ones
    cut: bool  # whether there are more than were looked at: then what is counted is of these
    note: str | None


class Checked(TypedDict):
    """One sentence of a pasted text. `looked_up` is false where it is too short or too long to be compared."""

    text: str
    looked_up: bool
    best: Match | None


class CheckedText(TypedDict):
    """A pasted text, sentence by sentence; how many of them stand in the collection, equal or nearly."""

    sentences: list[Checked]
    looked_up: int
    copied: int
    left_out: int  # sentences beyond the most that are looked up at once
    threshold: float


class Member(Place):
    """A sentence of a cluster."""

    text: str


class ClusterSummary(TypedDict):
    """What every page says about a cluster."""

    id: str
    size: int
    distinct: int
    kind: str | None
    kind_confidence: float | None
    kind_reason: str | None
    min_jaccard: float | None


class ClusterHead(ClusterSummary):
    """A cluster as lists show it."""

    contradictions: int | None
    copies: int | None  # from page to page
    text: str  # of the representative
    place: Place
    frame: str | None  # the representative with slots in braces


class ClusterList(TypedDict):
    """A page of clusters. `after` is the id to ask for the next page with; None on the last one."""

    clusters: list[ClusterHead]
    after: str | None
    kinds: dict[str, int]  # of all clusters, not of this page


class Edge(TypedDict):
    """A pair of texts, by their places among the rows of a cluster."""

    a: int
    b: int
    jaccard: float | None


class Weakest(TypedDict):
    """The two texts of a cluster that are least alike and yet a pair."""

    a: Member
    b: Member
    diff: Runs


class Ancestry(TypedDict):
    """A sentence of a tree of copies: where it came from, and how it was edited on the way."""

    id: str
    title: str | None
    timestamp: str | None
    contributor: str | None
    editor: str | None
    parent: str | None
    depth: int
    edits: int | None
    copied: bool | None


class Value(TypedDict):
    """One of the values that sentences of a cluster give the same thing, and who says so."""

    value: str
    count: int
    first: str | None
    last: str | None
    sentences: list[Any]


class Contradiction(TypedDict):
    """Values that cannot all be right, of one slot of a cluster's frame."""

    cluster: str
    frame: str
    slot: str
    type: str
    values: list[Value]
    majority: int | None
    newest: int | None
    difference: Any
    confidence: float


class ClusterPage(ClusterSummary):
    """One cluster. `aligned` has its texts laid under each other; `edges` are the pairs among those.

    Where it is not `whole`, it has too many sentences for a page: only those that stand for it are there.
    """

    representative: str
    whole: bool
    exportable: bool  # whether it can be had as a file
    aligned: Any
    edges: list[Edge]
    weakest: Weakest | None
    lineage: list[Ancestry]
    more_lineage: int
    contradictions: list[Contradiction]
    more_contradictions: int


class ContradictionList(TypedDict):
    """A page of contradictions, surest clusters first. `cut` are clusters that have more than are listed here."""

    contradictions: list[Contradiction]
    cut: list[ClusterHead]
    after: str | None


class TemplateTable(TypedDict):
    """A template as data: its frame, and a row a sentence; no rows where there are too many sentences for a page."""

    cluster: str
    frame: str
    columns: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    more_rows: int


class Sharing(TypedDict):
    """Two documents with sentences in common."""

    a: str
    b: str
    a_title: str | None
    b_title: str | None
    a_sentences: int
    b_sentences: int
    a_in_b: int
    b_in_a: int
    a_share: float
    b_share: float


class ArticleList(TypedDict):
    """The documents that share most. `common_texts` stand in so many that they tell nothing of two."""

    pairs: list[Sharing]
    more: bool  # whether there are more pairs
    common_texts: int


class ArticlePage(TypedDict):
    """What one document shares with which others, and the largest clusters it is in."""

    id: str
    title: str | None
    pairs: list[Sharing]
    more: bool  # whether there are more pairs
    clusters: list[ClusterHead]
    more_clusters: bool


class Point(TypedDict):
    """A class of similarity: `found` is the share of its pairs that share a token, as measured on so many pairs."""

    jaccard: float
    chance: float  # in theory
    found: float | None
    pairs: int


class Refusal(TypedDict):
    """Why there is no answer."""

    error: str


class Overview(TypedDict):
    """The collection in numbers."""

    store: str
    version: str
    counts: dict[str, Any]
    cluster_sizes: list[tuple[int, int]]
    kinds: dict[str, int]
    kind_sizes: dict[str, list[tuple[int, int]]]  # of each kind, as `cluster_sizes`
    settings: dict[str, Any]
    curve: list[Point]
    skipped: list[tuple[str, int, str]]  # reason, how many, what that means
    sources: list[dict[str, Any]]
    damaged: list[str]  # sources that end in damage
    current: bool  # whether nothing has changed since the last scan
    unfinished: str | None
