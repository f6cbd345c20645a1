"""The query verbs. Each takes the address of a store or an open store, which is faster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from esdedup.analysis.names import KINDS, Kind
from esdedup.api.sources import Address, check_store
from esdedup.errors import UsageError
from esdedup.output.choices import By
from esdedup.store.cluster_queries import ORDERS, ClusterQuery, Order

if TYPE_CHECKING:
    from esdedup.output.contents.base import Rows
    from esdedup.output.contents.comparisons import Answer, Cluster, Completion, Explanation, Hit, Overlap
    from esdedup.store.store import Store


def similar(
    text: str,
    *,
    store: Address | Store,
    jaccard: float | None = None,
    min_similarity: float = 0.35,
    limit: int | None = None,
    lang: str | None = None,
    source: str | None = None,
    document: str | None = None,
) -> Rows[Hit]:
    """List the stored sentences that are similar to a text, the most similar first.

    Case, accents and signs do not count. Typing errors, other words, another order and missing ends make a sentence
    less similar, but it is found.

    Args:
        text: Taken as one unit, however short or long.
        store: Address of a store, or an open one.
        jaccard: Minimum Jaccard similarity of a match. Default: that of the last scan.
        min_similarity: Leave out what is less similar than this, unless it is a match.
        limit: Most sentences to return. Default: all.
        lang: Only sentences in this language, such as en or de.
        source: Only sentences of the source with this name.
        document: Only sentences of the document with this id.

    Returns:
        Hits: matches first, then by similarity, then by id.

    Raises:
        StoreError: There is no store, or a run is not finished.
        UsageError: `lang` is not a language code.

    Example:
        >>> esdedup.similar("The quick brown fox.", store="news.duckdb")[0].id  # doctest: +SKIP
    """
    from esdedup.output.contents.base import Rows

    [answer] = similar_to_each(
        [("", text)], store=store, jaccard=jaccard, min_similarity=min_similarity, limit=limit, lang=lang,
        source=source, document=document,
    )  # fmt: skip
    return Rows(answer.similar)


def similar_to_each(
    questions: Iterable[tuple[str, str]],
    *,
    store: Address | Store,
    jaccard: float | None = None,
    min_similarity: float = 0.35,
    limit: int | None = None,
    lang: str | None = None,
    source: str | None = None,
    document: str | None = None,
) -> Iterator[Answer]:
    """Ask `similar` for many texts. The answers come one by one, in the order of the questions.

    Args:
        questions: Id and text of each question.
        store: Address of a store, or an open one.
        jaccard: As for `similar`, like all that follow.
        min_similarity: Leave out what is less similar than this, unless it is a match.
        limit: Most sentences for each question.
        lang: Only sentences in this language, such as en or de.
        source: Only sentences of the source with this name.
        document: Only sentences of the document with this id.

    Returns:
        For each question its id, its text and its hits.

    Raises:
        StoreError: There is no store, or a run is not finished.
        UsageError: `lang` is not a language code.

    Example:
        >>> for answer in esdedup.similar_to_each([("1", "A fox.")], store="news.duckdb"):  # doctest: +SKIP
        ...     print(answer.id, len(answer.similar))
    """
    check_store(store)
    from esdedup.jobs import searching
    from esdedup.jobs.preconditions import check_count
    from esdedup.output.contents.comparisons import Answer

    check_count("limit", limit)
    filters = searching.filters_of(lang, source, document)
    return map(Answer.of, searching.answers(questions, store, jaccard, min_similarity, limit, filters))


def suggest(
    prefix: str,
    *,
    store: Address | Store,
    limit: int = 20,
    lang: str | None = None,
    source: str | None = None,
    document: str | None = None,
) -> Rows[Completion]:
    """List the stored texts that complete what was typed, the best first.

    First those that begin with it; then those with its words anywhere. Words may be half typed or mistyped; case,
    accents and signs do not count.

    Args:
        prefix: What was typed, from two characters on.
        store: Address of a store, or an open one.
        limit: Most texts to return.
        lang: Only sentences in this language, such as en or de.
        source: Only sentences of the source with this name.
        document: Only sentences of the document with this id.

    Returns:
        Texts, each once, with the first sentence that has it and the number of its `places` and `documents`.

    Raises:
        StoreError: There is no store, or a run is not finished.
        UsageError: `lang` is not a language code.

    Example:
        >>> esdedup.suggest("univ cambr", store="news.duckdb")[0].text  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs import searching
    from esdedup.jobs.preconditions import check_count
    from esdedup.output.contents.base import Rows
    from esdedup.output.contents.comparisons import Completion

    check_count("limit", limit)
    rows = searching.suggested(prefix, store, limit, searching.filters_of(lang, source, document))
    return Rows([Completion.of(row) for row in rows])


