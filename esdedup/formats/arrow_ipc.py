"""Arrow tables: IPC files and streams, and Feather."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from esdedup.errors import SourceError, UsageError
from esdedup.formats.fields import TableFormat
from esdedup.formats.protocol import Walk

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted

_FILE, _OLD_FEATHER = b"ARROW1", b"FEA1"
_BEFORE_STREAM = 8  # bytes of a file: what it begins with, padded
_ROWS = 4096
_PIECE = 2**18
_MAGICS = {b"\x04\x22\x4d\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd"}
_LOOKED_AT = 2**20  # bytes, to find out how a table is compressed


@dataclass(frozen=True)
class Arrow(TableFormat):
    """Arrow tables. Nested columns have dotted paths. A member that is not a plain file is copied to one."""

    name = "arrow"
    summary = "Arrow IPC files and streams, Feather"
    endings = (".arrow", ".feather", ".ipc", ".arrows")
    stdin_name = "stdin.arrow"

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are rows."""
        from esdedup.formats.arrow_rows import ArrowRows

        with member.file(walk.label, b"") as file:
            schema, batches, _ = _opened(file, walk.label)
            table, size = ArrowRows(schema, self, walk.label), os.fstat(file.fileno()).st_size
            yield from walk.up_to_limit(self._documents(table, batches, walk, lambda: file.tell() / max(size, 1)))

    def _documents(
        self, table: Any, batches: Iterator[pa.RecordBatch], walk: Walk, share: Callable[[], float]
    ) -> Iterator[pa.RecordBatch]:
        from esdedup.formats.batches import cut

        before = walk.records
        for batch in batches:
            walk.share = min(share(), 1.0)
            for begin in range(0, batch.num_rows, _ROWS):
                part = batch.slice(begin, _ROWS)
                yield from cut(table.documents(part, walk.records - before + 1, walk))
                walk.records += part.num_rows
        walk.share = 1.0

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """See `Format`."""
        from esdedup.formats.arrow_rows import ArrowRows

        with member.file(walk.label, b"") as file:
            schema, batches, _ = _opened(file, walk.label)
            table = ArrowRows(schema, self, walk.label)
            for batch in batches:
                yield from table.values(batch, walk.records + 1, columns, wanted)
                walk.records += batch.num_rows

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: schema, metadata and compression are kept, and whether it is a file or a stream."""
        import pyarrow as pa

        from esdedup.formats.arrow_rows import ArrowRows, Sink

        with member.file(walk.label, b"") as file:
            if not annotate and (rows := _rows_without(file, walk.label, decisions)) is not None:
                decisions.record += rows
                decisions.stay(rows)
                yield from iter(lambda: file.read(_PIECE), b"")
                return
            options = pa.ipc.IpcWriteOptions(compression=_compression(file), emit_dictionary_deltas=True)
            schema, batches, is_file = _opened(file, walk.label)
            table, sink = ArrowRows(schema, self, walk.label), Sink()
            make = pa.ipc.new_file if is_file else pa.ipc.new_stream
            damage: SourceError | None = None
            with make(sink, table.schema(annotate), options=options) as writer:
                try:
                    for batch in batches:
                        kept = table.rewritten(batch, decisions, annotate)
                        if kept.num_rows:
                            _write(writer, kept, walk.label)
                        yield sink.take()
                except SourceError as error:
                    damage = error
            yield sink.take()
            if damage:
                raise damage


def _write(writer: pa.RecordBatchWriter, batch: pa.RecordBatch, label: str) -> None:
    import pyarrow as pa

    try:
        writer.write_batch(batch)
    except pa.ArrowInvalid as error:
        if "Dictionary replacement" not in str(error):
            raise
        raise UsageError(
            f"{label}: an Arrow file has one dictionary for all its batches, which changed texts are not in; use "
            "--unit record, or write the column as strings, or the file as a stream"
        ) from error


def _opened(file: BinaryIO, label: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch], bool]:
    """Return the schema of a table, its batches, and whether it is a file and no stream."""
    import pyarrow as pa

    from esdedup.formats.arrow_rows import damage_of

    magic = file.read(len(_FILE))
    file.seek(0)
    if magic.startswith(_OLD_FEATHER):
        raise SourceError(f"{label}: is Feather of version 1; write it again with a library that writes version 2")
    with damage_of(label, "Arrow"):
        is_file, damage = magic == _FILE, None
        try:
            reader: Any = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        except pa.ArrowInvalid as error:
            if not is_file:
                raise
            # a file that is cut has no footer; what stands before it is a stream
            file.seek(_BEFORE_STREAM)
            reader, damage = pa.ipc.open_stream(file), error

    def batches() -> Iterator[pa.RecordBatch]:
        numbers = iter(range(reader.num_record_batches)) if is_file and not damage else None
        while True:
            with damage_of(label, "Arrow"):
                try:
                    batch = reader.read_next_batch() if numbers is None else reader.get_batch(next(numbers))
                except StopIteration:
                    if damage:
                        raise damage from None
                    return
                batch.validate(full=True)
            yield batch

    return reader.schema, batches(), is_file


def _rows_without(file: BinaryIO, label: str, decisions: Decisions) -> int | None:
    """Return the number of rows of a table in which there is nothing to decide; None if there is, or damage."""
    rows: int | None = None
    with suppress(SourceError):
        rows = sum(batch.num_rows for batch in _opened(file, label)[1])
        rows = None if decisions.next_record <= decisions.record + rows else rows
    file.seek(0)
    return rows


def _compression(file: BinaryIO) -> str | None:
    """Return how a table is compressed: by the bytes that its buffers begin with, behind their length."""
    head = file.read(_LOOKED_AT)
    file.seek(0)
    starts = (head[at : at + 4] for at in range(8, len(head), 8))
    return next((_MAGICS[start] for start in starts if start in _MAGICS), None)
