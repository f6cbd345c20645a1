"""Classify clusters: from their texts and where these are, to kind, confidence, reason and frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import align
from esdedup.analysis.differences import differences, facts
from esdedup.analysis.drift import confidences
from esdedup.analysis.kinds import RULES, classify
from esdedup.analysis.looks import looks
from esdedup.analysis.slots import frame_of, slot_spans
from esdedup.analysis.subjects import Places, subjects
from esdedup.analysis.word_forms import split_words
from esdedup.columns.hashing import Hashes
from esdedup.store.classifying import MEANINGS, PLACES, Classifier

_FRAMED = 20
"""Number of texts whose fillers decide the types of slots."""


def classify_clusters(members: pa.Table) -> pa.Table:
    """Classify each cluster of a table of schema `esdedup.store.classifying.MEMBERS`.

    Return one row for each cluster, in order: the id and the columns of `esdedup.store.classifying.MEANINGS`.
    """
    cluster: Hashes = members["cluster"].to_numpy()
    first = np.flatnonzero(np.concatenate(([True], cluster[1:] != cluster[:-1]))) if len(cluster) else cluster
    bounds = np.append(first, len(cluster)).astype(np.int64)
    centres = np.flatnonzero(members["representative"].to_numpy()).astype(np.int64)
    words = split_words(members["text"].combine_chunks())
    form, alignment = facts(words), align(words, bounds, centres)
    named, documents, since, till = (_matrix(members[name]) for name in ("named", "documents", "since", "till"))
    places = Places(split_words(members["titles"].combine_chunks()), named, documents, since, till)
    decided = classify(
        differences(words, form, bounds, centres, alignment),
        looks(words, form, bounds, centres, alignment),
        subjects(words, bounds, centres, alignment, places),
    )
    slots, titles = alignment.slots.tolist(), members["titles"].to_pylist()
    frames = []
    for place, centre in enumerate(centres.tolist()):
        texts = range(*bounds[place : place + 2].tolist())[:_FRAMED]
        titles_of = titles[texts.start : texts.stop]
        spans = slot_spans(words, texts, centre, alignment, range(*slots[place : place + 2]))
        frames.append(frame_of(words, centre, spans, titles_of).text())
    verdicts: list[Any] = [
        [getattr(RULES[rule], name) for rule in decided] for name in ("kind", "confidence", "reason")
    ]
    columns = [cluster[first], *verdicts, frames]
    return pa.table(columns, schema=pa.schema([("id", pa.uint64()), *MEANINGS]))


def _matrix(column: pa.ChunkedArray) -> Any:
    """Convert a column of lists of `PLACES` numbers each to an array of shape (n, PLACES)."""
    return np.asarray(column.combine_chunks().flatten()).reshape(-1, PLACES)


CLASSIFIER = Classifier(classify_clusters, confidences)
"""The functions that a store calls."""
