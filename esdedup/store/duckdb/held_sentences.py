"""The sentences of a store that cannot change, held in memory without their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes

_MOST = 5_000_000
_SHARED: WeakValueDictionary[tuple[Path, str], HeldSentences] = WeakValueDictionary()


class HeldSentences:
    """All sentences in the order of their texts, those of one text in reading order. They take about 70 bytes each."""

    def __init__(self, db: Database) -> None:
        read = db.table(
            "SELECT rowid AS row, document::BIGINT AS document, hash, position, revision, timestamp, language "
            "FROM sentences"
        ).combine_chunks()
        order = np.lexsort((read["row"].to_numpy(), read["hash"].to_numpy()))
        self.rows, self.documents, self._hashes = (read[name].to_numpy()[order] for name in ("row", "document", "hash"))
        others = read.select(["position", "revision", "timestamp", "language"])
        languages = others["language"].combine_chunks().dictionary_encode()
        self._others = others.set_column(3, "language", languages).take(pa.array(order))

    def spans(self, texts: Hashes) -> tuple[Numbers, Numbers]:
        """Return where the sentences with each of these texts, given by hash, begin and end."""
        return np.searchsorted(self._hashes, texts), np.searchsorted(self._hashes, texts, "right")

    def numbered(self, places: Numbers) -> list[tuple[Any, ...]]:
        """Return document, position, revision, timestamp, language and hash of sentences."""
        columns = [column.to_pylist() for column in self._others.take(pa.array(places)).columns]
        ends = self.documents[places].tolist(), self._hashes[places].tolist()
        return list(zip(ends[0], *columns, ends[1], strict=True))


def held_sentences(db: Database, store: Path, state: str) -> HeldSentences | None:
    """Return the sentences of a store in this state, shared by all who have it open; None if there are too many."""
    found = _SHARED.get((store, state))
    if found is None and db.count("SELECT count(*) FROM sentences") <= _MOST:
        found = _SHARED.setdefault((store, state), HeldSentences(db))
    return found
