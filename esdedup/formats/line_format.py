"""Formats that have lines: blocks of whole lines to read documents from, and single lines to rewrite."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from esdedup.errors import SourceError
from esdedup.formats.protocol import Format, Walk

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions

BLOCK = 2**20
MAX_LINE = 2**26
"""A line (or a field) longer than this is skipped and counted: memory must not grow with the file."""

BOM = b"\xef\xbb\xbf"

Block = tuple[int, bytes]
"""Whole lines, and the number of the first."""


class Records:
    """The records of one member as they stand: runs of bytes that are rewritten one by one."""

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """Everything that stands in the member, with places; 0 for what is no record."""
        return numbered_lines(pieces, decisions)

    @abstractmethod
    def text(self, data: bytes) -> str | None:
        """The text of a record as its reader gives it; None where it has none."""

    @abstractmethod
    def with_text(self, data: bytes, text: str) -> bytes:
        """The record with another text."""

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """The record with an annotation; None if it is none that can carry one."""


class LineFormat(Format):
    """A format of records that begin on lines of their own."""

    @abstractmethod
    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """The documents of one member."""

    @abstractmethod
    def records(self, label: str, annotate: bool) -> Records:
        """What rewrites the records of one member."""

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are lines."""
        blocks = LineBlocks(member.pieces, walk.skips)
        yield from walk.up_to_limit(self.documents(blocks, walk))
        walk.records += blocks.lines

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: records that stay, changed ones in new form, and all that is no record."""
        return _rewritten(self.records(walk.label, annotate), member.pieces, decisions, annotate)


def _rewritten(records: Records, pieces: Iterator[bytes], decisions: Decisions, annotate: bool) -> Iterator[bytes]:
    for place, data in records.records(pieces, decisions):
        if not place or data.isspace():
            yield data
        elif annotate:
            noted = records.annotated(data, decisions.note(place))
            yield data if noted is None else noted
        elif drops := decisions.drops(place):
            left = decisions.left(records.text(data) if decisions.needs_text else None, drops)
            if left is not None:
                yield records.with_text(data, left)
        else:
            decisions.stay()
            yield data


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
        if len(head) >= len(BOM):
            break
    yield head.removeprefix(BOM)
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
        text = decoded(line)
        if text is None:
            skips.add("bad_utf8", f"line {at}")
        else:
            lines.append(text)
            numbers.append(at)
    return numbers, lines


def numbered_lines(pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
    """Each line with its end, and its place in the source; `decisions.place` counts up.

    What no reader takes for a line has place 0: a byte order mark, and the parts of a line that is far too long.
    A line that is cut by damage is left out; `SourceError` then follows the whole lines before it.
    """
    held: list[bytes] = []
    size = 0
    torn = at_start = False

    def whole(line: bytes) -> tuple[int, bytes]:
        nonlocal size, torn
        if held:
            line = b"".join([*held, line])
            held.clear()
            size = 0
        if torn:
            torn = False
            return 0, line
        decisions.place += 1
        return decisions.place, line

    for piece in pieces:
        if not at_start:
            at_start = True
            if piece.startswith(BOM):
                yield 0, BOM
                piece = piece.removeprefix(BOM)
        *lines, rest = piece.split(b"\n")
        for line in lines:
            yield whole(line + b"\n")
        if rest:
            held.append(rest)
            size += len(rest)
        # readers skip a line soon after it has passed the limit, so one of twice that has no document
        if size > 2 * MAX_LINE:
            decisions.place += not torn
            torn = True
            yield 0, b"".join(held)
            held.clear()
            size = 0
    if held:
        yield whole(b"")


def body_and_end(line: bytes) -> tuple[bytes, bytes]:
    """A line without its end, and the end; what a reader does not take for text is the end."""
    body = line.removesuffix(b"\n")
    body = body.removesuffix(b"\r")
    return body, line[len(body) :]


def decoded(line: bytes) -> str | None:
    """A line as text; None if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
