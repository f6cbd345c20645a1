"""The report: one HTML page about the results, in a file that needs nothing else.

It does not depend on when or where it was made: the same results give the same bytes, except for the store's address.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

from esdedup.analysis.drift import contradictions
from esdedup.analysis.names import KINDS
from esdedup.analysis.templates import Table, frame_pieces, table_of
from esdedup.matching.units import setting_in_words
from esdedup.output.aligned import align_cluster
from esdedup.output.drawing import on_dark
from esdedup.output.html import page
from esdedup.output.plots import classes, draw_cluster_sizes, draw_kinds, sizes_of_kinds
from esdedup.output.records_beside import WeakestPairs, weights_of
from esdedup.output.reproduce import commands, defaults, state
from esdedup.output.skips import in_words
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.ledger import STANDARD_INPUT, SourceCheckpoint
from esdedup.store.store import Store

_CLUSTERS = 10
"""Clusters in each list."""

_ROWS = 8
"""Texts of a cluster, or rows of a template's table."""

_COLUMNS = 8
_PIECES = 41
"""Pieces of a template's frame, including slots."""

_CONFLICTS = 3
_VALUES = 6
_PAGES = 3
"""Contradictions of a cluster, their values, and the pages with each value."""

_TABLED = 200
"""Number of texts of a template that its frame is made from."""

_SOURCES = 20
_PLACES = 3
_IN_TITLE = 3

_FEWEST_SUBJECTS = 3

_MEANINGS = {
    "documents": "articles or records",
    "sentences_read": "units of comparison, before any is skipped",
    "sentences_kept": "those that are neither too short nor too long",
    "distinct_sentences": "different texts among them",
    "collisions": "tokens that two or more texts share",
    "candidates": "pairs of texts that were compared",
    "pairs": "pairs of different texts that are near-duplicates",
    "clusters": "groups of connected pairs, and copies of one text",
    "clustered_sentences": "those in a cluster",
}
_OF_KINDS = {
    "template": "the same frame, filled with the facts of different subjects",
    "identical": "copies of one text",
    "copyediting": "the same statement in slightly different words",
    "drift": "a different fact about the same subject",
    "references": "citations and lists of the same works",
    "other": "similar, but of none of these kinds",
    "record": "records of one thing: a person, a product, a paper",
}
_VERIFIED = {
    "exact": "Every pair was verified in full: a Jaccard similarity of {jaccard} or more.",
    "cosine": "Every pair was verified by its sentence vectors: a cosine of {cosine} or more.",
    "probability": "Every pair of records has a probability that they are the same.",
    "words": "Every pair was verified by its words.",
    "none": "Nothing was verified: every candidate counts as a pair.",
}


def report_page(store: Store, summary: Mapping[str, Any]) -> str:
    """Return the report on the results of a store's last scan. `summary` is the content of summary.json.

    Only the first clusters of each list are read.
    """
    checkpoints, sizes, kinds = store.ledger.sources(), store.results.sizes(), summary["kinds"]
    values = {
        "summary": summary,
        "title": _title(checkpoints),
        "verified": _verified(summary["settings"]),
        "counts_told": [(name, summary["counts"].get(name), meaning) for name, meaning in _MEANINGS.items()],
        "kinds": [(kind, kinds.get(kind, 0), _OF_KINDS[kind]) for kind in KINDS] if kinds else [],
        "kinds_plot": _pictures(draw_kinds, sizes_of_kinds(store)) if kinds else None,
        "sizes": _size_rows(sizes),
        "small": sum(count for size, count in sizes.items() if size <= 10),
        "in_large": sum(size * count for size, count in sizes.items() if size > 10),
        "sizes_plot": _pictures(draw_cluster_sizes, sizes) if sizes else None,
        "contradictory": list(_contradictory(store)) if kinds else [],
        "largest": list(_largest(store)),
        "weights": weights_of((store.results.last_scan() or {}).get("learned")),
        "templates": list(_templates(store)) if "template" in kinds else [],
        "skipped": _skipped(checkpoints, summary["skipped"]),
        "settings": _settings(summary["settings"]),
        "commands": commands(checkpoints, summary["settings"], store.address),
        "sources": [(checkpoint, state(checkpoint)) for checkpoint in checkpoints[:_SOURCES]],
        "more_sources": max(0, len(checkpoints) - _SOURCES),
    }
    return page("report.html", values)


def _title(checkpoints: Sequence[SourceCheckpoint]) -> str:
    """Return the names of the sources; of many, the first ones."""
    names = list(
        dict.fromkeys(
            "standard input" if checkpoint.path == STANDARD_INPUT else PurePath(checkpoint.path).name
            for checkpoint in checkpoints
        )
    )
    more = len(names) - _IN_TITLE
    return ", ".join(names[:_IN_TITLE]) + (f" and {more:,} more" if more > 0 else "")


def _verified(settings: Mapping[str, Any]) -> str:
    return _VERIFIED[settings.get("verify", "none")].format(
        **{name: settings.get(name) for name in ("jaccard", "cosine")}
    )


