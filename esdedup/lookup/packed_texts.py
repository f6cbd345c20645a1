"""Texts compressed in small groups, of which any can be read without the others.

A group has too little text to be compressed well by itself. So the groups of a block share a dictionary (of Zstandard,
RFC 8878, section 5), which is trained on some of them: eight texts then take less space than 32 without it, and are
read eight times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import zstandard

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import Bytes

_LEVEL = 3
_MOST_DICTIONARY, _LEAST_DICTIONARY = 2**16, 2**12  # bytes
_DICTIONARY_SHARE = 128  # of the texts
_TRAINED_ON = 16  # every so many groups
_MOST_PACKED = 64
"""A group that would be so many times smaller is not compressed: so no file unpacks to much more than its size."""


class DamagedTextsError(Exception):
    """Texts cannot be unpacked: they are not what was written."""


def pack(data: Bytes, ends: Numbers) -> pa.LargeBinaryArray:
    """Compress groups of bytes.

    Args:
        data: The bytes of all groups.
        ends: Where they begin and end, shape (groups + 1,).

    Returns:
        The groups, compressed, and after them their dictionary, which is empty if there is too little to train it on.
    """
    groups = [data[low:high].tobytes() for low, high in pairwise(ends)]
    trained = _trained(groups, len(data))
    compressor = zstandard.ZstdCompressor(
        _LEVEL, dict_data=trained, write_content_size=False, write_checksum=False, write_dict_id=False
    )
    packed = [
        small if len(small := compressor.compress(group)) < len(group) < _MOST_PACKED * len(small) else group
        for group in groups
    ]
    return pa.array([*packed, b"" if trained is None else trained.as_bytes()], pa.large_binary())


def _trained(groups: Sequence[bytes], size: int) -> zstandard.ZstdCompressionDict | None:
    wanted = min(size // _DICTIONARY_SHARE, _MOST_DICTIONARY)
    if wanted < _LEAST_DICTIONARY:
        return None
    try:
        trained = zstandard.train_dictionary(wanted, list(groups[::_TRAINED_ON]))
    except zstandard.ZstdError:  # a few long texts
        return None
    trained.precompute_compress(_LEVEL)
    return trained


class PackedTexts:
    """What `pack` returned, of which `sizes` are the bytes of each group. Raises `ValueError` if this cannot be."""

    def __init__(self, packed: pa.LargeBinaryArray, sizes: Numbers) -> None:
        self._data, self._bounds = text_buffers(packed)
        self._sizes = sizes
        if len(packed) != len(sizes) + 1 or (sizes > _MOST_PACKED * np.diff(self._bounds[:-1])).any():
            raise ValueError("a block of a lookup has sizes that cannot be")
        dictionary = self._data[self._bounds[-2] : self._bounds[-1]].tobytes()
        self._dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None

    def unpacked(self, groups: Numbers) -> bytes:
        """Return the bytes of groups, one after the other. Raise `DamagedTextsError` if they were not packed so."""
        begins, ends, sizes = self._bounds[groups], self._bounds[groups + 1], self._sizes[groups]
        as_they_are = ends - begins == sizes
        pieces: list[Any] = [b""] * len(groups)
        for at in np.flatnonzero(as_they_are).tolist():
            pieces[at] = self._data[begins[at] : ends[at]]
        if not as_they_are.all():
            small = np.flatnonzero(~as_they_are)
            segments = np.column_stack([begins, ends - begins])[small].astype(np.uint64)
            frames = zstandard.BufferWithSegments(self._data.data, segments.tobytes())
            reader = zstandard.ZstdDecompressor(dict_data=self._dictionary)  # no thread may use that of another
            try:
                found = reader.multi_decompress_to_buffer(frames, sizes[small].astype(np.uint64).tobytes())
            except (zstandard.ZstdError, ValueError) as error:
                raise DamagedTextsError from error
            for turn, at in enumerate(small.tolist()):
                pieces[at] = found[turn]
        return b"".join(pieces)
