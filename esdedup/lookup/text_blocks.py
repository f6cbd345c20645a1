"""Blocks of a lookup: up to 65,536 texts, sorted by their search form without spaces, and the lists of their grams.

Texts are compressed in groups of eight: what is read of a block is the groups that are asked for. A list has the
numbers of the texts with one gram, as steps from one to the next, most of which fit in a byte. A block is two Arrow
batches, which are read where they lie: memory-mapped, without copying. What a file says is not trusted: a number that
is wrong finds a wrong text, or none, but never reads outside of its block.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from esdedup.columns.arrays import Numbers, text_buffers, text_column, texts_from
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.lookup.grams import Grams, gram_keys
from esdedup.text.search_form import search_form

TEXTS: pa.Schema = pa.schema([("hash", pa.uint64()), ("text", pa.large_string())])

GROUP = 8
_HEAD = 24  # bytes

GROUPS: pa.Schema = pa.schema(
    [
        ("head", pa.binary(_HEAD)),  # the beginning of the squeezed form of the first text
        ("hashes", pa.list_(pa.uint64())),
        ("sizes", pa.list_(pa.uint32())),  # bytes of each text
        ("packed", pa.large_binary()),  # the texts; of the last row, which has none, the dictionary of all others
    ]
)
LISTS: pa.Schema = pa.schema([("gram", pa.uint32()), ("texts", pa.uint32()), ("steps", pa.large_binary())])

MOST_TEXTS = 2**16
MOST_BYTES = 2**24
"""A block is closed when it has so many texts, or bytes of text: a byte has at most one gram."""

Scores = npt.NDArray[np.float32]

_LEVEL = 3
_MOST_DICTIONARY, _LEAST_DICTIONARY = 2**16, 2**12  # bytes
_DICTIONARY_SHARE = 128  # of the texts
_TRAINED_ON = 16  # every so many groups
_MOST_PACKED = 64
"""A group that would be so many times smaller is not compressed: so no file unpacks to much more than its size."""


class DamagedLookupError(Exception):
    """A folder is no lookup of this version, or contradicts itself; it is made again."""


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
    """What `pack` returned; `sizes` are the bytes of each group. Raises `DamagedLookupError` if this cannot be."""

    def __init__(self, packed: pa.LargeBinaryArray, sizes: Numbers) -> None:
        data, self._bounds = text_buffers(packed)
        self._data = data.data
        self._sizes = sizes
        if len(packed) != len(sizes) + 1 or (sizes > _MOST_PACKED * np.diff(self._bounds[:-1])).any():
            raise DamagedLookupError("a block of a lookup has sizes that cannot be")
        dictionary = self._data[int(self._bounds[-2]) : int(self._bounds[-1])].tobytes()
        self._dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None

    def unpacked(self, groups: Numbers) -> bytes:
        """Return the bytes of groups, one after the other. Raise `DamagedLookupError` if they were not packed so."""
        try:
            reader = zstandard.ZstdDecompressor(dict_data=self._dictionary)  # no thread may use that of another
        except zstandard.ZstdError as error:
            raise DamagedLookupError from error
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
            raise DamagedLookupError
        data = reader.decompress(piece, max_output_size=size)
    except zstandard.ZstdError as error:
        raise DamagedLookupError from error
    if len(data) != size:
        raise DamagedLookupError
    return data


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


def make_block(texts: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return texts, of `TEXTS`, as a block: the same sorted, as `GROUPS`, and the lists of their grams, of `LISTS`."""
    forms = search_form(texts["text"])
    keys = squeezed(forms)
    order = pc.sort_indices(keys)
    return _groups(texts.take(order), keys.take(order[::GROUP])), _lists(forms.take(order))


def _groups(texts: pa.RecordBatch, firsts: pa.LargeStringArray) -> pa.RecordBatch:
    data, offsets = text_buffers(texts["text"])
    ends = np.append(np.arange(0, len(texts), GROUP), len(texts))
    heads = np.array([*firsts.cast(pa.large_binary()).to_pylist(), b""], f"S{_HEAD}")
    bounds = pa.array(np.append(ends, len(texts)), pa.int32())
    columns = [
        pa.Array.from_buffers(pa.binary(_HEAD), len(heads), [None, pa.py_buffer(heads)]),
        pa.ListArray.from_arrays(bounds, texts["hash"]),
        pa.ListArray.from_arrays(bounds, pa.array(np.diff(offsets), pa.uint32())),
        pack(data, offsets[ends]),
    ]
    return pa.record_batch([column.cast(kind) for column, kind in zip(columns, GROUPS.types, strict=True)], GROUPS)