def _pictures(draw: Any, sizes: Any) -> tuple[str, str]:
    """Return a plot for light and dark ground, as data URLs."""
    begin = "data:image/svg+xml;base64,"
    picture = draw(sizes, "svg")
    light, dark = (begin + base64.b64encode(content).decode() for content in (picture, on_dark(picture)))
    return light, dark


def _size_rows(sizes: Mapping[int, int]) -> list[tuple[str, int, int]]:
    """Return clusters and their sentences for each range of sizes that is not empty."""
    return [
        (str(some), count, sum(size * sizes[size] for size in sizes if some.first <= size <= some.last))
        for some, count in classes(sizes).items()
        if count
    ]


def _headed(cluster: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return what the page says about a cluster, without its members."""
    face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    return {name: value for name, value in cluster.items() if name != "members"} | {"face": face} | more


def _largest(store: Store) -> Iterator[dict[str, Any]]:
    pairs = WeakestPairs(store)
    for cluster in store.results.cluster_rows(ClusterQuery(limit=_CLUSTERS)):
        view = align_cluster(cluster, rows=_ROWS, shorten_repeats=True)
        yield _headed(cluster, view=view, weighed=pairs.of(cluster))


def _contradictory(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the clusters with the most confident contradictions, each with its first ones."""
    query = ClusterQuery(having="contradictions", sort="contradiction", limit=_CLUSTERS, shared=True)
    for cluster in store.results.cluster_rows(query):
        rows = sorted(contradictions(cluster), key=lambda row: (-row["confidence"], row["slot"]))
        view = align_cluster(cluster, rows=_ROWS, shorten_repeats=True)
        yield _headed(cluster, conflicts=[_conflict(row) for row in rows[:_CONFLICTS]], found=len(rows), view=view)


def _conflict(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a contradiction: for each of the first values, the pages that have it and since when."""
    values = []
    for place, value in enumerate(row["values"][:_VALUES]):
        pages = list(dict.fromkeys(one["title"] or one["document"] for one in value["sentences"]))
        notes = [name for name in ("majority", "newest") if row[name] == place]
        values.append(value | {"pages": pages[:_PAGES], "more": len(pages) > _PAGES, "notes": notes})
    apart = row["difference"]
    return {
        "about": row["subject"] or row["slot"],
        "why": row["why"],
        "confidence": row["confidence"],
        "difference": None if apart is None else f"{abs(apart):,.6g}",
        "facts": values,
        "dated": any(value["first"] for value in values),
        "more": len(row["values"]) - len(values),
    }


def _templates(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the largest templates with a subject, each with the beginning of its table."""
    found = store.results.cluster_rows(ClusterQuery(kind="template", limit=2 * _CLUSTERS))
    for cluster in islice((one for one in found if one["distinct"] >= _FEWEST_SUBJECTS), _CLUSTERS):
        table = table_of(_of_first_texts(cluster))
        frame = list(frame_pieces(table.frame))
        yield _headed(
            cluster,
            tabled=min(cluster["distinct"], _TABLED),
            frame=[(piece, "") if isinstance(piece, str) else ("", piece[0]) for piece in frame[:_PIECES]],
            more_frame=sum(not isinstance(piece, str) for piece in frame[_PIECES:]),
            columns=table.columns[:_COLUMNS],
            more_columns=len(table.columns[_COLUMNS:]),
            lines=list(_lines(table)),
            more_lines=max(0, cluster["size"] - _ROWS),
        )


def _of_first_texts(cluster: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster with only the sentences of its first texts: a giant one would take minutes."""
    face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    texts = set(islice(dict.fromkeys(member["text"] for member in cluster["members"]), _TABLED)) | {face}
    return cluster | {"members": [member for member in cluster["members"] if member["text"] in texts]}


def _lines(table: Table) -> Iterator[tuple[dict[str, Any], list[str | None]]]:
    """Yield the first rows of a table: the sentence, and its first cells."""
    for place, sentence in enumerate(table.sentences[:_ROWS]):
        yield sentence, [column.cells[place] for column in table.columns[:_COLUMNS]]


def _skipped(checkpoints: Sequence[SourceCheckpoint], skipped: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return what was skipped, the most frequent first: the reason, its meaning, the count, and some places."""
    rows = []
    for reason, count in sorted(skipped.items(), key=lambda item: (-item[1], item[0])):
        places = [place for checkpoint in checkpoints for place in checkpoint.skips.places.get(reason, [])]
        rows.append({"reason": reason, "words": in_words(reason), "count": count, "places": places[:_PLACES]})
    return rows


def _settings(settings: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return each setting, and its default if that differs."""
    usual = defaults(settings)
    rows = []
    for name, value in settings.items():
        another = value != usual.get(name, value) or name == "ignore"
        rows.append((name, setting_in_words(value), setting_in_words(usual.get(name)) if another else None))
    return rows
