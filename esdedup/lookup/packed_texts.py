"""Texts compressed in small groups, of which any can be read without the others.

A group has too little text to be compressed well by itself. So the groups of a block share a dictionary (of Zstandard,
RFC 8878, section 5), which is trained on some of them: eight texts then take less space than 32 without it, and are
read eight times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
        data, self._bounds = text_buffers(packed)
        self._data = data.data
        self._sizes = sizes
        if len(packed) != len(sizes) + 1 or (sizes > _MOST_PACKED * np.diff(self._bounds[:-1])).any():
            raise ValueError("a block of a lookup has sizes that cannot be")
        dictionary = self._data[int(self._bounds[-2]) : int(self._bounds[-1])].tobytes()
        self._dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None

    def unpacked(self, groups: Numbers) -> bytes:
        """Return the bytes of groups, one after the other. Raise `DamagedTextsError` if they were not packed so."""
        try:
            reader = zstandard.ZstdDecompressor(dict_data=self._dictionary)  # no thread may use that of another
        except zstandard.ZstdError as error:
            raise DamagedTextsError from error
        pieces = []
        for low, high, size in zip(
            self._bounds[groups].tolist(), self._bounds[groups + 1].tolist(), self._sizes[groups].tolist(), strict=True
        ):
            piece = self._data[low:high]
            pieces.append(piece if high - low == size else _unpacked(reader, piece, size))
        return b"".join(pieces)


def _unpacked(reader: zstandard.ZstdDecompressor, piece: memoryview, size: int) -> bytes:
    try:
        if zstandard.frame_content_size(piece) not in (-1, size):  # what it says would be made room for
            raise DamagedTextsError
        data = reader.decompress(piece, max_output_size=size)
    except zstandard.ZstdError as error:
        raise DamagedTextsError from error
    if len(data) != size:
        raise DamagedTextsError
    return data
