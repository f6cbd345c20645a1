"""The content hash is XXH64, exactly."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from esdedup.columns.arrays import text_buffers, text_column, texts_from
from esdedup.columns.hashing import content_hashes


@given(st.lists(st.text(max_size=100)))
def test_content_hash_is_xxh64(texts: list[str]) -> None:
    hashes = content_hashes(*text_buffers(text_column(texts)))
    assert hashes.tolist() == [xxhash.xxh64_intdigest(text.encode()) for text in texts]


@given(st.lists(st.text(max_size=20)), st.integers(0, 5))
def test_flat_texts_survive_slices(texts: list[str], begin: int) -> None:
    column = text_column(texts).slice(begin)
    data, offsets = text_buffers(column)
    assert texts_from(data, offsets).to_pylist() == texts[begin:]
    assert len(content_hashes(data, offsets)) == len(np.diff(offsets))