def _lists(forms: pa.LargeStringArray) -> pa.RecordBatch:
    grams, held, steps, ends = _steps(gram_keys(forms))
    listed = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(grams), [None, pa.py_buffer(ends), pa.py_buffer(steps)]
    )
    return pa.record_batch([pa.array(grams), pa.array(held), listed], schema=LISTS)


@compiled
def _steps(keys: Hashes) -> tuple[Grams, Grams, Bytes, Numbers]:
    """Return the grams of sorted keys (the gram, and 16 bits of the number of its text), how many texts have each, and
    the steps between their numbers, seven bits a byte, the highest first; a byte with more to come has the eighth bit.
    """
    lists = 0
    for at in range(len(keys)):
        lists += at == 0 or keys[at] >> np.uint64(16) != keys[at - 1] >> np.uint64(16)
    grams, held = np.empty(lists, np.uint32), np.zeros(lists, np.uint32)
    steps, ends = np.empty(3 * len(keys), np.uint8), np.zeros(lists + 1, np.int64)
    lists = total = 0
    last = np.int64(-1)
    for at in range(len(keys)):
        key = keys[at]
        if at > 0 and key == keys[at - 1]:
            continue  # the text has the gram twice
        if at == 0 or key >> np.uint64(16) != keys[at - 1] >> np.uint64(16):
            grams[lists] = key >> np.uint64(16)
            lists += 1
            last = np.int64(-1)
        text = np.int64(key & np.uint64(0xFFFF))
        step = text - last - 1
        last = text
        for shift in (14, 7):
            if step >> shift:
                steps[total] = step >> shift & 127 | 128
                total += 1
        steps[total] = step & 127
        total += 1
        held[lists - 1] += 1
        ends[lists] = total
    return grams, held, steps[:total].copy(), ends


class Spans(NamedTuple):
    """Where the lists of some grams lie in a block, and of how many texts; each of shape (grams,)."""

    begins: Numbers
    ends: Numbers
    held: Numbers


