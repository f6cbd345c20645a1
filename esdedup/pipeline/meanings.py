"""The verbs about what clusters mean: contradictions, templates as data, and sentences written from a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.errors import SourceError, UsageError
from esdedup.meaning.align import align
from esdedup.meaning.drift import contradictions, of_one_subject
from esdedup.meaning.lineage import trace
from esdedup.meaning.slots import Frame, frame_of
from esdedup.meaning.templates import Table, table_of, write
from esdedup.meaning.words import split_words
from esdedup.pipeline.questions import clusters, opened_results
from esdedup.pipeline.steps import Address, check_count
from esdedup.stores.store import Store

LEAST_SUBJECTS = 3


def drift(
    *, store: Address | Store, since: str | None = None, document: str | None = None, limit: int | None = None
) -> list[dict[str, Any]]:
    """Every place where sentences of one cluster state different facts of the same subject, surest first.

    Each has the `cluster`, its `frame`, the `slot` and its `type`, the `values` with the sentences that say so, which
    of them the `majority` says and which is the `newest`, the `difference` of numbers, and a `confidence`. With
    `since` (a date, as 2024-05-31), only those in which the oldest sentence with some value is not older. Sentences
    of a template contradict each other where they name the same subject.
    """
    check_count("limit", limit)
    begin = _date(since)
    found: list[dict[str, Any]] = []
    for cluster in clusters(store=store, kind="drift", document=document):
        found += contradictions(cluster, *_framed(cluster))
    for cluster in clusters(store=store, kind="template", document=document):
        frame, texts = _framed(cluster)
        for places in of_one_subject(cluster, frame, texts):
            found += contradictions(cluster, frame, texts, places)
    if begin is not None:
        found = [row for row in found if any((value["first"] or "") >= begin for value in row["values"])]
    found.sort(key=lambda row: (-row["confidence"], row["cluster"], row["slot"]))
    return found if limit is None else found[:limit]


def templates(
    *, store: Address | Store, min_subjects: int = LEAST_SUBJECTS, document: str | None = None, limit: int | None = None
) -> Iterator[Table]:
    """The frame and the table of each template cluster with so many distinct texts, largest first."""
    check_count("min_subjects", min_subjects)
    check_count("limit", limit)
    for cluster in clusters(store=store, kind="template", document=document):
        if limit == 0:
            return
        if cluster["distinct"] >= min_subjects:
            limit = None if limit is None else limit - 1
            yield table_of(cluster, *_framed(cluster))


def lineage(*, store: Address | Store, document: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """Who said it first: `trees`, one a cluster with a copy from page to page, most copies first; `editors`, how many
    copies each kind of editor has added; and `undated`, how many sentences have no time.

    In a tree each member's parent is the most similar sentence that stood somewhere before it. Read from dumps with
    full history (`revisions="all"`) these are the times of edits, from others those of each page's last edit.
    """
    check_count("limit", limit)
    with opened_results(store) as opened, trace(opened) as traced:
        trees = (tree for tree in traced.trees() if document is None or _holds(tree, document))
        return {"trees": list(islice(trees, limit)), "editors": traced.editors(), "undated": traced.undated()}


def _holds(tree: dict[str, Any], document: str) -> bool:
    return any(member["id"].rpartition(":")[0] == document or member["id"] == document for member in tree["members"])


def fill(frame: str, table: Address) -> Iterator[str]:
    """The sentences of a frame and the rows of a CSV file whose columns are called as its slots."""
    path = Path(table)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for row in csv.DictReader(lines):
                yield write(frame, {name: value or "" for name, value in row.items() if isinstance(name, str)})
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path}: {error}; give a CSV file in UTF-8 with a line of column names") from error


def _framed(cluster: dict[str, Any]) -> tuple[Frame, list[str]]:
    """The frame of a cluster and its distinct texts, in the order in which they fill it."""
    titles: dict[str, str] = {}
    for member in cluster["members"]:
        titles.setdefault(member["text"], member["title"] or member["document"])
    texts = list(titles)
    face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    centre = texts.index(face)
    words = split_words(pa.array(texts, pa.large_string()))
    alignment = align(words, np.array([0, len(texts)]), np.array([centre]))
    slots = range(int(alignment.slots[1]))
    return frame_of(words, range(len(texts)), centre, alignment, slots, list(titles.values())), texts


def _date(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, ValueError) as error:
        raise UsageError(f"since is {text!r}; write a date as 2024-05-31") from error
