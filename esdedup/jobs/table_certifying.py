"""The certificate of a table in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from esdedup._version import __version__
from esdedup.jobs.certifying import FORMAT, bytes_of, checksum_of
from esdedup.jobs.losses import lost_of_texts
from esdedup.jobs.other_values import FIRST, OtherValues

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.jobs.table_drops import ComparedTable, Drops


def table_certificate(
    source: ComparedTable,
    drops: Drops,
    dropped: list[dict[str, Any]],
    records: dict[str, Any],
    threshold: float,
    merged: Mapping[int, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the certificate of a table: as of files, but with its rows inside. Inputs and outputs are its texts, those
    of outputs after the rows were `merged`.
    """
    before, reason = source.texts.to_pylist(), np.array(drops.reason)
    texts = list(before)
    for row, values in merged.items():
        texts[row] = values.get(str(source.text_column), texts[row])
    differ = np.flatnonzero((reason != "identical") & ((drops.kept >= 0) | (drops.reference >= 0)))
    pairs = [
        (before[row], texts[kept] if kept >= 0 else source.old_texts[reference])
        for row, kept, reference in zip(
            *(column[differ].tolist() for column in (drops.row, drops.kept, drops.reference)), strict=True
        )
    ]
    one = 2 * np.arange(len(pairs))
    lost = lost_of_texts(source.signing, [text for pair in pairs for text in pair], one, one + 1)
    rows = [dict(row) for row in dropped]
    for place, count in zip(differ.tolist(), lost.counts.tolist(), strict=True):
        rows[place]["lost"] = count
    others = OtherValues()
    known = np.flatnonzero((drops.kept >= 0) & np.isin(reason, ("identical", "near")))
    removed, instead = (source.other_values(of[known]) for of in (drops.row, drops.kept))
    for place, record, kept in zip(known.tolist(), removed, instead, strict=False):
        kept |= merged.get(int(drops.kept[place]), {})
        if names := others.add(rows[place]["id"], rows[place]["kept"], record, kept):
            rows[place]["other_values"] = names
    stays = np.ones(len(texts), np.bool_)
    stays[drops.row] = False
    near = np.flatnonzero((reason == "near") & (drops.kept >= 0))
    settings = {"signing": source.signing.described(), "jaccard": threshold, "keep": source.keep.policies.words}
    if source.rules is not None:
        settings["merge"] = source.rules.words
    if source.keep_contradictions:
        settings["keep_contradictions"] = True
    held = {
        "certificate": FORMAT,
        "esdedup": __version__,
        "settings": settings,
        "input": _digest(before, np.arange(len(texts))),
        "output": _digest(texts, np.flatnonzero(stays)),
        "records": records,
        "rows": rows,
        "lost": {
            "rows": int((lost.counts > 0).sum()),
            "sentences": int(lost.counts.sum()),
            "first": [
                {
                    "id": rows[int(differ[pair])]["id"],
                    "kept": rows[int(differ[pair])]["kept"] or rows[int(differ[pair])]["reference"],
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
