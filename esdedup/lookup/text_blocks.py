"""Blocks of a lookup: up to 65,536 texts, sorted by their search form without spaces.

Texts are compressed in groups of eight: what is read of a block is the groups that are asked for. A block is an Arrow
batch, which is read where it lies: memory-mapped, without copying. What a file says is not trusted: a number that is
wrong finds a wrong text, or none, but never reads outside of its block.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from esdedup.columns.arrays import Numbers, text_buffers, text_column, texts_from
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.gram_lists import MOST_TEXTS, GramLists, make_lists
from esdedup.text.search_form import search_form

TEXTS: pa.Schema = pa.schema([("hash", pa.uint64()), ("text", pa.large_string())])

GROUP = 8
_HEAD = 24  # bytes

GROUPS: pa.Schema = pa.schema(
    [
        ("head", pa.binary(_HEAD)),  # the beginning of the squeezed form of the first text
        ("hashes", pa.list_(pa.uint64())),
        ("sizes", pa.list_(pa.uint32())),  # bytes of each text
        ("packed", pa.large_binary()),  # the texts
    ]
)

MOST_BYTES = 2**24
"""A block is closed when it has so many texts, or bytes of text: a byte has at most one gram."""

_LEVEL = 3
_MOST_DICTIONARY, _LEAST_DICTIONARY = 2**16, 2**12  # bytes
_DICTIONARY_SHARE = 128  # of the texts
_TRAINED_ON = 16  # every so many groups
_AS_GOOD = 1.02
_MOST_PACKED = 64
"""A group that would be so many times smaller is not compressed: so no file unpacks to much more than its size."""


class DamagedLookupError(Exception):
    """A folder is no lookup of this version, or contradicts itself; it is made again."""


class Dictionary:
    """What the texts of a segment have in common, by which their groups are compressed; empty if that is too little.

    Raises `DamagedLookupError` if `data` is no dictionary.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._own = threading.local()  # no thread may use the decompressor of another
        try:
            self._trained = zstandard.ZstdCompressionDict(data) if data else None
            zstandard.ZstdDecompressor(dict_data=self._trained)
        except zstandard.ZstdError as error:
            raise DamagedLookupError from error

    @classmethod
    def of(cls, texts: pa.RecordBatch, last: Dictionary) -> Dictionary:
        """Return one that is trained on texts, of `TEXTS`, or the `last` one if that is as good for them: a question
        is answered sooner with few of them.
        """
        data, offsets = text_buffers(texts["text"])
        wanted = min(len(data) // _DICTIONARY_SHARE, _MOST_DICTIONARY)
        if wanted < _LEAST_DICTIONARY:
            return cls(b"")
        groups = _groups_of(data, offsets[_group_ends(len(texts))])
        try:
            trained = zstandard.train_dictionary(wanted, list(groups[::_TRAINED_ON]))
        except zstandard.ZstdError:  # a few long texts
            return cls(b"")
        dictionary = cls(trained.as_bytes())
        assert dictionary._trained is not None
        dictionary._trained.precompute_compress(_LEVEL)
        others = groups[_TRAINED_ON // 2 :: _TRAINED_ON]
        return last if last._bytes(others) < _AS_GOOD * dictionary._bytes(others) else dictionary

    def _bytes(self, groups: Sequence[bytes]) -> int:
        return sum(map(len, self.packed(groups).to_pylist()))

    def packed(self, groups: Sequence[bytes]) -> pa.LargeBinaryArray:
        """Return groups of texts, compressed."""
        compressor = zstandard.ZstdCompressor(
            _LEVEL, dict_data=self._trained, write_content_size=False, write_checksum=False, write_dict_id=False
        )
        packed = [
            small if len(small := compressor.compress(group)) < len(group) < _MOST_PACKED * len(small) else group
            for group in groups
        ]
        return pa.array(packed, pa.large_binary())

    def unpacked(self, piece: memoryview, size: int) -> bytes | memoryview:
        """Return a group that takes so many bytes. Raise `DamagedLookupError` if it was not packed so."""
        if len(piece) == size:
            return piece
        if size > _MOST_PACKED * len(piece):
            raise DamagedLookupError("a block of a lookup has sizes that cannot be")
        if not hasattr(self._own, "reader"):
            self._own.reader = zstandard.ZstdDecompressor(dict_data=self._trained)
        try:
            if zstandard.frame_content_size(piece) not in (-1, size):  # what it says would be made room for
                raise DamagedLookupError
            data: bytes = self._own.reader.decompress(piece, max_output_size=size)
        except zstandard.ZstdError as error:
            raise DamagedLookupError from error
        if len(data) != size:
            raise DamagedLookupError
        return data


@lru_cache(maxsize=64)
def dictionary_of(data: bytes) -> Dictionary:
    """Return the one with this data, the same for all segments that have it."""
    return Dictionary(data)


def _group_ends(texts: int) -> Numbers:
    return np.append(np.arange(0, texts, GROUP), texts)


def _groups_of(data: Bytes, ends: Numbers) -> list[bytes]:
    return [data[low:high].tobytes() for low, high in pairwise(ends)]


def squeezed(forms: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return search forms without spaces: the order of texts, and what is compared of a beginning."""
    return texts_from(*_squeezed(*text_buffers(forms)))


@compiled
def _squeezed(data: Bytes, offsets: Offsets) -> tuple[Bytes, Offsets]:
    texts = len(offsets) - 1
    out = np.empty(offsets[texts] - offsets[0], np.uint8)
    bounds = np.zeros(texts + 1, np.int64)
    total = 0
    for index in range(texts):
        for at in range(offsets[index], offsets[index + 1]):
            out[total] = data[at]
            total += data[at] != 0x20
        bounds[index + 1] = total
    return out[:total].copy(), bounds


def keys_of(texts: pa.LargeStringArray) -> list[bytes]:
    """Return the squeezed search forms of texts, which sort as the texts of a block do."""
    return squeezed(search_form(texts)).cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


def make_block(texts: pa.RecordBatch, dictionary: Dictionary) -> tuple[pa.RecordBatch, GramLists]:
    """Return texts, of `TEXTS`, as a block: the same sorted, as `GROUPS`, and the lists of their grams."""
    forms = search_form(texts["text"])
    keys = squeezed(forms)
    order = pc.sort_indices(keys)
    groups = _groups(texts.take(order), keys.take(order[::GROUP]), dictionary)
    return groups, make_lists(forms.take(order))


def _groups(texts: pa.RecordBatch, firsts: pa.LargeStringArray, dictionary: Dictionary) -> pa.RecordBatch:
    data, offsets = text_buffers(texts["text"])
    ends = _group_ends(len(texts))
    heads = np.array(firsts.cast(pa.large_binary()).to_pylist(), f"S{_HEAD}")
    bounds = pa.array(ends, pa.int32())
    columns = [
        pa.Array.from_buffers(pa.binary(_HEAD), len(heads), [None, pa.py_buffer(heads)]),
        pa.ListArray.from_arrays(bounds, texts["hash"]),
        pa.ListArray.from_arrays(bounds, pa.array(np.diff(offsets), pa.uint32())),
        dictionary.packed(_groups_of(data, offsets[ends])),
    ]
    return pa.record_batch([column.cast(kind) for column, kind in zip(columns, GROUPS.types, strict=True)], GROUPS)


class Block:
    """A block that was read, and the dictionary of its segment. Raises `ValueError` if its batch contradicts itself.

    Little is looked at: a lookup of a large wiki has thousands of blocks, and a question needs a small part of some.
    What lies where in a block is checked when it is used.
    """

    def __init__(self, groups: pa.RecordBatch, dictionary: Dictionary) -> None:
        groups.validate()
        check_complete(*groups.columns)
        self.hashes: Hashes = _flat(groups["hashes"])
        self._sizes: npt.NDArray[np.uint32] = _flat(groups["sizes"])
        count = len(self.hashes)
        if count > MOST_TEXTS or len(self._sizes) != count or len(groups) != -(-count // GROUP):
            raise ValueError("a block of a lookup has too many texts, or sizes, or groups")
        packed, self._bounds = text_buffers(groups["packed"])
        self._packed = packed.data
        self._dictionary = dictionary
        heads = groups["head"]
        self._heads = np.frombuffer(heads.buffers()[1], f"S{_HEAD}", len(groups), heads.offset * _HEAD)

    def __len__(self) -> int:
        return len(self.hashes)

    def texts(self, rows: Numbers) -> pa.LargeStringArray:
        """Return the texts with these numbers."""
        return texts_of([self], np.zeros(len(rows), np.int64), rows)

    def unpacked(self, group: int) -> tuple[bytes | memoryview, list[int]]:
        """Return the bytes of a group, and the sizes of its texts."""
        sizes = self._sizes[GROUP * group : GROUP * (group + 1)].tolist()
        piece = self._packed[self._bounds[group] : self._bounds[group + 1]]
        return self._dictionary.unpacked(piece, sum(sizes)), sizes

    def rows(self, rows: Numbers) -> pa.RecordBatch:
        """Return texts, as `TEXTS`."""
        return pa.record_batch([pa.array(self.hashes[rows]), self.texts(rows)], schema=TEXTS)

    def around(self, bound: bytes) -> tuple[int, int]:
        """Return between which numbers the first text lies that does not come before the bound."""
        low, high = (int(np.searchsorted(self._heads, np.bytes_(bound[:_HEAD]), side)) for side in ("left", "right"))
        return max(0, low - 1) * GROUP, min(high * GROUP, len(self))


def texts_of(blocks: Sequence[Block], numbers: Numbers, rows: Numbers) -> pa.LargeStringArray:
    """Return texts, each by the number of its block and its own number there, in the order given."""
    if not len(rows):
        return text_column([])
    groups, turns = np.unique(numbers * MOST_TEXTS + rows // GROUP, return_inverse=True)
    owners = (groups // MOST_TEXTS).tolist()
    pieces = [blocks[at].unpacked(group) for at, group in zip(owners, (groups % MOST_TEXTS).tolist(), strict=True)]
    data, sizes = zip(*pieces, strict=True)
    bounds = np.cumsum([0, *chain.from_iterable(sizes)])
    first = np.cumsum([0, *map(len, sizes)])
    texts = texts_from(np.frombuffer(b"".join(data), np.uint8), bounds)
    return texts.take(pa.array(first[turns] + rows % GROUP))


def check_complete(*columns: pa.Array) -> None:
    """Raise `ValueError` if a value is missing."""
    if any(column.null_count for column in columns):
        raise ValueError("a block of a lookup has none where one must be")


def _flat(lists: pa.ListArray) -> npt.NDArray[Any]:
    check_complete(lists.values)
    flat: npt.NDArray[Any] = lists.values.to_numpy()
    return flat


def in_blocks(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Cut texts, of `TEXTS`, into batches that fit in a block."""
    table = pa.Table.from_batches(batches, TEXTS).combine_chunks()
    cut, begin = [], 0
    if not table.num_rows:
        return []
    rows = table.to_batches()[0]
    _, offsets = text_buffers(rows["text"])
    while begin < len(rows):
        full = int(np.searchsorted(offsets, offsets[begin] + MOST_BYTES, "right")) - 1
        end = min(max(full, begin + 1), begin + MOST_TEXTS, len(rows))
        cut.append(rows.slice(begin, end - begin))
        begin = end
    return cut
