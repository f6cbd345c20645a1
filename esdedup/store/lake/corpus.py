"""The corpus of a lake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.errors import EngineError, StoreError
from esdedup.formats.reading_options import Part
from esdedup.matching.engine import SIGNATURES, Elsewhere
from esdedup.matching.signing import Signing
from esdedup.store.corpus import ALL
from esdedup.store.duckdb.corpus import FileCorpus
from esdedup.store.duckdb.ledger import FileLedger
from esdedup.store.lake.lake_files import not_searched, only_read
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.naming import SOURCE_GROUPS

_ROWS = 50_000


class LakeCorpus(FileCorpus):
    """Documents and sentences in Parquet files. `parts` are those of sentences, with the source and the first document
    number of each.
    """

    def __init__(
        self, db: Database, ledger: FileLedger, signing: Signing, folder: Path, parts: Sequence[tuple[Path, int, int]]
    ) -> None:
        super().__init__(db, ledger, signing, folder, read_only=True)
        self._folder = folder
        self._parts = parts

    def _refuse(self) -> NoReturn:
        raise StoreError(only_read(self._folder))

    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        self._refuse()

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        self._refuse()

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        self._refuse()

    def holders(self, tokens: pa.Table) -> pa.Table:
        self._db.create("asked", tokens, temporary=True)
        return self._db.table(
            "SELECT DISTINCT token, hash FROM (SELECT unnest(tokens) AS token, hash FROM sentences) "
            "SEMI JOIN asked USING (token)"
        )

    def lookup_behind(self) -> int:
        raise StoreError(not_searched(self._folder))

    def elsewhere(self, across: str) -> Elsewhere:
        groups = dict(self._db.rows(f"SELECT number, group_id FROM ({SOURCE_GROUPS})"))
        slices = [
            partial(_signatures, path, rows, {"any": -1, "documents": first, "sources": groups[source]}[across], across)
            for path, source, first in self._parts
            for rows in range(pq.read_metadata(path).num_row_groups)
        ]
        return Elsewhere(slices, None, [partial(_texts, path) for path, _, _ in self._parts])


def _signatures(path: Path, number: int, group: int, across: str) -> pa.Table:
    """Return some rows of a part, a row group, as `SIGNATURES`. `group` is that of all, or of the first document."""
    rows = _read(path).read_row_group(number, columns=["document", "hash", "length", "tokens"])
    groups: Numbers = np.full(len(rows), group, np.int64)
    if across == "documents":
        groups += rows["document"].to_numpy()
    return rows.append_column("group_id", pa.array(groups)).select(SIGNATURES.names).cast(SIGNATURES)


def _texts(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield rows (hash, text) of all sentences of a part."""
    yield from _read(path).iter_batches(_ROWS, columns=["hash", "text"])


def _read(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise EngineError.unseen(path) from error
