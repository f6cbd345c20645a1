"""The names of texts in a store, for matchers that write for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esdedup.columns.hashing import Hashes
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store


class NamesOfTexts:
    """An `esdedup.matching.engine.Naming`."""

    def __init__(self, store: Store) -> None:
        self._corpus = store.corpus

    def hashes(self, ids: Sequence[str]) -> dict[str, int]:
        """See `Naming`."""
        rows = self._corpus.sentences(SentenceQuery(ids=list(ids)))
        return dict(zip(rows["id"].to_pylist(), rows["hash"].to_pylist(), strict=True))

    def ids(self, hashes: Hashes) -> list[str]:
        """See `Naming`."""
        rows = self._corpus.sentences(SentenceQuery(hashes=np.unique(hashes).tolist()))
        first: dict[int, str] = {}
        for value, identity in zip(rows["hash"].to_pylist(), rows["id"].to_pylist(), strict=True):
            first.setdefault(value, identity)
        return [first[int(value)] for value in hashes]
