"""Documents that a store holds as they are read again: they are not cleaned, split, signed and stored once more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.columns.hashing import Hashes, content_hashes

_ODD = np.uint64(0x9E3779B97F4A7C15)
_DATED = ("revision", "timestamp", "contributor")


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Which rows of a batch are unchanged, and for those: their units before any filter, and which of these were not
    kept, as short ones and as long ones.
    """

    rows: Flags
    units: Numbers
    short: Numbers
    long: Numbers


class KnownDocuments:
    """The documents of a source that are stored, of each the one that was read first.

    Args:
        stored: Rows of `esdedup.store.schemas.KNOWN`.
        begun: Keys of those that the present run has read already.
    """

    def __init__(self, stored: Iterable[pa.RecordBatch], begun: pa.Array) -> None:
        keys, marks = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        counts = [np.empty((3, 0), np.int32)]
        for batch in stored:  # what is not kept of millions of rows takes no memory
            keys.append(_hashed(batch["key"]))
            marks.append(_marks(batch, batch["content"].to_numpy()))
            counts.append(np.stack([batch[name].to_numpy() for name in ("units", "short", "kept")]))
        self._keys, first = np.unique(np.concatenate(keys), return_index=True)
        self._marks = np.concatenate(marks)[first]
        self._counts = np.concatenate(counts, axis=1)[:, first]
        self._taken = np.zeros(len(self._keys), np.bool_)
        self._find(_hashed(begun))

    def __bool__(self) -> bool:
        return len(self._keys) > 0

    def unchanged(self, batch: pa.RecordBatch, contents: Hashes) -> Unchanged | None:
        """Return which rows of a batch (schema `DOCUMENTS`) are unchanged; None if there is none.

        `contents` are the hashes of `RevisionDelta`. Of rows with one id, only the first one of a run may be unchanged.
        """
        places, new = self._find(_hashed(batch["id"]))
        rows = new & (self._marks[places] == _marks(batch, contents)) if len(self._keys) else new
        if not rows.any():
            return None
        units, short, kept = self._counts[:, places[rows]].astype(np.int64)
        return Unchanged(rows, units, short, units - short - kept)

    def _find(self, keys: Hashes) -> tuple[Numbers, Flags]:
        """Return where the keys are, and which are there and were not asked for before."""
        places = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        there = self._keys[places] == keys if len(self._keys) else np.zeros(len(keys), np.bool_)
        _, first = np.unique(keys, return_index=True)
        new: npt.NDArray[np.bool_] = np.zeros(len(keys), np.bool_)
        new[first] = True
        if len(self._keys):
            new &= there & ~self._taken[places]
            self._taken[places[there]] = True
        return places, new


def _marks(batch: pa.RecordBatch, contents: Hashes) -> Hashes:
    """Return a hash of what is stored of each document: its content, and the revision that it is of."""
    marks = contents
    for name in _DATED:
        values = _hashed(batch[name].cast(pa.string()).fill_null(""))
        marks = (marks ^ values) * _ODD
    return marks


def _hashed(column: pa.Array) -> Hashes:
    return np.asarray(content_hashes(*text_buffers(pc.cast(column, pa.large_string()))))
