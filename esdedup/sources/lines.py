"""Pieces of bytes into blocks of whole lines, for every format that has lines."""

from __future__ import annotations

from collections.abc import Iterator

from esdedup.errors import SourceError
from esdedup.records import Skips

BLOCK = 2**20
MAX_LINE = 2**26
"""A line (or a field) longer than this is skipped and counted: memory must not grow with the file."""

_BOM = b"\xef\xbb\xbf"


def line_blocks(pieces: Iterator[bytes], skips: Skips, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with the number of its first line; line ends stay as they are.

    The last line of damaged input is dropped if it is cut; the whole lines before it are yielded first.
    """
    number = first
    ready: list[bytes] = []
    ready_size = 0
    tail: list[bytes] = []
    tail_size = 0
    dropping = False
    at_start = True

    def take() -> tuple[int, bytes]:
        nonlocal number, ready_size
        block = b"".join(ready)
        found = number, block
        number += block.count(b"\n")
        ready.clear()
        ready_size = 0
        return found

    try:
        for piece in pieces:
            if at_start:
                at_start = False
                piece = piece.removeprefix(_BOM)
            if dropping:
                cut = piece.find(b"\n") + 1
                if not cut:
                    continue
                dropping = False
                number += 1
                piece = piece[cut:]
            cut = piece.rfind(b"\n") + 1
            if cut:
                ready += [*tail, piece[:cut]]
                ready_size += tail_size + cut
                piece = piece[cut:]
                tail, tail_size = [], 0
                if ready_size >= BLOCK:
                    yield take()
            if piece:
                tail.append(piece)
                tail_size += len(piece)
            if tail_size > MAX_LINE:
                if ready:
                    yield take()
                skips.add("too_long_field", f"line {number}")
                tail, tail_size, dropping = [], 0, True
    except SourceError:
        if ready:
            yield take()
        raise
    ready += tail
    if ready:
        yield take()


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