class Block:
    """A block that was read. Raises `ValueError` if its batches contradict themselves.

    Little is looked at: a lookup of a large wiki has thousands of blocks, and a question needs a small part of each.
    What lies where in a block is checked when it is used.
    """

    def __init__(self, groups: pa.RecordBatch, lists: pa.RecordBatch) -> None:
        for batch in (groups, lists):
            batch.validate()
            _check_complete(*batch.columns)
        self.hashes: Hashes = _flat(groups["hashes"])
        self._sizes: npt.NDArray[np.uint32] = _flat(groups["sizes"])
        count = len(self.hashes)
        if count > MOST_TEXTS or len(self._sizes) != count or len(groups) != -(-count // GROUP) + 1:
            raise ValueError("a block of a lookup has too many texts, or sizes, or groups")
        self._groups = groups["packed"]
        self._steps, self._ends = text_buffers(lists["steps"])
        heads = groups["head"]
        self._heads = np.frombuffer(heads.buffers()[1] or b"", f"S{_HEAD}", len(groups) - 1, heads.offset * _HEAD)
        self._grams: Grams = lists["gram"].to_numpy()
        self._held: Grams = lists["texts"].to_numpy()
        self._living: Numbers | None = None  # without those that are gone, if any are

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def _packed(self) -> PackedTexts:
        starts = np.arange(0, len(self._sizes), GROUP)
        unpacked = np.add.reduceat(self._sizes, starts, dtype=np.int64) if len(starts) else starts
        return PackedTexts(self._groups, unpacked)

    def only(self, rows: Numbers) -> Block:
        """Return the block as if it had these of its texts alone."""
        part = copy.copy(self)
        part.hashes, part._living = self.hashes[rows], rows
        return part

    def texts(self, rows: Numbers) -> pa.LargeStringArray:
        """Return the texts with these numbers."""
        return texts_of([self], np.zeros(len(rows), np.int64), rows)

    def stored(self, rows: Numbers) -> Numbers:
        """Return at which places of the block texts are stored: those that are gone have one too."""
        return rows if self._living is None else self._living[rows]

    def unpacked(self, groups: Numbers) -> tuple[bytes, Numbers, Numbers]:
        """Return the bytes of groups, one after the other, the sizes of their texts, and how many each has."""
        data = self._packed.unpacked(groups)
        places = (GROUP * groups[:, np.newaxis] + np.arange(GROUP)).ravel()
        sizes = self._sizes[places[places < len(self._sizes)]]
        return data, sizes, np.minimum(GROUP, len(self._sizes) - GROUP * groups)  # only the last one may have fewer

    def rows(self) -> pa.RecordBatch:
        """Return all texts, as `TEXTS`."""
        return pa.record_batch([pa.array(self.hashes), self.texts(np.arange(len(self)))], schema=TEXTS)

    def around(self, bound: bytes) -> tuple[int, int]:
        """Return between which numbers the first text lies that does not come before the bound."""
        low, high = (int(np.searchsorted(self._heads, np.bytes_(bound[:_HEAD]), side)) for side in ("left", "right"))
        ends = np.array([max(0, low - 1), high]) * GROUP
        if self._living is not None:
            ends = np.searchsorted(self._living, ends)
        return int(ends[0]), min(int(ends[1]), len(self))

    def spans(self, grams: Grams) -> Spans:
        """Return where the lists of grams are; they are empty for those that no text has."""
        if not len(self._grams):
            return Spans(*np.zeros((3, len(grams)), np.int64))
        at = np.minimum(np.searchsorted(self._grams, grams), len(self._grams) - 1)
        there = self._grams[at] == grams
        begins, ends = (np.clip(self._ends[place], 0, len(self._steps)) for place in (at, at + 1))
        return Spans(begins, np.where(there, ends, begins), np.where(there, self._held[at], 0))

    def scores(self, spans: Spans, weights: Scores) -> Scores:
        """Return, for each text, the sum of the weights of the grams that it has."""
        scores = _scores(self._steps, spans.begins, spans.ends, weights)
        return scores[: len(self)] if self._living is None else scores[self._living]


def texts_of(blocks: Sequence[Block], numbers: Numbers, rows: Numbers) -> pa.LargeStringArray:
    """Return texts, each by the number of its block and its own number there, in the order given."""
    if not len(rows):
        return text_column([])
    there = np.unique(numbers).tolist()
    stored = np.empty(len(rows), np.int64)
    for number in there:
        at = np.flatnonzero(numbers == number)
        stored[at] = blocks[number].stored(rows[at])
    groups, turns = np.unique(numbers * MOST_TEXTS + stored // GROUP, return_inverse=True)
    cuts = np.searchsorted(groups, np.array(there, np.int64) * MOST_TEXTS)
    each = np.split(groups % MOST_TEXTS, cuts[1:])
    pieces = [blocks[number].unpacked(some) for number, some in zip(there, each, strict=True)]
    data, sizes, counts = zip(*pieces, strict=True)
    ends = np.cumsum(np.concatenate(counts))
    bounds = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))
    first = np.append(0, ends[:-1])
    texts = texts_from(np.frombuffer(b"".join(data), np.uint8), bounds)
    return texts.take(pa.array(first[turns] + stored % GROUP))


def _check_complete(*columns: pa.Array) -> None:
    if any(column.null_count for column in columns):
        raise ValueError("a block of a lookup has none where one must be")


def _flat(lists: pa.ListArray) -> npt.NDArray[Any]:
    _check_complete(lists.values)
    flat: npt.NDArray[Any] = lists.values.to_numpy()
    return flat


def without(blocks: Sequence[Block], gone: Hashes) -> list[Block]:
    """Return blocks as if they did not have the texts with these hashes."""
    if not len(gone):
        return list(blocks)
    living = np.isin(np.concatenate([np.empty(0, np.uint64), *(block.hashes for block in blocks)]), gone, invert=True)
    parts = np.split(living, np.cumsum(list(map(len, blocks)))[:-1])
    return [block.only(np.flatnonzero(part)) for block, part in zip(blocks, parts, strict=True)]


@compiled
def _scores(steps: Bytes, begins: Numbers, ends: Numbers, weights: Scores) -> Scores:
    scores = np.zeros(MOST_TEXTS, np.float32)
    for gram in range(len(weights)):
        weight = weights[gram]
        step, text = 0, -1
        for at in range(begins[gram], ends[gram]):
            byte = int(steps[at])
            step = step << 7 | byte & 127
            if byte < 128:
                text = (text + step + 1) & 0xFFFF
                scores[text] += weight
                step = 0
    return scores


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
