"""Parquet tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.formats.fields import TableFormat
from esdedup.formats.protocol import Walk

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted

_PIECE = 2**18
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class Parquet(TableFormat):
    """Parquet tables. Nested columns have dotted paths. A member that is not a plain file is copied to one."""

    name = "parquet"
    summary = "Parquet tables"
    endings = (".parquet", ".pq")
    stdin_name = "stdin.parquet"

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are rows."""
        from esdedup.formats.parquet_table import ParquetTable

        with member.file(walk.label, _MAGIC) as file, ParquetTable(file, self, walk.label, walk.max_text) as table:
            yield from walk.up_to_limit(table.documents(walk))
            walk.records += table.rows

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """See `Format`."""
        from esdedup.formats.parquet_table import ParquetTable

        with member.file(walk.label, _MAGIC) as file, ParquetTable(file, self, walk.label, walk.max_text) as table:
            yield from table.values(walk.records + 1, columns, wanted)
            walk.records += table.rows

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: schema, metadata, row groups and codecs are kept."""
        from esdedup.formats.parquet_table import ParquetTable

        with member.file(walk.label, _MAGIC) as file:
            table = ParquetTable(file, self, walk.label, walk.max_text)
            if annotate or decisions.next_record <= decisions.record + table.rows:
                yield from table.rewritten(decisions, annotate)
                return
            decisions.record += table.rows
            decisions.stay(table.rows)
            file.seek(0)
            yield from iter(lambda: file.read(_PIECE), b"")
