"""The frame of a single cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import Alignment, align
from esdedup.analysis.slots import Frame, Span, frame_of, slot_spans
from esdedup.analysis.whole_slots import value_words
from esdedup.analysis.word_forms import Words, split_words
from esdedup.analysis.word_meanings import Meant, meant


class FramedTexts(NamedTuple):
    """Texts aligned with one of them: their frame, and where its slots are.

    `spans[k][i]` is the position of slot k in text i, in the bytes of all texts (`words.data`).
    """

    frame: Frame
    words: Words
    known: Meant
    alignment: Alignment
    spans: list[list[Span]]


def framed(cluster: dict[str, Any]) -> tuple[FramedTexts, list[str]]:
    """Align a cluster in the format of clusters.jsonl. Return its distinct texts, too, in the order of the fillers."""
    titles: dict[str, str] = {}
    for member in cluster["members"]:
        titles.setdefault(member["text"], member["title"] or member["document"])
    texts = list(titles)
    face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    return frame_texts(texts, texts.index(face), list(titles.values())), texts


def frame_texts(texts: Sequence[str], centre: int, titles: Sequence[str] = ()) -> FramedTexts:
    """Align distinct `texts` with the one at index `centre`; `titles` are the titles of their documents."""
    words = split_words(pa.array(texts, pa.large_string()))
    alignment = align(words, np.array([0, len(texts)]), np.array([centre]))
    every, slots = range(len(texts)), range(int(alignment.slots[1]))
    known = meant(words)
    spans = slot_spans(words, value_words(words, known), every, centre, alignment, slots)
    return FramedTexts(frame_of(words, centre, spans, titles), words, known, alignment, spans)