def explain(a: str, b: str, *, store: Address | Store) -> Explanation:
    """Explain why two sentences did or did not match.

    Args:
        a: Id of a sentence.
        b: Id of another.
        store: Address of a store, or an open one.

    Returns:
        Shared tokens, Jaccard, containment both ways, word edit distance, the thresholds of the last scan, the `chance`
        that two texts as similar as these share a token, the `verdict` in words, and the `diff`: runs of words with
        `=`, `-` (only in a) or `+` (only in b).

    Raises:
        StoreError: An id is unknown, or there is no store.

    Example:
        >>> esdedup.explain("12:3", "4071:0", store="news.duckdb").verdict  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs import questions
    from esdedup.output.contents.comparisons import Explanation

    with questions.opened_store(store) as opened:
        return Explanation.of(questions.explanation(opened, a, b))


def clusters(
    *,
    store: Address | Store,
    min_size: int = 2,
    kind: Kind | None = None,
    document: str | None = None,
    text: str | None = None,
    lang: str | None = None,
    since: Address | None = None,
    sort: Order = "size",
    limit: int | None = None,
    after: str | None = None,
) -> Iterator[Cluster]:
    """List clusters with their members, the largest first.

    Args:
        store: Address of a store, or an open one.
        min_size: Fewest sentences of a cluster.
        kind: Only clusters of this kind.
        document: Only clusters with a sentence of the document with this id.
        text: Only clusters whose texts contain all these words.
        lang: Only clusters with a sentence in this language, such as en or de.
        since: Folder of an earlier run: only clusters that are new, grown or gone since then, each with its `change`
            and how many sentences with its texts were clustered `before`.
        sort: Sort by size, jaccard (of the weakest pair), confidence (of the kind), contradiction (its confidence) or
            copies (their number).
        limit: Most clusters to return. Default: all.
        after: Continue after the cluster with this id.

    Returns:
        An iterator over clusters.

    Raises:
        UsageError: A value is not allowed.
        StoreError: Nothing was scanned, or something has changed since.

    Example:
        >>> next(esdedup.clusters(store="news.duckdb", kind="drift")).members  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs import questions
    from esdedup.jobs.preconditions import check_choice, check_count
    from esdedup.output.contents.comparisons import Cluster

    check_count("min_size", min_size)
    check_count("limit", limit)
    check_choice("sort", sort, ORDERS)
    if kind is not None:
        check_choice("kind", kind, KINDS)
    if since is not None and after is not None:
        raise UsageError("since lists everything at once; omit after")
    document, text = (value and questions.storable(value) for value in (document, text))
    language = questions.known_language(lang)
    query = ClusterQuery(min_size, kind, document, text, language, sort=sort, limit=limit, after=after)
    return map(Cluster.of, questions.cluster_rows(store, query, since))


def overlap(
    *,
    store: Address | Store,
    by: By = "documents",
    document: str | None = None,
    limit: int | None = None,
) -> Overlap:
    """List pairs of documents, or of sources, by how many sentences they share.

    A sentence of A is in B if B has the same text, or one that is a pair with it.

    Args:
        store: Address of a store, or an open one.
        by: What is compared.
        document: Only pairs with the document (or source) of this id.
        limit: Most pairs to return. Default: all.

    Returns:
        Pairs, those with most sentences in common first.

    Raises:
        UsageError: The document is unknown or has no sentence.
        StoreError: Nothing was scanned, or something has changed since.

    Example:
        >>> esdedup.overlap(store="news.duckdb", limit=10).rows  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.jobs import questions
    from esdedup.jobs.preconditions import check_count
    from esdedup.output.contents.base import Rows
    from esdedup.output.contents.comparisons import Overlap, OverlapRow
    from esdedup.output.overlap import overlaps

    check_count("limit", limit)
    with questions.opened_results(store) as opened:
        found = overlaps(opened, by, document and questions.storable(document), limit)
    rows = Rows([OverlapRow.of(row) for row in found.rows])
    return Overlap(rows=rows, common_texts=found.common_texts, title=found.title)
