"""The shapes of answers as JSON. Pages show the same answers as the API."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from esdedup.output.contents.comparisons import Completion, Hit, OverlapRow
from esdedup.output.contents.meaning_answers import Contradiction, StaleFact, TreeMember

Runs = list[tuple[str, str]]
"""Runs of words: `=` in both texts, `-` only in the text that was asked about, `+` only in the other."""


class Place(TypedDict):
    """Where a sentence is."""

    id: str
    source: str
    document: str
    title: str | None
    position: int
    revision: int | None
    timestamp: str | None


class Match(TypedDict):
    """A stored text that is similar to the query. `places` lists the first of its `sentences` sentences."""

    text: str
    sentences: int
    documents: int
    places: list[Place]
    similarity: float
    jaccard: float
    containment: float  # the share of the query's shingles that this text has
    word_edit_distance: int
    match: bool  # whether the Jaccard similarity reaches the threshold
    diff: Runs


class Completed(TypedDict):
    """A stored text that completes the query, and its first place."""

    text: str
    places: int
    documents: int
    place: Place


class Check(TypedDict):
    """What the collection says about a text. An `unfinished` text does not end yet."""

    text: str
    too_short: bool  # whether it has fewer than two letters or digits
    unfinished: bool
    threshold: float
    matching: int  # texts that reach the threshold
    documents: int  # documents in which they stand
    more_documents: bool  # whether there may be more of them
    similar: list[Match]
    more_similar: int  # number of further similar texts
    completions: list[Completed]  # completions of an unfinished text
    more_completions: bool  # whether there are more of them
    left_out: int  # texts that are also like it, but were not compared; if it is unfinished, at least so many
    note: str | None


class SimilarSentences(TypedDict):
    """Stored sentences that are similar to a text, best first."""

    text: str  # as it was looked up
    similar: list[Hit]
    left_out: int  # texts that are also like it, but were not compared


class Completions(TypedDict):
    """Stored texts that complete what was typed, best first."""

    completions: list[Completion]
    more: bool  # whether there are more of them


class Checked(TypedDict):
    """One sentence of a pasted text. `looked_up` is false if it is too short or too long to be compared."""

    text: str
    looked_up: bool
    best: Match | None  # the nearest text that reaches the threshold
    similar: Match | None  # else the nearest text, if it is similar enough


class CheckedText(TypedDict):
    """A pasted text, sentence by sentence, and how many of its sentences are in the collection, exactly or nearly."""

    sentences: list[Checked]
    looked_up: int
    copied: int
    similar: int  # others, to which a text of the collection is similar
    left_out: int  # sentences beyond the limit, or beyond the time limit
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
    """A cluster in a list."""

    contradictions: int | None
    copies: int | None  # copies from page to page
    text: str  # of the representative
    place: Place
    frame: str | None  # the representative with slots in braces


class ClusterList(TypedDict):
    """A page of clusters. Pass the id `after` to get the next page; it is None on the last one."""

    clusters: list[ClusterHead]
    after: str | None
    total: int | None  # number of clusters on all pages; None with a filter that is not counted
    kinds: dict[str, int]  # of all clusters, not only of this page


class Edge(TypedDict):
    """A pair of texts, by their indices among the rows of a cluster."""

    a: int
    b: int
    jaccard: float | None


class Weakest(TypedDict):
    """The two texts of the least similar pair of a cluster."""

    a: Member
    b: Member
    diff: Runs


class ClusterPage(ClusterSummary):
    """One cluster. `aligned` contains its aligned texts; `edges` are the pairs among them.

    If it is not `whole`, it has too many sentences for a page. Then only representative ones are included.
    """

    representative: str
    whole: bool
    exportable: bool  # whether it can be downloaded as a file
    aligned: Any
    edges: list[Edge]
    weakest: Weakest | None
    weighed: list[dict[str, Any]]  # of records: what each field says of the weakest pair
    lineage: list[TreeMember]
    more_lineage: int
    contradictions: list[Contradiction]
    more_contradictions: int


class ContradictionList(TypedDict):
    """A page of contradictions, most confident clusters first. `cut` lists clusters with more contradictions than
    shown.
    """

    contradictions: list[Contradiction]
    cut: list[ClusterHead]
    after: str | None
    total: int | None  # contradictions on all pages; None for one document


class CorrectionList(TypedDict):
    """Corrections that other pages have not made, the newest first: `stale` says where the old value still stands."""

    corrections: list[StaleFact]
    total: int  # more than these, if they are many


class TemplateTable(TypedDict):
    """A template as a table: its frame, and one row for each sentence. No rows if there are too many for a page."""

    cluster: str
    frame: str
    columns: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    more_rows: int


class ArticleList(TypedDict):
    """The documents that share the most. `common_texts` are in so many documents that they are not counted."""

    pairs: list[OverlapRow]
    more: bool  # whether there are more pairs
    common_texts: int


class ArticlePage(TypedDict):
    """What one document shares with which others, and the largest clusters that it is in."""

    id: str
    title: str | None
    pairs: list[OverlapRow]
    more: bool  # whether there are more pairs
    clusters: list[ClusterHead]
    more_clusters: bool


class Point(TypedDict):
    """A range of similarity. `found` is the measured share of its pairs that share a token, out of `pairs` pairs."""

    jaccard: float
    chance: float  # in theory
    found: float | None
    pairs: int


class Refusal(TypedDict):
    """Why there is no answer."""

    error: str


class Overview(TypedDict):
    """The counts of the collection."""

    store: str
    version: str
    records: dict[str, Any]  # how many came in, were compared, and were not
    counts: dict[str, Any]
    cluster_sizes: list[tuple[int, int]]
    kinds: dict[str, int]
    kind_sizes: dict[str, list[tuple[int, int]]]  # for each kind, as in `cluster_sizes`
    settings: dict[str, Any]
    curve: list[Point]
    skipped: list[tuple[str, int, str]]  # reason, count, meaning
    sources: list[dict[str, Any]]
    damaged: list[str]  # sources that end with damaged data
    current: bool  # whether nothing has changed since the last scan
    unfinished: str | None
