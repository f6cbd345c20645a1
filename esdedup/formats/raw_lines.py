"""The lines of a source as they stand, byte for byte, and numbered as the readers number them."""

from __future__ import annotations

from collections.abc import Iterator

from esdedup.formats.decisions import Decisions
from esdedup.formats.line_blocks import MAX_LINE

_BOM = b"\xef\xbb\xbf"


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
            if piece.startswith(_BOM):
                yield 0, _BOM
                piece = piece.removeprefix(_BOM)
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
