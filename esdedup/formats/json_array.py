"""JSON files: an array of objects, or objects one after another, read and written one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from esdedup.errors import SourceError
from esdedup.formats.encoding import EncodedText
from esdedup.formats.jsonl import JsonObjects
from esdedup.formats.line_format import BOM, decoded
from esdedup.formats.protocol import Walk
from esdedup.formats.text_limit import too_large

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted

_BLANK = b" \t\r\n"
_BLOCK = 2**20


@dataclass(frozen=True)
class Json(EncodedText, JsonObjects):
    """An array of objects, or objects one after another. Columns are those of JSON Lines; the number is the id."""

    name = "json"
    summary = "a JSON array of objects"
    endings = (".json",)
    stdin_name = "stdin.json"

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are the values of the array."""
        from esdedup.formats.batches import collect

        values = Values(self.as_utf8(member.pieces, walk.label), walk.max_text, walk.label)
        yield from walk.up_to_limit(collect(self.rows(_readable(values, walk.skips), walk, "value")))
        walk.records += values.number

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: kept values unchanged, with the commas and line ends between them."""
        rewrite = partial(self._rewritten, walk=walk, decisions=decisions, annotate=annotate)
        return self.rewritten(member.pieces, walk.label, rewrite)

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """See `Format`."""
        records = self.records(walk.label, annotate=False)
        values = Values(self.as_utf8(member.pieces, walk.label), walk.max_text, walk.label)
        for part in values:
            if part.number and wanted.takes(walk.records + part.number):
                yield walk.records + part.number, records.values(part.data, columns)
        walk.records += values.number

    def _rewritten(self, pieces: Iterator[bytes], walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        records, before = self.records(walk.label, annotate), decisions.record
        values = Values(pieces, decisions.max_text, walk.label)
        waiting = b""  # what stood behind the last value that was written: in an array only if another one follows
        parts = iter(values)
        while True:
            try:
                part = next(parts, None)
            except SourceError:
                if values.in_array:
                    yield b"\n]\n"
                raise
            if part is None:
                break
            if not part.number:
                yield part.data if values.in_array else waiting + part.data
                waiting = b""
                continue
            record, data = before + part.number, part.data
            if annotate:
                data = records.annotated(data, decisions.note(record)) or data
            elif drops := decisions.drops(record):
                left = decisions.left(records.text(data) if decisions.needs_text else None, drops)
                if left is None:
                    continue
                data = records.with_text(data, left)
            else:
                decisions.stay()
                data = records.with_values(data, decisions.values) if decisions.values else data
            yield waiting
            yield data
            waiting = part.behind
        decisions.record = before + values.number


class Part(NamedTuple):
    """A value with its number from 1, and what stands behind it; or other bytes, with the number 0."""

    number: int
    data: bytes
    behind: bytes = b""


class Values:
    """Iterates once over the parts of a JSON text. `number` is that of the last value.

    Raise `SourceError` for an array without an end, after the values before it.
    """

    def __init__(self, pieces: Iterator[bytes], most: int, label: str) -> None:
        self.number = 0
        self.in_array = False
        self._pieces = pieces
        self._most = most
        self._label = label

    def __iter__(self) -> Iterator[Part]:
        import numpy as np

        from esdedup.formats.json_scan import find_values

        data = b""
        for piece in self._pieces:
            data += piece
            if data.removeprefix(BOM).lstrip(_BLANK):
                break
        start = len(data) - len(data.removeprefix(BOM).lstrip(_BLANK))
        self.in_array = data[start : start + 1] == b"["
        start += self.in_array
        yield Part(0, data[:start])
        data = data[start:]
        state: npt.NDArray[np.int64] = np.array([0, 0, 0, -1, 0], np.int64)
        last: tuple[int, int] | None = None  # what stands behind a value ends where the next one begins
        scanned = 0
        while True:
            for begin, end in find_values(np.frombuffer(data, np.uint8), scanned, state, self.in_array).tolist():
                yield self._value(data, *last, begin) if last else Part(0, data[:begin])
                last = begin, end
            try:
                piece = b"" if state[4] else next(self._pieces, b"")
            except SourceError:
                if last:
                    yield self._value(data, *last, last[1])
                raise
            if not piece:
                break
            scanned, keep = len(data), last[0] if last else 0
            data, scanned = data[keep:] + piece, scanned - keep
            last = last and (0, last[1] - keep)
            state[3] -= keep if state[3] >= 0 else 0
            if scanned > 4 * self._most + _BLOCK:
                raise SourceError(
                    f"{self._label}: value {self.number + 2} has more than {scanned // 2:,} bytes; everything before "
                    "it was read; increase --memory and --max-text, or repair the file"
                )
        yield from self._end(data, last, state)

    def _value(self, data: bytes, begin: int, end: int, following: int) -> Part:
        self.number += 1
        return Part(self.number, data[begin:end], data[end:following])

    def _end(self, data: bytes, last: tuple[int, int] | None, state: npt.NDArray[np.int64]) -> Iterator[Part]:
        """Yield the last value, and what stands behind it. `state` is that of the scan at the end of the data."""
        depth, inside, _, begin, closed = state.tolist()
        if last:
            yield self._value(data, *last, last[1])
        if closed if self.in_array else not (depth or inside):
            if begin >= 0:  # a number, or a word, at the very end
                yield self._value(data, begin, len(data), len(data))
                last = begin, len(data)
            behind = data[last[1] if last else 0 :] + b"".join(self._pieces)
            yield Part(0, behind)
            if not self.in_array or not behind.strip(_BLANK + b",").removeprefix(b"]").strip(_BLANK):
                return
            raise SourceError(f"{self._label}: has more behind the end of its array, after value {self.number}")
        raise SourceError(
            f"{self._label}: ends inside {'its array' if self.in_array else 'a value'}, after value {self.number}; "
            "everything before that was read; download or create the file again"
        )


def _readable(values: Values, skips: Skips) -> Iterator[tuple[int, str]]:
    """Yield the values that can be read, with their numbers."""
    for number, data, _ in values:
        if not number:
            continue
        if too_large(data, values._most):
            skips.add("too_long_field", f"value {number}")
        elif (text := decoded(data)) is None:
            skips.add("bad_utf8", f"value {number}")
        else:
            yield number, text
