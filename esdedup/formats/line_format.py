"""Formats with lines: blocks of whole lines for reading, single lines for rewriting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from esdedup.errors import SourceError
from esdedup.formats.encoding import EncodedText, exchanged_back, head_of, with_line_feeds
from esdedup.formats.protocol import Walk
from esdedup.formats.text_limit import ENDLESS, too_large

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted

BLOCK = 2**20
BOM = b"\xef\xbb\xbf"

Block = tuple[int, bytes]
"""Whole lines, and the number of the first one."""


class Records:
    """The records of one member: runs of bytes that are rewritten one by one."""

    exchanged = False
    """Whether carriage returns and line feeds are exchanged; see `esdedup.formats.encoding`."""

    def records(self, pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
        """Yield everything in the member with record numbers; 0 for parts that are not records."""
        return numbered_lines(pieces, decisions)

    @abstractmethod
    def text(self, data: bytes) -> str | None:
        """Return the text of a record, as its reader returns it; None if it has none."""

    @abstractmethod
    def with_text(self, data: bytes, text: str) -> bytes:
        """Return the record with another text."""

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        """Return the record with an annotation; None if it cannot have one."""

    def values(self, data: bytes, columns: Sequence[str] | None) -> list[Any]:
        """Return the values of columns, as JSON; None for a missing one. Without `columns`, as `Format.values`."""
        raise NotImplementedError

    def with_values(self, data: bytes, values: Mapping[str, Any]) -> bytes:
        """Return the record with other values in some columns."""
        raise NotImplementedError


class LineFormat(EncodedText):
    """A format in which each record starts on a new line."""

    quotes: ClassVar[bool] = False
    """Whether a record goes on over line ends in quotes."""

    @property
    def between(self) -> str:
        """A character that each record has equally often; nothing if none is known."""
        return ""

    @abstractmethod
    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Yield the documents of one member."""

    @abstractmethod
    def records(self, label: str, annotate: bool) -> Records:
        """Return the object that rewrites the records of one member."""

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are lines."""
        pieces, exchanged = self._with_line_feeds(self.as_utf8(member.pieces, walk.label), walk.label)
        blocks = LineBlocks(pieces, walk.skips, walk.max_text, walk.label, exchanged=exchanged)
        yield from walk.up_to_limit(self.documents(blocks, walk))
        walk.records += blocks.lines

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: kept records unchanged, changed records in new form, and everything that is not a record."""
        records = self.records(walk.label, annotate)

        def rewrite(pieces: Iterator[bytes]) -> Iterator[bytes]:
            pieces, records.exchanged = self._with_line_feeds(pieces, walk.label)
            changed = rewrite_records(records, pieces, decisions, annotate)
            return exchanged_back(changed) if records.exchanged else changed

        return self.rewritten(member.pieces, walk.label, rewrite)

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """See `Format`."""
        from esdedup.formats.decisions import Decisions

        records, counted = self.records(walk.label, annotate=False), Decisions.of_nothing(walk.records, walk.max_text)
        pieces, records.exchanged = self._with_line_feeds(self.as_utf8(member.pieces, walk.label), walk.label)
        for number, data in records.records(pieces, counted):
            if wanted.takes(number):
                yield number, records.values(data, columns)
        walk.records = counted.record

    def _with_line_feeds(self, pieces: Iterator[bytes], label: str) -> tuple[Iterator[bytes], bool]:
        return with_line_feeds(pieces, label, quotes=self.quotes, separator=self.between.encode())


def rewrite_records(records: Records, pieces: Iterator[bytes], decisions: Decisions, annotate: bool) -> Iterator[bytes]:
    """Rewrite one member, record by record; see `Format.rewrite`."""
    for record, data in records.records(pieces, decisions):
        if not record or data.isspace():
            decisions.blank += record > 0
            yield data
        elif annotate:
            noted = records.annotated(data, decisions.note(record))
            yield data if noted is None else noted
        elif drops := decisions.drops(record):
            left = decisions.left(records.text(data) if decisions.needs_text else None, drops)
            if left is not None:
                yield records.with_text(data, left)
        else:
            decisions.stay()
            yield records.with_values(data, decisions.values) if decisions.values else data


