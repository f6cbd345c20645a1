"""The verbs about the meaning of clusters: contradictions, templates as data, and sentences written from a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from esdedup.analysis.drift import contradictions
from esdedup.analysis.editors import editors
from esdedup.analysis.lineage import descended
from esdedup.analysis.templates import Table, frame_pieces, table_of, write
from esdedup.errors import SourceError, UsageError
from esdedup.jobs.preconditions import Address, check_count
from esdedup.jobs.questions import opened_kinds, storable
from esdedup.output.spreadsheet import text_of
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.store import Store


def drift(
    *, store: Address | Store, since: str | None, document: str | None, limit: int | None
) -> list[dict[str, Any]]:
    """List every place where sentences of one cluster state different facts about the same subject, most certain first.

    Each has the `cluster`, its `frame`, the `slot` and its `type`, the `values` with the sentences that state them, the
    value of the `majority` and the `newest` one, the `difference` of numbers, and a `confidence`. With `since` (a date,
    like 2024-05-31), only those in which the oldest sentence with some value is not older. Sentences of a template
    contradict each other if they are about the same subject.
    """
    check_count("limit", limit)
    begin = _date(since)
    query = ClusterQuery(having="contradictions", document=document and storable(document), sort="contradiction")
    with opened_kinds(store) as opened:
        found = [
            row
            for cluster in opened.results.cluster_rows(query)
            for row in contradictions(cluster)
            if begin is None or any((value["first"] or "") >= begin for value in row["values"])
        ]
    found.sort(key=lambda row: (-row["confidence"], row["cluster"], row["slot"]))
    return found if limit is None else found[:limit]


def templates(*, store: Address | Store, min_subjects: int, document: str | None, limit: int | None) -> Iterator[Table]:
    """Yield the frame and the table of each template cluster with enough distinct texts, largest first."""
    check_count("min_subjects", min_subjects)
    check_count("limit", limit)
    query = ClusterQuery(kind="template", document=document and storable(document))
    with opened_kinds(store) as opened:
        tables = (table_of(row) for row in opened.results.cluster_rows(query) if row["distinct"] >= min_subjects)
        yield from islice(tables, limit)


def lineage(*, store: Address | Store, document: str | None, limit: int | None) -> dict[str, Any]:
    """Show who wrote a sentence first: `trees`, one for each cluster with a copy between pages, most copies first. For
    the whole store also `editors`, how many copies each kind of editor has added, and `undated`, how many clustered
    sentences have no time.

    The parent of each member in a tree is the most similar sentence that is known to have appeared earlier elsewhere.
    Dumps with full history (`revisions="all"`) show the edit that added a sentence. Two plain dumps of different dates
    show what was added to a page in between, but not by whom.
    """
    check_count("limit", limit)
    with opened_kinds(store) as opened:
        query = ClusterQuery(document=document and storable(document), sort="copies", limit=limit)
        trees = [descended(tree) for tree in opened.results.trees(query) if tree["members"]]
        copiers, undated = opened.results.copiers()
    return {"trees": trees, "editors": editors(copiers), "undated": undated}


def fill(frame: str, table: Address) -> Iterator[str]:
    """Yield the sentences of a frame and the rows of a CSV file whose columns are named like the slots.

    The apostrophe before what looks like a formula, as in the tables of `templates`, is left out.
    """
    if all(isinstance(piece, str) for piece in frame_pieces(frame)):
        raise UsageError("the frame has no slot; write the name of a column of the table in braces, such as {number}")
    path = Path(table)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for row in csv.DictReader(lines):
                yield write(frame, {name: text_of(value or "") for name, value in row.items() if isinstance(name, str)})
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path}: {error}; use a CSV file in UTF-8 with a header line") from error


def _date(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, ValueError) as error:
        raise UsageError(f"since is {text!r}; use the form 2024-05-31") from error
