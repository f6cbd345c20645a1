"""The blocks of bzip2 streams: found in the compressed bytes, each made a stream of its own.

A block begins with a mark of 48 bits, at any bit of a byte, and its checksum. Between the header of its stream and an
end with the same checksum, it is a whole stream, which any decoder reads and checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CHECKSUM_BITS = 48, 32
_ENDING_BITS = _MARK_BITS + _CHECKSUM_BITS
_CHECKSUM = 0xFFFFFFFF
_HEADER = re.compile(rb"BZh[1-9]")
_HEADER_BYTES = 4

# A file is read in parts. A mark is found when the bytes after it are there too, as many as an end has.
_PART = 2**20
_WINDOW = 11

# No block has more bytes: it is 900,000 codes of at most 20 bits, and tables.
_LARGEST = 2**22


def _likely() -> NDArray[np.bool_]:
    """Return for each value of two bytes whether the second and third byte of a mark may be these: 16 of 65,536."""
    table = np.zeros(2**16, np.bool_)
    table[[mark >> (24 + shift) & 0xFFFF for mark in (_BLOCK, _END) for shift in range(8)]] = True
    return table


_LIKELY = _likely()


class Block(NamedTuple):
    """One block, as a stream of its own."""

    data: bytes
    end: int
    """The byte of the file in which it ends."""
    stream: int
    """The byte of the file at which its stream begins."""


class Blocks:
    """Iterates over the blocks of the streams of a file, from its beginning.

    It ends at the end of the file, or earlier: in a stream that is cut, has a wrong checksum or cannot be read, or at
    bytes that are no stream. From the byte `stream` of the file on, another reader finds out which. The blocks are not
    decoded, so their own checksums are not checked.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.stream = 0

    def __iter__(self) -> Iterator[Block]:
        held, base = b"", 0  # bytes of the file, from byte `base` on
        begin: int | None = None  # the bit at which a block begins, counted like all below from the first byte held
        searched, stream = 0, 0
        header, checksum = b"", 0
        more = True
        while more:
            try:
                part = self._file.read(_PART)
            except OSError:
                return
            more = bool(part)
            size = len(held) + len(part)
            held += part or b"\0"  # the end of a stream may be a byte shorter than the window
            for bit, is_end in _marks(held, searched):
                if begin is None:
                    place = bit // 8 - _HEADER_BYTES
                    header = held[place : place + _HEADER_BYTES]
                    padding = b"\0" if self.stream else b""  # between streams only
                    if place < stream or held[stream:place].strip(padding) or bit % 8 or not _HEADER.fullmatch(header):
                        return
                    stream, checksum = place, 0
                    self.stream = base + stream
                else:
                    block, own = _alone(header, held, begin, bit)
                    checksum = (checksum << 1 & _CHECKSUM | checksum >> _CHECKSUM_BITS - 1) ^ own
                    yield Block(block, base + bit // 8, self.stream)
                begin = bit
                if is_end:
                    begin, stream = None, (bit + _ENDING_BITS + 7) // 8
                    if stream > size or checksum != _number(held, bit + _MARK_BITS):
                        return
                    self.stream = base + stream
            done = stream if begin is None else begin // 8
            if size - done > _LARGEST:
                return
            searched = max(0, len(held) - _WINDOW + 1 - done)
            held, base, stream = held[done:], base + done, stream - done
            begin = begin and begin - 8 * done


def _marks(data: bytes, first: int) -> list[tuple[int, bool]]:
    """Return the marks that begin in byte `first` or later: at which bit, and whether a stream ends there."""
    values = np.frombuffer(data, np.uint8)[first:]
    pairs = values[1:-1].astype(np.uint16) << 8 | values[2:]
    places = np.flatnonzero(_LIKELY[pairs[: max(0, len(values) - _WINDOW + 1)]])
    words = values[places[:, None] + np.arange(8)].view(">u8").ravel()
    found = []
    for shift in range(8):
        marks = words >> np.uint64(64 - _MARK_BITS - shift) & np.uint64(2**_MARK_BITS - 1)
        for mark, is_end in ((_BLOCK, False), (_END, True)):
            found += [((first + place) * 8 + shift, is_end) for place in places[marks == mark].tolist()]
    return sorted(found)


def _number(data: bytes, bit: int) -> int:
    """Return the checksum that begins at this bit."""
    word = int.from_bytes(data[bit // 8 : bit // 8 + 5])
    return word >> (8 - bit % 8) & _CHECKSUM


def _alone(header: bytes, data: bytes, begin: int, end: int) -> tuple[bytes, int]:
    """Return the block between two bits as a stream of its own, and its checksum."""
    checksum = _number(data, begin + _MARK_BITS)
    values = np.frombuffer(data, np.uint8)[begin // 8 : (end + 7) // 8 + 1]
    shift = begin % 8
    moved = values[:-1] << shift | values[1:] >> 8 - shift if shift else values
    whole, over = divmod(end - begin, 8)
    tail = (int(moved[whole]) >> 8 - over) << _ENDING_BITS | _END << _CHECKSUM_BITS | checksum
    padding = -(over + _ENDING_BITS) % 8
    ending = (tail << padding).to_bytes((over + _ENDING_BITS + padding) // 8)
    return header + moved[:whole].tobytes() + ending, checksum