class LineBlocks:
    """Iterates once over blocks of whole lines. Line ends are unchanged. `lines` counts the lines so far.

    A byte order mark and lines that are too long are left out; the latter are counted in `skips`. Without `skips`, they
    are yielded too, in pieces with the number 0. If the input is damaged, a cut last line is dropped, and the whole
    lines before it are yielded first. A line without an end is damage.
    """

    def __init__(
        self, pieces: Iterator[bytes], skips: Skips | None, most: int, label: str = "", *, exchanged: bool = False
    ) -> None:
        self.lines = 0
        self.exchanged = exchanged
        self._most = most
        self._label = label
        self._pieces = pieces
        self._skips = skips
        # a line may be found too long slightly beyond the limit, depending on how it is cut: a rewritten file has room
        # for every line that was read
        self._longest = 2 * most if skips is None else most
        self._ready: list[bytes] = []

    def __iter__(self) -> Iterator[Block]:
        if self._skips is None:
            return self._all()
        return self._readable(self._skips)

    def _readable(self, skips: Skips) -> Iterator[Block]:
        """Yield the blocks without lines that would cost too much. A block is not kept while it is used."""
        for first, block in self._all():
            if not first:
                continue
            if len(block) <= self._most // 8 or not any(
                too_large(line, self._most) for line in _long(block, self._most)
            ):
                once = [block]
                del block
                yield first, once.pop()
                continue
            held: list[bytes] = []
            for number, line in enumerate(split_lines(block), first):
                if not too_large(line, self._most):
                    held.append(line)
                    continue
                if held:
                    yield number - len(held), b"".join(held)
                    held = []
                skips.add("too_long_field", f"line {number}")
            if held:
                yield number + 1 - len(held), b"".join(held)

    def _all(self) -> Iterator[Block]:
        ready_size = 0
        tail: list[bytes] = []
        tail_size = 0
        too_long = False
        passed = 0  # bytes of the line that is too long
        head = head_of(self._pieces, len(BOM))
        try:
            if head.startswith(BOM):
                yield 0, BOM
            for piece in chain([head.removeprefix(BOM)], self._pieces):
                if too_long:
                    cut = piece.find(b"\n") + 1
                    yield 0, piece[: cut or None]
                    if not cut:
                        passed += len(piece)
                        if self._skips is not None and passed > ENDLESS * self._most:
                            raise SourceError(
                                f"{self._label}: line {self.lines} has more than {passed:,} bytes, and no end; "
                                "everything before it was read; is this a file of lines?"
                            )
                        continue
                    too_long = False
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
                if tail_size > self._longest:
                    if self._ready:
                        yield self._take()
                        ready_size = 0
                    self.lines += 1
                    if self._skips is not None:
                        self._skips.add("too_long_field", f"line {self.lines}")
                    yield from ((0, part) for part in tail)
                    tail, tail_size, too_long, passed = [], 0, True, 0
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


def decode_lines(number: int, block: bytes, skips: Skips) -> tuple[range | list[int], list[str]]:
    """Return a block's lines as text without their ends, and their numbers. Invalid UTF-8 is counted."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
    text = decoded(block.removesuffix(b"\n"))
    if text is not None:
        lines = text.split("\n")
        return range(number, number + len(lines)), lines
    each = [(at, decoded(line)) for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number)]
    for at, line in each:
        if line is None:
            skips.add("bad_utf8", f"line {at}")
    return [at for at, line in each if line is not None], [line for _, line in each if line is not None]


def numbered_lines(pieces: Iterator[bytes], decisions: Decisions) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its end, and its number in the source. `decisions.record` counts up.

    Parts that no reader takes for a line have number 0. A line that is cut by damage is left out. `SourceError` follows
    the whole lines before it.
    """
    before, blocks = decisions.record, LineBlocks(pieces, None, decisions.max_text)
    for first, block in blocks:
        if first:
            yield from enumerate(split_lines(block), before + first)
        else:
            yield 0, block
    decisions.record = before + blocks.lines


def split_lines(block: bytes) -> list[bytes]:
    """Split lines with their ends, at line feeds only: a carriage return inside a field does not end a line."""
    if b"\r" not in block:
        return block.splitlines(keepends=True)
    lines = [line + b"\n" for line in block.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def _long(block: bytes, most: int) -> Iterator[memoryview]:
    """Yield the lines of a block that may be too large, without copying them."""
    begin, whole = 0, memoryview(block)
    while begin < len(block) and len(block) > most // 8:
        end = block.find(b"\n", begin) + 1 or len(block)
        if end - begin > most // 8:
            yield whole[begin:end]
        begin = end


def body_and_end(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into its body and its end. The end is everything that a reader does not take for text."""
    body = line.removesuffix(b"\n")
    body = body.removesuffix(b"\r")
    return body, line[len(body) :]


def decoded(line: bytes) -> str | None:
    """Return a line as text; None if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
