"""Which of two texts states another fact than the other, by the measure of `drift`, for many pairs at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import align
from esdedup.analysis.changes import changes
from esdedup.analysis.comparing import title_of
from esdedup.analysis.judging import judged
from esdedup.analysis.subjects import NO_LINKS, NOTHING_SHARED, Places, standing, title_words
from esdedup.analysis.word_forms import split_words
from esdedup.analysis.word_meanings import meant
from esdedup.columns.arrays import Flags, text_buffers, text_column
from esdedup.columns.hashing import Hashes, content_hashes

_SURE = 0.5
"""From this confidence on, two texts are taken to state different facts."""


def state_other_facts(one: pa.Table, two: pa.Table) -> Flags:
    """Return which rows of two tables (text, document, id, title) state different facts.

    Each pair is looked at for itself, in two documents at no known time.
    """
    count = one.num_rows
    order = np.stack([np.arange(count), np.arange(count) + count], axis=1).ravel()
    both = pa.concat_tables([one, two]).take(pa.array(order))
    words = split_words(both["text"].combine_chunks())
    bounds, first, second = np.arange(0, 2 * count + 1, 2), np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    alignment = align(words, bounds, second)
    changed = changes(words, meant(words), bounds, alignment, first, second)
    stand = standing(words, alignment, _places(both), first, second)
    sure: Flags = judged(changed, stand, np.full(count, 2), np.ones(count)) >= _SURE
    return sure


def _places(rows: pa.Table) -> Places:
    names = list(zip(rows["title"].to_pylist(), rows["id"].to_pylist(), strict=True))
    named = text_column([title or document for title, document in names])
    titles = text_column([title_of(title, document) for title, document in names])
    hashes: Hashes = content_hashes(*text_buffers(named))
    documents = rows["document"].to_numpy().astype(np.uint64) + np.uint64(1)
    nothing = np.zeros((len(hashes), 1), np.int64)
    unknown = nothing[:, 0]
    return Places(
        title_words(titles),
        hashes.reshape(-1, 1),
        documents.reshape(-1, 1),
        nothing,
        nothing,
        unknown,
        NOTHING_SHARED,
        NO_LINKS,
    )
