"""The certificate of a table in memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from esdedup._version import __version__
from esdedup.jobs.certifying import FIRST, FORMAT, bytes_of, checksum_of
from esdedup.jobs.losses import lost_of_texts
from esdedup.jobs.other_values import OtherValues

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.jobs.table_drops import ComparedTable, Drops


def table_certificate(
    source: ComparedTable, drops: Drops, dropped: list[dict[str, Any]], records: dict[str, Any], threshold: float
) -> dict[str, Any]:
    """Return the certificate of a table: as of files, but with its rows inside. Inputs and outputs are its texts."""
    near = np.flatnonzero((np.array(drops.reason) == "near") & (drops.kept >= 0))
    texts = source.texts.to_pylist()
    both, places = np.unique(np.concatenate([drops.row[near], drops.kept[near]]), return_inverse=True)
    one, two = places.reshape(2, -1)
    lost = lost_of_texts(source.signing, [texts[row] for row in both.tolist()], one, two)
    rows = [dict(row) for row in dropped]
    for place, count in zip(near.tolist(), lost.counts.tolist(), strict=True):
        rows[place]["lost"] = count
    others = OtherValues()
    known = np.flatnonzero((drops.kept >= 0) & np.isin(drops.reason, ("identical", "near")))
    removed, instead = (source.other_values(of[known]) for of in (drops.row, drops.kept))
    for place, record, kept in zip(known.tolist(), removed, instead, strict=False):
        if names := others.add(rows[place]["id"], rows[place]["kept"], record, kept):
            rows[place]["other_values"] = names
    stays = np.ones(len(texts), np.bool_)
    stays[drops.row] = False
    held = {
        "certificate": FORMAT,
        "esdedup": __version__,
        "settings": {"signing": source.signing.described(), "jaccard": threshold, "keep": source.keep.policies.words},
        "input": _digest(texts, np.arange(len(texts))),
        "output": _digest(texts, np.flatnonzero(stays)),
        "records": records,
        "rows": rows,
        "lost": {
            "rows": int((lost.counts > 0).sum()),
            "sentences": int(lost.counts.sum()),
            "first": [
                {
                    "id": rows[int(near[pair])]["id"],
                    "kept": rows[int(near[pair])]["kept"],
                    "sentences": lost.sentences.filter(pa.array(lost.pair == pair)).to_pylist(),
                }
                for pair in np.flatnonzero(lost.counts)[:FIRST].tolist()
            ],
            **others.described(),
        },
        "contradictions": int(source.contradict(drops.row[near], drops.kept[near]).sum()),
    }
    return held | {"checksum": checksum_of(held)}


def _digest(texts: list[str | None], rows: Numbers) -> dict[str, Any]:
    digest = hashlib.sha256()
    for row in rows.tolist():
        digest.update(bytes_of(texts[row] or ""))
    return {"rows": len(rows), "sha256": digest.hexdigest()}
