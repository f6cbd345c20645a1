"""The frame of one cluster, by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.meaning.align import align
from esdedup.meaning.slots import Frame, frame_of
from esdedup.meaning.words import split_words


def framed(cluster: dict[str, Any]) -> tuple[Frame, list[str]]:
    """The frame of a cluster as the contract writes it, and its distinct texts in the order in which they fill it."""
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
