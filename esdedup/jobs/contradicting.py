"""Removed texts that state another fact than the kept one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from esdedup.analysis.other_facts import state_other_facts
from esdedup.store.store import Store

_PAIRS_AT_ONCE = 20_000


def contradicted(store: Store, near: pa.Table) -> pa.Table:
    """Return rows of `Verdicts.near` whose text states another fact than the kept one, by the measure of `drift`."""
    found = [near.slice(0, 0)]
    names = _names_of(store, near)
    for begin in range(0, near.num_rows, _PAIRS_AT_ONCE):
        part = near.slice(begin, _PAIRS_AT_ONCE)
        sides = (_side(store, names, part[text], part[document])
                 for text, document in (("hash", "document"), ("kept_hash", "kept_document")))  # fmt: skip
        found.append(part.filter(pa.array(state_other_facts(*sides))))
    return pa.concat_tables(found)


def _names_of(store: Store, near: pa.Table) -> pa.Table:
    """Return number, id and title of the documents of these texts, by number."""
    needed = np.unique(np.concatenate([near[name].to_numpy() for name in ("document", "kept_document")]))
    found = [
        batch.filter(pa.array(np.isin(batch["group_id"].to_numpy(), needed))).select(["group_id", "id", "title"])
        for batch in (store.corpus.groups("documents") if len(needed) else ())
    ]
    return pa.Table.from_batches(found).sort_by("group_id") if found else near


def _side(store: Store, names: pa.Table, hashes: pa.ChunkedArray, documents: pa.ChunkedArray) -> pa.Table:
    rows = names.take(pa.array(np.searchsorted(names["group_id"].to_numpy(), documents.to_numpy())))
    texts = store.corpus.texts_of(hashes.to_numpy())
    return pa.table({"text": texts, "document": documents, "id": rows["id"], "title": rows["title"]})
