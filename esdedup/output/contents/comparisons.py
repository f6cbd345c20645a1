"""Sentences, what was found to be similar, and why."""

from __future__ import annotations

from typing import Annotated

from esdedup.output.contents.base import Result, Rows, answer
from esdedup.output.contents.field_types import MISSING, ClusterId, Count, Count32, Kind, Share


@answer
class Member(Result):
    """A sentence of a cluster, or a whole record, and its place."""

    id: str
    """Id of the sentence: DOCUMENT:POSITION, or the id of the document if whole records are compared."""
    source: str
    """Name of the source."""
    document: str
    """Id of the document."""
    title: str | None
    """Title of the document, if it has one."""
    position: Count32
    """Position in the document, from 0."""
    text: str
    """The text."""
    revision: int | None
    """Id of the wiki revision that added the sentence, or of the latest one if only that was read."""
    timestamp: str | None
    """Time of this revision, as in the dump."""


@answer
class ClusterMember(Member):
    """A sentence of a cluster, or a whole record, and how long it was there."""

    last_revision: int | None
    """Id of the last wiki revision that has the sentence, if all revisions were read."""


@answer
class Sentence(Member, shown=("id", "title", "text")):
    """A stored sentence, or a whole record."""

    language: str | None
    """Code of the language of its document."""


@answer
class Document(Result, shown=("id", "title", "language", "text")):
    """The text of a document as a reader sees it."""

    id: str
    """Id of the document."""
    source: str
    """Name of the source."""
    title: str | None
    """Title of the document, if it has one."""
    text: str
    """The text: paragraphs are separated by an empty line."""
    revision: int | None
    """Id of the wiki revision."""
    timestamp: str | None
    """Time of this revision, as in the dump."""
    language: str | None
    """Code of the language."""


@answer
class Completion(Sentence, shown=("id", "title", "places", "text")):
    """A stored text that completes what was typed, with the first sentence that has it."""

    places: Count
    """Number of sentences with this text."""
    documents: Count
    """Number of documents that have them."""


@answer
class Hit(Sentence, shown=("id", "similarity", "match", "text")):
    """A stored sentence that is similar to the text of a query."""

    similarity: Share
    """How similar the texts are to a reader: half of it is the share of the letters of the query that the sentence has
    (in groups of four), a quarter the share of its words in the same order, a quarter the Jaccard similarity of these
    groups. Case, accents and signs do not count."""
    shared_tokens: Count
    """Number of tokens that it shares with the text."""
    jaccard: Share
    """Jaccard similarity of the shingles of both texts."""
    containment: Share
    """Share of the shingles of the query's text that the sentence has."""
    word_edit_distance: Count
    """Number of words to insert, delete or replace to turn one text into the other."""
    match: bool
    """Whether the Jaccard similarity reaches the threshold."""
    diff: list[tuple[str, str]]
    """Runs of words: `=` in both texts, `-` only in that of the query, `+` only in the sentence."""


@answer
class Answer(Result, shown=("id", "text", "similar")):
    """What is similar to the text of one question."""

    id: str
    """Id of the question: its own, or the number of its line."""
    text: str
    """Its text."""
    similar: list[Hit]
    """The sentences, as `similar` lists them."""


@answer
class Pair(Result):
    """Two different texts that are near-duplicates. Each is named by the id of its first sentence."""

    a: str
    """Id of one sentence."""
    b: str
    """Id of the other sentence; `a` sorts before `b` as UTF-8 bytes."""
    jaccard: Share | None
    """Jaccard similarity of the shingles of both texts, to 6 decimals; null with `--verify none`."""
    word_edit_distance: Count32 | None
    """Number of words to insert, delete or replace to turn one text into the other; null with `--verify none`."""
    shared_tokens: Count32
    """Number of tokens that both texts share; with `--candidates agreement`, of equal values in their signatures."""
    probability: Share = MISSING
    """Probability that two records are the same, to 6 decimals; with `--candidates records`."""


