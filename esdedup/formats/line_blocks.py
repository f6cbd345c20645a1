"""Pieces of bytes into blocks of whole lines, for every format that has lines."""

from __future__ import annotations

from collections.abc import Iterator

from esdedup.columns.records import Skips
from esdedup.errors import SourceError

BLOCK = 2**20
MAX_LINE = 2**26
"""A line (or a field) longer than this is skipped and counted: memory must not grow with the file."""

_BOM = b"\xef\xbb\xbf"

Block = tuple[int, bytes]
"""Whole lines, and the number of the first."""


class LineBlocks:
    """Iterates once over blocks of whole lines; line ends stay as they are. `lines` counts the lines so far.

    The last line of damaged input is dropped if it is cut; the whole lines before it are yielded first.
    """

    def __init__(self, pieces: Iterator[bytes], skips: Skips) -> None:
        self.lines = 0
        self._pieces = pieces
        self._skips = skips
        self._ready: list[bytes] = []

    def __iter__(self) -> Iterator[Block]:
        ready_size = 0
        tail: list[bytes] = []
        tail_size = 0
        dropping = False
        try:
            for piece in _without_mark(self._pieces):
                if dropping:
                    cut = piece.find(b"\n") + 1
                    if not cut:
                        continue
                    dropping = False
                    piece = piece[cut:]
                cut = piece.rfind(b"\n") + 1
                if cut:
                    self._ready += [*tail, piece[:cut]]
                    ready_size += tail_size + cut
                    piece = piece[cut:]
                    tail, tail_size = [], 0
                    if ready_size >= BLOCK:
                        yield self._take()
                        ready_size = 0
                if piece:
                    tail.append(piece)
                    tail_size += len(piece)
                if tail_size > MAX_LINE:
                    if self._ready:
                        yield self._take()
                        ready_size = 0
                    self.lines += 1
                    self._skips.add("too_long_field", f"line {self.lines}")
                    tail, tail_size, dropping = [], 0, True
        except SourceError:
            if self._ready:
                yield self._take()
            raise
        self._ready += tail
        if self._ready:
            yield self._take()

    def _take(self) -> Block:
        block = b"".join(self._ready)
        self._ready.clear()
        first = self.lines + 1
        self.lines += block.count(b"\n") + (not block.endswith(b"\n"))
        return first, block


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces without a byte order mark at the beginning, however the first ones are cut."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(_BOM):
            break
    yield head.removeprefix(_BOM)
    yield from pieces


def decode_lines(number: int, block: bytes, skips: Skips) -> tuple[range | list[int], list[str]]:
    """A block's lines as text without their ends, and their numbers; invalid UTF-8 is counted."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
    try:
        lines = block.removesuffix(b"\n").decode().split("\n")
    except UnicodeDecodeError:
        return _decode_each(number, block, skips)
    return range(number, number + len(lines)), lines


def _decode_each(number: int, block: bytes, skips: Skips) -> tuple[list[int], list[str]]:
    numbers: list[int] = []
    lines: list[str] = []
    for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            skips.add("bad_utf8", f"line {at}")
        else:
            numbers.append(at)
    return numbers, lines
