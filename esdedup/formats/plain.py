"""Plain text: each file is a document, or each line is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from esdedup.formats.encoding import EncodedText
from esdedup.formats.line_format import BOM, LineBlocks, LineFormat, Records, body_and_end, decode_lines, decoded
from esdedup.formats.protocol import Format, Walk
from esdedup.formats.text_limit import too_large

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.batches import Row
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions


@dataclass(frozen=True)
class Text(EncodedText):
    """A member is a document."""

    name = "text"
    summary = "plain text, a file a document"
    family = "texts"
    endings = (".txt", ".text")
    stdin_name = "stdin.txt"
    annotates = False
    unit = "sentence"
    rewritten_unit = "record"
    folder_is_one = True

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`. Invalid UTF-8 is replaced by U+FFFD and counted."""
        from esdedup.formats.batches import collect

        rows = _whole(member.name or walk.document, self.as_utf8(member.pieces, walk.label), walk)
        yield from walk.up_to_limit(collect(rows))
        walk.records += 1

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes] | None:
        """See `Format`: unchanged, or without the dropped sentences."""
        decisions.record += 1
        drops = decisions.drops(decisions.record)
        if not drops:
            decisions.stay()
            return self.rewritten(member.pieces, walk.label, lambda pieces: pieces)  # damage is found here too
        first = next(member.pieces, b"")
        whole = b"".join(self.as_utf8(chain([first], member.pieces), walk.label))
        text = whole.removeprefix(BOM)
        left = decisions.left(text.decode(errors="replace"), drops)
        if left is None:
            return None
        mark = whole[: len(whole) - len(text)]
        return self.rewritten(iter([first]), walk.label, lambda _: iter((mark, left.encode())))


def _whole(identifier: str, pieces: Iterator[bytes], walk: Walk) -> Iterator[Row]:
    skips = walk.skips
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > walk.max_text:
            skips.add("too_long_text", identifier)
            return
    data = b"".join(held).removeprefix(BOM)
    held.clear()
    if too_large(data, walk.max_text):
        skips.add("too_long_text", identifier)
        return
    text = decoded(data)
    if text is None:
        skips.add("replaced_bytes", identifier)
        text = data.decode(errors="replace")
        data = text.encode()
    if not text or text.isspace():
        skips.add("no_text", identifier)
        return
    del text  # it may take four times as much memory
    yield identifier, None, data, None, None, None, 1


@dataclass(frozen=True)
class Lines(LineFormat):
    """A line is a document. Its number, from 1, is the id. Empty lines are counted."""

    name = "lines"
    summary = "plain text, a line a document"
    family = "texts"
    stdin_name = "stdin.txt"
    annotates = False
    values = Format.values  # a line has no columns

    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Yield the lines that are not empty."""
        from esdedup.formats.batches import from_columns

        for first, block in blocks:
            numbers, lines = decode_lines(first, block, walk.skips)
            if not all(lines) or any(map(str.isspace, lines)):
                pairs = zip(numbers, lines, strict=True)
                kept = [(at, line) for at, line in pairs if line and not line.isspace()]
                walk.skips.add("no_text", count=len(lines) - len(kept))
                numbers, lines = [at for at, _ in kept], [line for _, line in kept]
            yield from from_columns(list(map(str, numbers)), None, lines, numbers)

    def records(self, label: str, annotate: bool) -> Records:
        """Return the lines as records."""
        del label, annotate
        return _Texts()


class _Texts(Records):
    """Lines that are texts, without their ends."""

    def text(self, data: bytes) -> str | None:
        return decoded(body_and_end(data)[0])

    def with_text(self, data: bytes, text: str) -> bytes:
        return text.encode() + body_and_end(data)[1]
