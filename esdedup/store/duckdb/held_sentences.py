"""The sentences of a store that cannot change, held in memory without their texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from esdedup.store.duckdb.ledger import DamagedError

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes

MOST_HELD = 5_000_000


class HeldSentences:
    """All sentences in the order of their texts, those of one text in reading order. They take about 60 bytes each, and
    three times as much while they are read.
    """

    def __init__(self, db: Database) -> None:
        read = db.table(
            "SELECT rowid AS row, document::BIGINT AS document, hash, position, revision, timestamp, language "
            "FROM sentences"
        ).combine_chunks()
        if read["document"].null_count or read["hash"].null_count:
            raise DamagedError("a sentence has no document or no hash")
        order = np.lexsort((read["row"].to_numpy(), read["hash"].to_numpy()))
        self.documents, self._hashes = (read[name].to_numpy()[order] for name in ("document", "hash"))
        others = read.select(["position", "revision", "timestamp", "language"])
        languages = others["language"].combine_chunks().dictionary_encode()
        self._others = others.set_column(3, "language", languages).take(pa.array(order))

    def spans(self, texts: Hashes) -> tuple[Numbers, Numbers]:
        """Return where the sentences with each of these texts, given by hash, begin and end."""
        return np.searchsorted(self._hashes, texts), np.searchsorted(self._hashes, texts, "right")

    def numbered(self, places: Numbers) -> list[tuple[Any, ...]]:
        """Return document, position, revision, timestamp, language and hash of sentences."""
        columns = [column.to_pylist() for column in self._others.take(pa.array(places)).columns]
        return list(zip(self.documents[places].tolist(), *columns, self._hashes[places].tolist(), strict=True))


_OF_COPIES: WeakValueDictionary[Path, HeldSentences] = WeakValueDictionary()


def held_of_copy(db: Database, copy: Path) -> HeldSentences:
    """Return the sentences of a copy of a store, which all who have it open share."""
    found = _OF_COPIES.get(copy)
    return _OF_COPIES.setdefault(copy, HeldSentences(db)) if found is None else found
