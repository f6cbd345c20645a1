"""What would be lost: sentences of dropped texts that the texts which are kept instead do not have."""

from __future__ import annotations

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


def losses_of(store: Store, near: pa.Table) -> Iterator[tuple[pa.Table, Lost]]:
    """Yield rows of `Verdicts.near` in parts, each with what its texts lose."""
    for begin in range(0, near.num_rows, _PAIRS_AT_ONCE):
        part = near.slice(begin, _PAIRS_AT_ONCE)
        yield part, _lost_of(store, part)


def _lost_of(store: Store, near: pa.Table) -> Lost:
    dropped, kept = near["hash"].to_numpy(), near["kept_hash"].to_numpy()
    hashes = np.unique(np.concatenate([dropped, kept]))
    one, other = np.searchsorted(hashes, dropped), np.searchsorted(hashes, kept)
    return lost_of_texts(store.signing, store.corpus.texts_in_order(hashes).to_pylist(), one, other)


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
    near = verdicts.near()
    lost = [np.empty(0, np.int64), *(each.counts for _, each in losses_of(store, near))]
    ids, of = np.unique(near["cluster"].to_numpy(), return_inverse=True)
    copies = near["copies"].to_numpy()
    dropped, total = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    np.add.at(dropped, of, copies)
    np.add.at(total, of, copies * np.concatenate(lost))
    for place in np.lexsort((ids, -total))[:most].tolist():
        if total[place]:
            rows = near.take(pa.array(np.flatnonzero(of == place)[:_LOOKED_AT]))
            sentences = dict.fromkeys(_lost_of(store, rows).sentences.to_pylist())
            yield {
                "cluster": f"{int(ids[place]):016x}",
                "kept": rows["kept"][0].as_py(),
                "dropped": int(dropped[place]),
                "lost": int(total[place]),
                "sentences": list(sentences)[:_SHOWN],
            }
