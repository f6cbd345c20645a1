"""The verbs about what clusters mean."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.api.sources import Address, check_store
from esdedup.errors import SourceError, UsageError
from esdedup.plurals import plural
from esdedup.store.cluster_queries import ClusterQuery

if TYPE_CHECKING:
    from esdedup.analysis.templates import Table
    from esdedup.output.contents.base import Rows
    from esdedup.output.contents.meaning_answers import Contradiction, Lineage
    from esdedup.store.store import Store


def drift(
    *,
    store: Address | Store,
    stale: bool = False,
    since: str | None = None,
    document: str | None = None,
    limit: int | None = None,
) -> Rows[Contradiction]:
    """List contradictions: sentences about one subject that state different facts, surest first.

    Args:
        store: Address of a store, or an open one.
        stale: Only corrections that did not arrive: a page has changed a fact, and others still state the old one;
            newest first.
        since: A date (2024-05-31): only contradictions with a value that no page had before, and corrections that were
            made since.
        document: Only clusters with a sentence of a document with this id or title.
        limit: Most contradictions to return. Default: all.

    Returns:
        Contradictions, each with its cluster, frame, slot, values, and the places of the majority and newest value.
        With `stale`, also what was changed, and where the old value still stands.

    Raises:
        UsageError: A value is not allowed.
        StoreError: Nothing was scanned, something has changed since, or clusters were not classified.

    Example:
        >>> esdedup.drift(store="found/store.duckdb")[0].values  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.analysis.drift import contradictions
    from esdedup.analysis.names import TEMPLATE
    from esdedup.jobs.current_pages import mark_current
    from esdedup.jobs.preconditions import check_count, moment
    from esdedup.jobs.questions import opened_kinds, storable
    from esdedup.output.contents.base import Rows
    from esdedup.output.contents.meaning_answers import Contradiction, StaleFact

    check_count("limit", limit)
    begin = moment("since", since)
    query = ClusterQuery(
        having="contradictions", article=document and storable(document), sort="contradiction", shared=True
    )
    with opened_kinds(store) as opened:
        clusters = opened.results.cluster_rows(query)
        found = [
            row
            for cluster in (mark_current(opened, clusters) if stale else clusters)
            for row in contradictions(cluster, stale=stale)
            if begin is None or any(time >= begin for time in _times_of(row))
        ]
        patterns = 0 if stale or document or since else opened.results.kinds().get(TEMPLATE, 0)
    found.sort(key=lambda row: (-row["confidence"], row["cluster"], row["slot"]))
    if stale:
        found.sort(key=lambda row: row["stale"]["timestamp"] or "", reverse=True)
    note = ""
    if patterns:
        note = (
            f"not listed: {plural(patterns, 'template')}, whose values tell pages apart; esdedup templates shows them"
        )
    elif document and not found:
        note = f"no document with the id or title {document!r} has one; titles are written as in the source"
    shape = StaleFact if stale else Contradiction
    return Rows([shape.of(row) for row in found[:limit]], note)


def _times_of(row: dict[str, Any]) -> list[str]:
    """Return when a correction was made, or when a contradiction began: the first time of each value."""
    told = [row["stale"]["timestamp"]] if "stale" in row else [value["first"] for value in row["values"]]
    return [time or "" for time in told]


def templates(
    *, store: Address | Store, min_subjects: int = 3, document: str | None = None, limit: int | None = None
) -> Iterator[Table]:
    """List templates: the frame of each cluster, and a table of what fills its slots, largest first.

    Args:
        store: Address of a store, or an open one.
        min_subjects: Fewest distinct texts of a template.
        document: Only clusters with a sentence of a document with this id or title.
        limit: Most tables to return. Default: all.

    Returns:
        An iterator over tables: a frame, its slots as columns, a row a sentence.

    Raises:
        UsageError: A value is not allowed.
        StoreError: Nothing was scanned, something has changed since, or clusters were not classified.

    Example:
        >>> next(esdedup.templates(store="found/store.duckdb")).frame  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.analysis.templates import table_of
    from esdedup.jobs.preconditions import check_count
    from esdedup.jobs.questions import opened_kinds, storable

    check_count("min_subjects", min_subjects)
    check_count("limit", limit)
    query = ClusterQuery(kind="template", article=document and storable(document))

    def tables() -> Iterator[Table]:
        with opened_kinds(store) as opened:
            rows = (row for row in opened.results.cluster_rows(query) if row["distinct"] >= min_subjects)
            yield from islice(map(table_of, rows), limit)

    return tables()


def fill(frame: str, table: Address) -> Iterator[str]:
    """Write the sentences of a frame and a table, a CSV file whose columns are named like the slots.

    Args:
        frame: A text with slots in braces, as `templates` gives it.
        table: CSV file in UTF-8 whose columns are named as the slots.

    Returns:
        An iterator over sentences, one a row.

    Raises:
        UsageError: The frame's braces do not match, or a slot has no column.
        SourceError: The file cannot be read.

    Example:
        >>> list(esdedup.fill("{name} has {number} people.", "towns.csv"))  # doctest: +SKIP
    """
    from esdedup.analysis.templates import frame_pieces, write
    from esdedup.output.meaning_files import text_of

    if all(isinstance(piece, str) for piece in frame_pieces(frame)):
        raise UsageError("the frame has no slot; write the name of a column of the table in braces, such as {number}")
    path = Path(table)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for row in csv.DictReader(lines):
                yield write(frame, {name: text_of(value or "") for name, value in row.items() if isinstance(name, str)})
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path}: {error}; use a CSV file in UTF-8 with a header line") from error


def lineage(
    *, store: Address | Store, unattributed: bool = False, document: str | None = None, limit: int | None = None
) -> Lineage:
    """Show which sentence came first: a tree for each cluster that was copied from page to page, most copies first.

    The parent of a sentence is the most similar one that is known to have appeared earlier elsewhere. Dumps with full
    history show the edit that added a sentence.

    Args:
        store: Address of a store, or an open one.
        unattributed: Also list passages of three sentences and more that a page has word for word from an older one,
            without a link to it; the longest first.
        document: Only clusters with a sentence of a document with this id or title.
        limit: Most trees to return, and most passages. Default: all.

    Returns:
        The trees; of the whole store also how many copies each kind of editor added, and how many clustered sentences
        have no time.

    Raises:
        StoreError: Nothing was scanned, something has changed since, or clusters were not classified.

    Example:
        >>> esdedup.lineage(store="found/store.duckdb").editors  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.analysis.lineage import descended, editors
    from esdedup.jobs.preconditions import check_count
    from esdedup.jobs.questions import opened_kinds, storable
    from esdedup.output.contents.meaning_answers import Lineage

    check_count("limit", limit)
    query = ClusterQuery(article=document and storable(document), sort="copies", limit=limit)
    with opened_kinds(store) as opened:
        trees = [descended(tree) for tree in opened.results.trees(query) if tree["members"]]
        copiers, undated = opened.results.copiers()
        told: dict[str, Any] = {
            "undated": undated,
            "ordered": opened.results.ordered(),
            "shared": opened.results.spread(),
        }
        if unattributed and told["ordered"]:
            passages = [
                row for row in opened.results.passages() if document in (None, row["document"], row["source_document"])
            ]
            told["uncertain"] = sum(row["uncertain"] for row in passages)
            told["unattributed"] = [row for row in passages if not row.pop("uncertain")][:limit]
    return Lineage.of({"trees": trees, "editors": editors(copiers), **told})
