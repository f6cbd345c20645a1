"""Classify clusters: from their texts and where these are, to kind, confidence, reason and frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import align
from esdedup.analysis.changes import changes
from esdedup.analysis.drift import confidences
from esdedup.analysis.judging import judged
from esdedup.analysis.kinds import classify
from esdedup.analysis.looks import looks
from esdedup.analysis.slots import frame_of, slot_spans
from esdedup.analysis.subjects import Places, standing, subjects
from esdedup.analysis.whole_slots import value_words
from esdedup.analysis.word_forms import split_words
from esdedup.analysis.word_meanings import meant
from esdedup.columns.hashing import Hashes
from esdedup.store.cluster_kinds import JUDGED, PLACES, Classifier

_FRAMED = 20
"""Number of texts whose fillers decide the types of slots."""


def classify_clusters(members: pa.Table) -> pa.Table:
    """Classify each cluster of a table of schema `esdedup.store.cluster_kinds.MEMBERS`.

    Return one row for each cluster, in order: the id and what `esdedup.store.cluster_kinds.JUDGED` names.
    """
    cluster: Hashes = members["cluster"].to_numpy()
    first = np.flatnonzero(np.concatenate(([True], cluster[1:] != cluster[:-1]))) if len(cluster) else cluster
    bounds = np.append(first, len(cluster)).astype(np.int64)
    centres = np.flatnonzero(members["representative"].to_numpy()).astype(np.int64)
    words = split_words(members["text"].combine_chunks())
    known, alignment = meant(words), align(words, bounds, centres)
    named, documents, since, till = (_matrix(members[name]) for name in ("named", "documents", "since", "till"))
    places = Places(split_words(members["titles"].combine_chunks()), named, documents, since, till)
    others = np.flatnonzero(~members["representative"].to_numpy()).astype(np.int64)
    owner = np.repeat(np.arange(len(centres)), np.diff(bounds) - 1)
    changed = changes(words, known, bounds, alignment, others, centres[owner])
    stand = standing(words, alignment, places, others, centres[owner])
    decided = classify(
        owner, changed, judged(changed, stand, np.diff(bounds)[owner]),
        looks(words, known.form, bounds, centres, alignment), subjects(words, bounds, centres, alignment, places),
    )  # fmt: skip
    slots, titles = alignment.slots.tolist(), members["titles"].to_pylist()
    frames, flags = [], value_words(words, known)
    for place, centre in enumerate(centres.tolist()):
        texts = range(*bounds[place : place + 2].tolist())[:_FRAMED]
        titles_of = titles[texts.start : texts.stop]
        spans = slot_spans(words, flags, texts, centre, alignment, range(*slots[place : place + 2]))
        frames.append(frame_of(words, centre, spans, titles_of).text())
    columns: list[Any] = [
        cluster[first],
        decided.kinds,
        decided.confidences,
        decided.reasons,
        frames,
        decided.suspected,
    ]
    return pa.table(columns, JUDGED)


def _matrix(column: pa.ChunkedArray) -> Any:
    """Convert a column of lists of `PLACES` numbers each to an array of shape (n, PLACES)."""
    return np.asarray(column.combine_chunks().flatten()).reshape(-1, PLACES)


CLASSIFIER = Classifier(classify_clusters, confidences)
"""The functions that a store calls."""
