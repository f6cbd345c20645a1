"""The verbs about what clusters mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from esdedup.api.checked import check_store
from esdedup.api.sources import Address

if TYPE_CHECKING:
    from esdedup.analysis.templates import Table
    from esdedup.api.results import Contradiction, Lineage, Rows
    from esdedup.store.store import Store


def drift(
    *, store: Address | Store, since: str | None = None, document: str | None = None, limit: int | None = None
) -> Rows[Contradiction]:
    """List the places where sentences of one cluster state different facts of the same subject, surest first.

    Args:
        store: Address of a store, or an open one.
        since: A date (2024-05-31): only contradictions in which the oldest sentence with some value is not older.
        document: Only clusters with a sentence of the document with this id.
        limit: Most contradictions to return. Default: all.

    Returns:
        Contradictions, each with its cluster, frame, slot, values, and the places of the majority and newest value.

    Raises:
        UsageError: A value is not allowed.
        StoreError: Nothing was scanned, something has changed since, or clusters were not classified.

    Example:
        >>> esdedup.drift(store="found/store.duckdb")[0].values  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.api.results import Contradiction, Rows
    from esdedup.jobs import meanings

    rows = meanings.drift(store=store, since=since, document=document, limit=limit)
    return Rows([Contradiction.of(row) for row in rows])


def templates(
    *, store: Address | Store, min_subjects: int = 3, document: str | None = None, limit: int | None = None
) -> Iterator[Table]:
    """Turn template clusters into tables, largest first.

    Args:
        store: Address of a store, or an open one.
        min_subjects: Fewest distinct texts of a cluster.
        document: Only clusters with a sentence of the document with this id.
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
    from esdedup.jobs import meanings

    return meanings.templates(store=store, min_subjects=min_subjects, document=document, limit=limit)


def fill(frame: str, table: Address) -> Iterator[str]:
    """Write the sentences of a frame and a table.

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
    from esdedup.jobs import meanings

    return meanings.fill(frame, table)


def lineage(*, store: Address | Store, document: str | None = None, limit: int | None = None) -> Lineage:
    """Show who wrote a sentence first: trees of copies from page to page, most copies first.

    Each member's parent is the most similar sentence that is known to have appeared earlier elsewhere. Dumps with full
    history show the edit that added a sentence.

    Args:
        store: Address of a store, or an open one.
        document: Only clusters with a sentence of the document with this id.
        limit: Most trees to return. Default: all.

    Returns:
        The trees; of the whole store also how many copies each kind of editor added, and how many clustered sentences
        have no time.

    Raises:
        StoreError: Nothing was scanned, something has changed since, or clusters were not classified.

    Example:
        >>> esdedup.lineage(store="found/store.duckdb").editors  # doctest: +SKIP
    """
    check_store(store)
    from esdedup.api.results import Lineage
    from esdedup.jobs import meanings

    return Lineage.of(meanings.lineage(store=store, document=document, limit=limit))
