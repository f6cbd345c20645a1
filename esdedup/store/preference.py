"""Which copy of a text in a store, and which of the texts that resemble each other, is preferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.cuts import roots, unite
from esdedup.columns.hashing import Hashes
from esdedup.keeping.many_texts import keys_of_texts
from esdedup.keeping.protocol import Policies, TextPolicy
from esdedup.keeping.ranking import rank_copies
from esdedup.store.corpus import COPIES
from esdedup.store.store import Store

if TYPE_CHECKING:
    from esdedup.keeping.protocol import Keys

Values: TypeAlias = "dict[int, Keys]"
"""By number of the source: the keys of its records, by their number."""


@dataclass
class Preference:
    """The policies, and what they need to know of a store's records. Without `values`, columns decide nothing."""

    store: Store
    policies: Policies
    values: Mapping[str, Values] = field(default_factory=dict)
    _hashes: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    _text_keys: list[Keys] = field(default_factory=list)

    def order(self, hashes: Hashes, groups: Numbers | None = None) -> Numbers:
        """Return the indices of texts, given by their sorted hashes, the preferred one first: each by the best of its
        copies. Texts of one of the `groups` (n,) resemble each other; without these, what is known of texts is kept.
        """
        if groups is not None:
            self._read_texts(hashes, groups)
        copies = pa.Table.from_batches(list(self.store.corpus.copies(pa.table({"hash": hashes}))), COPIES)
        keys = self.keys(copies)
        rank = rank_copies(keys, copies["document"].to_numpy(), copies["position"].to_numpy())
        best = np.full(len(hashes), len(rank))
        np.minimum.at(best, np.searchsorted(hashes, copies["hash"].to_numpy()), rank)
        return np.argsort(best)

    def keys(self, copies: pa.Table | pa.RecordBatch) -> list[Keys]:
        """Return the keys of sentences (columns of `COPIES`) by policy."""
        texts = iter(self._text_keys)
        found = []
        for policy in self.policies.deciding:
            if isinstance(policy, TextPolicy):
                found.append(self._of_texts(next(texts), copies["hash"].to_numpy()))
            elif policy.reads == "source":
                found.append(copies["file"].to_numpy().astype(np.float64))
            else:
                found.append(self._of_records(policy.words, copies))
        return found

    def prepare(self) -> None:
        """Work out the keys of texts, unless this is done: those of the store's last scan."""
        wanted = any(isinstance(policy, TextPolicy) for policy in self.policies.deciding)
        if not wanted or self._text_keys:
            return
        ends = [np.empty((0, 2), np.uint64)]
        for batch in self.store.results.pair_hashes():
            ends.append(np.stack([batch["a"].to_numpy(), batch["b"].to_numpy()], axis=1))
        pairs = np.concatenate(ends)
        hashes, places = np.unique(pairs, return_inverse=True)
        parent = np.arange(len(hashes), dtype=np.int32)
        a, b = places.reshape(-1, 2).T
        unite(parent, a.copy(), b.copy())
        self._read_texts(hashes, roots(parent, np.arange(len(hashes))))

    def _read_texts(self, hashes: Hashes, groups: Numbers) -> None:
        wanted = [policy for policy in self.policies.deciding if isinstance(policy, TextPolicy)]
        if not wanted:
            return
        self._hashes = hashes
        self._text_keys = keys_of_texts(wanted, groups, lambda rows: self.store.corpus.texts_of(hashes[rows]))

    def _of_texts(self, keys: Keys, hashes: Hashes) -> Keys:
        if not len(self._hashes):
            return np.zeros(len(hashes))
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[at] == hashes, keys[at], 0.0)

    def _of_records(self, words: str, copies: pa.Table | pa.RecordBatch) -> Keys:
        values = self.values.get(words, {})
        file, place = copies["file"].to_numpy(), copies["place"].to_numpy()
        found = np.full(len(file), np.nan)
        for number, keys in values.items():
            here = np.flatnonzero((file == number) & (place < len(keys)))
            found[here] = keys[place[here]]
        return found
