"""What would be lost: sentences of dropped texts that the texts which are kept instead do not have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers, text_buffers
from esdedup.columns.hashing import content_hashes, within
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.output.drops import Verdicts
from esdedup.store.store import Store
from esdedup.text.segment import segment

_SHOWN = 3
"""Lost sentences of a cluster that are shown,"""
_LOOKED_AT = 100
"""and dropped texts of it that are looked at for these."""
_PAIRS_AT_ONCE = 20_000


class Lost(NamedTuple):
    """Of pairs of texts: how many sentences of the first the second does not have, (n,), and the lost ones: the pair of
    each, and its text.
    """

    counts: Numbers
    pair: Numbers
    sentences: pa.LargeStringArray


def losses_of(store: Store, differing: pa.Table, text_columns: Sequence[str] = ()) -> Iterator[tuple[pa.Table, Lost]]:
    """Yield rows of `Verdicts.differing` in parts, each with what its texts lose. A merge may have changed kept texts,
    which stand in one of these columns.
    """
    for begin in range(0, differing.num_rows, _PAIRS_AT_ONCE):
        part = differing.slice(begin, _PAIRS_AT_ONCE)
        yield part, _lost_of(store, part, text_columns)


def _lost_of(store: Store, differing: pa.Table, text_columns: Sequence[str]) -> Lost:
    dropped, kept = differing["hash"].to_numpy(), differing["kept_hash"].fill_null(0).to_numpy()
    stored = np.unique(np.concatenate([dropped, kept[differing["kept_hash"].is_valid().to_numpy()]]))
    texts = store.corpus.texts_in_order(stored).to_pylist()
    one, other = np.searchsorted(stored, dropped), np.searchsorted(stored, kept)
    instead = [
        reference if reference is not None else _merged(changes, text_columns)
        for reference, changes in zip(
            differing["reference_text"].to_pylist(), differing["changes"].to_pylist(), strict=True
        )
    ]
    for row in (row for row, text in enumerate(instead) if text is not None):
        other[row] = len(texts)
        texts.append(instead[row])
    return lost_of_texts(store.signing, texts, one, other)


def _merged(changes: str | None, text_columns: Sequence[str]) -> str | None:
    """Return the text that a merge made."""
    found = json.loads(changes) if changes else {}
    return next((found[name] for name in text_columns if isinstance(found.get(name), str)), None)


def lost_of_texts(signing: Signing, texts: Sequence[str], one: Numbers, other: Numbers) -> Lost:
    """Compare the sentences of texts with those of others, both given by their places among `texts`. They are compared
    in the form in which texts are signed: case and punctuation count only if they do there.
    """
    units = segment(texts, signing.splitting._replace(unit="sentence"))
    forms = TextSigner(signing).normalized(units.texts)
    keys = content_hashes(*text_buffers(forms))
    ends = np.concatenate(([0], np.cumsum(np.bincount(units.document, minlength=len(texts)))))
    there = np.sort(within(keys, units.document))
    counts = ends[one + 1] - ends[one]
    pair = np.repeat(np.arange(len(one)), counts)
    sentence = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(ends[one], counts)
    asked = within(keys[sentence], other[pair])
    at = np.minimum(np.searchsorted(there, asked), max(len(there) - 1, 0))
    lost = np.flatnonzero(there[at] != asked) if len(there) else np.empty(0, np.int64)
    found = np.bincount(pair[lost], minlength=len(one))
    return Lost(found, pair[lost], units.texts.take(pa.array(sentence[lost])))


def worst_losses(store: Store, verdicts: Verdicts, most: int) -> Iterator[dict[str, Any]]:
    """Yield the clusters by which most would be lost, the worst first, as rows of `Loss`."""
    near = verdicts.differing()
    lost = [np.empty(0, np.int64), *(each.counts for _, each in losses_of(store, near))]
    ids, of = np.unique(near["cluster"].to_numpy(), return_inverse=True)
    copies = near["copies"].to_numpy()
    dropped, total = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    np.add.at(dropped, of, copies)
    np.add.at(total, of, copies * np.concatenate(lost))
    for place in np.lexsort((ids, -total))[:most].tolist():
        if total[place]:
            rows = near.take(pa.array(np.flatnonzero(of == place)[:_LOOKED_AT]))
            sentences = dict.fromkeys(_lost_of(store, rows, ()).sentences.to_pylist())
            yield {
                "cluster": f"{int(ids[place]):016x}",
                "kept": rows["kept"][0].as_py(),
                "dropped": int(dropped[place]),
                "lost": int(total[place]),
                "sentences": list(sentences)[:_SHOWN],
            }