@answer
class StoredCluster(Result):
    """Sentences that say the same, or nearly the same."""

    id: ClusterId
    """The smallest content hash among the texts, in hexadecimal digits."""
    size: Count
    """Number of members."""
    distinct: Count
    """Number of different texts; 1 if all members are copies of one text."""
    kind: Kind | None
    """What the cluster means; null if clusters were not classified."""
    kind_confidence: Share | None
    """How sure the kind is, from 0 to 1."""
    kind_reason: str | None
    """Why the cluster is of this kind, in words."""
    min_jaccard: Share | None
    """Lowest Jaccard similarity of a verified pair in the cluster; 1 for copies, null if nothing was verified."""
    weakest: list[str] | None
    """Ids of the two sentences with this similarity."""
    representative: str
    """Id of the first sentence with the text that is most similar to the others."""
    members: list[ClusterMember]
    """All sentences, by source, document and position."""


@answer
class Cluster(StoredCluster, shown=("id", "size", "kind", "min_jaccard", "representative")):
    """A cluster, and how it has changed since an earlier run."""

    change: Annotated[str, ("enum", ("new", "grown", "gone"))] = MISSING
    """What has happened to the cluster since the run of `--since`."""
    before: Count = MISSING
    """Number of sentences with these texts that were in clusters of that run."""


@answer
class Thresholds(Result):
    """What a pair had to reach in the last scan."""

    jaccard: Share | None
    """Lowest Jaccard similarity; null if another threshold decides."""
    word_edit_distance: Count | None
    """Largest word edit distance; null for no limit."""


@answer
class Weighed(Result):
    """What a field says of two records."""

    field: str
    """Name of the field; `all records` is how likely any two records are the same, `rare values` or `common values`
    what is added as they agree on such."""
    a: str | None
    """What A has there, as it is compared."""
    b: str | None
    """What B has."""
    level: str | None
    """How alike the two are."""
    weight: float
    """How many times this doubles the odds that the two are the same; below 0, halves them."""


@answer
class Explanation(Result, shown=("verdict", "jaccard", "word_edit_distance", "shared_tokens")):
    """Why two sentences did or did not match."""

    a: Sentence
    """One sentence."""
    b: Sentence
    """The other sentence."""
    identical: bool
    """Whether both texts are equal."""
    shared_tokens: Count
    """Number of tokens that both texts share."""
    tokens: Count
    """Number of tokens of a text."""
    chance: Share
    """Probability that two texts with this similarity share a token."""
    shingle: str
    """Shingles by which the two are compared: those of the shorter one."""
    shingles: list[str]
    """Shingles of the class of A, and of that of B."""
    jaccard: Share
    """Jaccard similarity of the shingles of both texts."""
    containment: list[float]
    """Share of the shingles of A that B has, and share of those of B that A has."""
    word_edit_distance: Count
    """Number of words to insert, delete or replace to turn one text into the other."""
    thresholds: Thresholds
    """What a pair had to reach in the last scan."""
    damage: list[dict[str, float]] = MISSING
    """What each term adds to the damage of A, and of B, as if these were the only copies; after `--keep clean`."""
    values_agreeing: Count = MISSING
    """Number of values in which the signatures agree, if candidates came from agreement."""
    probability: Share = MISSING
    """Probability that two records are the same: of a pair, as the scan found it, else by their fields alone."""
    min_probability: Share = MISSING
    """Least probability of a pair of records in the last scan."""
    fields: list[Weighed] = MISSING
    """What each field of two records says."""
    verdict: str = MISSING
    """The verdict in words."""
    diff: list[tuple[Annotated[str, ("enum", ("=", "-", "+"))], str]] = MISSING
    """Runs of words: `=` in both texts, `-` only in A, `+` only in B."""


@answer
class OverlapRow(Result, shown=("a", "b", "a_in_b", "b_in_a", "a_share", "b_share")):
    """Two documents, or sources, and how many sentences of each are in the other."""

    a: str
    """Id of one document, or name of one source."""
    b: str
    """Id or name of the other one."""
    a_title: str | None
    """Title of the first document."""
    b_title: str | None
    """Title of the second document."""
    a_sentences: Count
    """Number of sentences of A that were compared."""
    b_sentences: Count
    """Number of sentences of B that were compared."""
    a_in_b: Count
    """Number of sentences of A whose text, or a near-duplicate of it, is in B."""
    b_in_a: Count
    """Number of sentences of B whose text, or a near-duplicate of it, is in A."""
    a_share: Share
    """Share of the sentences of A that are in B."""
    b_share: Share
    """Share of the sentences of B that are in A."""


@answer
class Overlap(Result):
    """Pairs of documents or sources. `common_texts` were left out, as too many documents have them."""

    rows: Rows[OverlapRow]
    common_texts: int
    title: str | None = None
