"""Classify clusters: from their texts and where these are, to kind, confidence, reason and frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import Alignment, align
from esdedup.analysis.changes import changes
from esdedup.analysis.comparing import MOST_COMPARED, SHARED_NUMBERS
from esdedup.analysis.drift import confidences
from esdedup.analysis.judging import LEAST_LISTED, judged
from esdedup.analysis.kinds import classify
from esdedup.analysis.looks import looks
from esdedup.analysis.slots import frame_of, slot_spans
from esdedup.analysis.subjects import Places, SharedDocuments, standing, subjects, title_words
from esdedup.analysis.whole_slots import value_words
from esdedup.analysis.word_forms import PLAIN, Measures, Words, listed, split_words
from esdedup.analysis.word_meanings import FUNCTION, Meant, meant
from esdedup.columns.arrays import Flags
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.store.cluster_kinds import JUDGED, PLACES, Classifier
from esdedup.text.wikitext.linked import overlaps

_FRAMED = 20
"""Number of texts whose fillers decide the types of slots."""

_ODD = np.uint64(0x9E3779B97F4A7C15)

_TELLING = 3
"""So many words that are neither names nor numbers nor function words tell a frame, at least."""

_COMPARED_AT_ONCE = 20_000
"""Pairs of texts, at most."""


def classify_clusters(members: pa.Table, shared: pa.Table) -> pa.Table:
    """Classify each cluster of a table of schema `esdedup.store.cluster_kinds.MEMBERS`.

    `shared` says what their documents share, as `esdedup.store.shared_documents.SHARED`. Return one row for each
    cluster, in order: the id and what `esdedup.store.cluster_kinds.JUDGED` names.
    """
    cluster: Hashes = members["cluster"].to_numpy()
    first = np.flatnonzero(np.concatenate(([True], cluster[1:] != cluster[:-1]))) if len(cluster) else cluster
    bounds = np.append(first, len(cluster)).astype(np.int64)
    centres = np.flatnonzero(members["representative"].to_numpy()).astype(np.int64)
    words = split_words(members["text"].combine_chunks())
    known, alignment = meant(words), align(words, bounds, centres)
    named, documents, since, till = (_matrix(members[name]) for name in ("named", "documents", "since", "till"))
    firsts = np.where(members["narrow"].to_numpy(), documents[:, 0], 0).astype(np.int64)
    one, two, equal, varied = (column.to_numpy().astype(np.int64) for column in shared.columns)
    pairs = SharedDocuments.of(one + 1, two + 1, equal, varied, np.zeros(len(one), np.int64))
    titles_in_words, links = title_words(members["titles"].combine_chunks()), members["links"].combine_chunks()
    places = Places(titles_in_words, named, documents, since, till, firsts, pairs, links)
    others = np.flatnonzero(~members["representative"].to_numpy()).astype(np.int64)
    owner = np.repeat(np.arange(len(centres)), np.diff(bounds) - 1)
    changed = changes(words, known, bounds, alignment, others, centres[owner])
    stand = standing(words, alignment, places, others, centres[owner])
    frames = members["frames"].to_numpy()[bounds[:-1]].astype(np.float64)
    decided = classify(
        owner, changed, stand, judged(changed, stand, np.diff(bounds)[owner], frames[owner]),
        looks(words, known.form, bounds, centres, alignment), subjects(words, bounds, centres, alignment, places),
        frames,
    )  # fmt: skip
    clear = members["titled_once"].to_numpy() & (documents[:, -1] == 0)
    possible = _may_contradict(words, known, bounds, alignment, places, frames, decided.examined, clear)
    slots, titles = alignment.slots.tolist(), members["titles"].to_pylist()
    frames, flags, spelled = [], value_words(words, known), listed(words)
    for place, centre in enumerate(centres.tolist()):
        texts = range(*bounds[place : place + 2].tolist())[:_FRAMED]
        titles_of = titles[texts.start : texts.stop]
        spans = slot_spans(spelled, flags, texts, centre, alignment, range(*slots[place : place + 2]))
        frames.append(frame_of(spelled, centre, spans, titles_of).text())
    columns: list[Any] = [
        cluster[first],
        decided.kinds,
        decided.confidences,
        decided.reasons,
        frames,
        decided.examined,
        decided.examined & possible,
    ]
    return pa.table(columns, JUDGED)


def _may_contradict(
    words: Words, known: Meant, bounds: Offsets, alignment: Alignment, places: Places, frames: Measures,
    examined: Flags, clear: Flags,
) -> Flags:  # fmt: skip
    """Return which of the examined clusters may have a contradiction: those with a pair of texts that is likely enough.

    Others are always possible: those with more texts than are compared with each other, and those with a text that is
    not `clear`, because of its documents a selection would be looked at, or their titles would be read otherwise. The
    weight of the number of texts is negative, so a pair is never likelier than with only two in the cluster.
    """
    sizes = np.diff(bounds)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    decidable = examined & (sizes <= MOST_COMPARED) & (np.bincount(owners, ~clear, len(sizes)) == 0)
    possible: Flags = ~decidable
    texts = np.flatnonzero(decidable[owners])
    owner = owners[texts]
    for begin in range(0, len(texts), _COMPARED_AT_ONCE // MOST_COMPARED):
        some = slice(begin, begin + _COMPARED_AT_ONCE // MOST_COMPARED)
        others = sizes[owner[some]] - 1
        one, of = np.repeat(texts[some], others), np.repeat(owner[some], others)
        place = np.arange(len(one)) - np.repeat(np.cumsum(others) - others, others)
        two = bounds[of] + place + (bounds[of] + place >= one)
        changed = changes(words, known, bounds, alignment, one, two)
        likely = judged(changed, standing(words, alignment, places, one, two), np.full(len(one), 2), frames[of])
        possible[of[likely >= LEAST_LISTED]] = True
    return possible


def _matrix(column: pa.ChunkedArray) -> Any:
    """Convert a column of lists of `PLACES` numbers each to an array of shape (n, PLACES)."""
    return np.asarray(column.combine_chunks().flatten()).reshape(-1, PLACES)


def frame_numbers(texts: pa.LargeStringArray) -> pa.Array:
    """Return a number for the frame of each text: equal for texts with the same words, but for names, numbers and the
    first word. It is null for texts with too few words.
    """
    words = split_words(texts)
    known = meant(words)
    text = np.repeat(np.arange(len(texts)), np.diff(words.offsets))
    plain = known.form == PLAIN
    plain[known.firsts[known.firsts < len(plain)]] = False
    sums = np.zeros(len(texts), np.uint64)
    np.add.at(sums, text[plain], words.hash[plain] * _ODD)
    telling = np.bincount(text[plain & (known.roles & FUNCTION == 0)], minlength=len(texts))
    numbers = (sums >> np.uint64(1)).astype(np.int64)
    return pa.array(numbers, mask=telling < _TELLING)


def shared_in_clusters(pairs: pa.Table) -> pa.Table:
    """Return what the documents of clusters share, as `SHARED_NUMBERS` for each two of them in one list a cluster."""
    count = pairs.num_rows
    links = pa.concat_arrays([pairs[name].cast(pa.binary()).combine_chunks() for name in ("links", "others")])
    named = overlaps(links, np.arange(count), np.arange(count, 2 * count))
    numbers = [*(pairs[name].to_numpy() for name in SHARED_NUMBERS[:-1]), named]
    ids, begins = np.unique(pairs["id"].to_numpy(), return_index=True)
    bounds = pa.array(len(SHARED_NUMBERS) * np.append(begins, count), pa.int32())
    flat = pa.array(np.column_stack(numbers).ravel().astype(np.int32))
    return pa.table({"id": ids, "shared": pa.ListArray.from_arrays(bounds, flat)})


CLASSIFIER = Classifier(frame_numbers, classify_clusters, shared_in_clusters, confidences)
"""The functions that a store calls."""
