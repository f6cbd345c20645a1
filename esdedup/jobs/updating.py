"""Update pairs and clusters after documents were added or removed, without a full scan.

A pair can have been added, removed or changed only in these cases: one of its texts was added or removed; one has moved
to another document or source (with `--across`); or it was found in a hot group, where each text is compared only with
its neighbours, and the group has changed. All these texts are *stale*. Their pairs are found again, among everything
that shares a token with them. Then every cluster that contains such a text or pair is made again from its pairs.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.engines.cluster_tables import collapse
from esdedup.jobs.scanning import classifier_of, cluster_pairs, find_pairs, named_pairs, warn_of_hot_tokens
from esdedup.jobs.scratch import scratch_database
from esdedup.matching.groups import NO_TOKEN, token_matrix
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.resources import Resources
from esdedup.store.schemas import PAIRS
from esdedup.store.store import Store


class _Changes(NamedTuple):
    """The changes, and the texts that they make stale."""

    changed: Hashes  # every text with other sentences than at the last scan
    stale: Hashes  # texts whose pairs are found again
    gone: Hashes  # texts that no longer exist
    near: Hashes  # texts that share a token with a stale one
    texts: int  # more than at the last scan
    collisions: int  # the same
    hot_tokens: int  # the same
    only_new: bool  # whether nothing but new texts is stale or gone


def update_results(
    store: Store, changed: pa.Table, scanned: dict[str, Any], resources: Resources, *, quiet: bool
) -> dict[str, float]:
    """Update the results of the last scan for the texts `changed`. Return seconds by stage.

    `scanned` is that scan's summary.
    """
    scanning = Scanning.from_described(scanned["scanning"])
    signer = TextSigner(store.signing)
    clock = time.perf_counter()
    with scratch_database(store, scanning, resources, sentences=0) as scratch:
        changes = _changes(store, changed, scanning)
        near, stale = _column(changes.near), _column(changes.stale)
        found = find_pairs(store, scratch, scanning, resources, "update", quiet=quiet, near=near, stale=stale)
        warn_of_hot_tokens(found)
        pairs = pa.Table.from_batches(list(named_pairs(scratch, scanning)), PAIRS)
        outdated = np.union1d(changes.stale, changes.gone)
        ends = [pairs[end].to_numpy() for end in ("a", "b")]
        seeds = np.unique(np.concatenate([changes.changed, outdated, *ends]))
        affected, old_pairs = store.results.closure(_column(seeds))
        valid = pc.invert(pc.or_(*(pc.is_in(old_pairs[end], pa.array(outdated)) for end in ("a", "b"))))
        kept = old_pairs.filter(valid).select(PAIRS.names).cast(PAIRS)
        _load(scratch, store, scanning, affected, pa.concat_tables([kept, pairs]))
        clusters = cluster_pairs(store, scratch, scanning, resources, signer)
        counts = scanned["counts"]
        candidates = counts["candidates"]
        if candidates is not None:
            candidates = candidates + found.candidates if changes.only_new else None
        summary = {
            "scanning": scanned["scanning"],
            "counts": {
                "distinct_sentences": counts["distinct_sentences"] + changes.texts,
                "collisions": counts["collisions"] + changes.collisions,
                "candidates": candidates,
            },
            "hot_tokens": scanned["hot_tokens"] + changes.hot_tokens,
        }
        meaning = classifier_of(scanning)
        store.results.merge(_column(outdated), pairs, affected, clusters, summary, meaning)
    return {"update": time.perf_counter() - clock}


def _changes(store: Store, changed: pa.Table, scanning: Scanning) -> _Changes:
    hashes: Hashes = changed["hash"].to_numpy()
    existed, exists = (changed[name].to_numpy().astype(np.bool_) for name in ("existed", "exists"))
    tokens = token_matrix(changed["tokens"], store.signing.tokens)
    arrived, gone = exists & ~existed, existed & ~exists
    # if group_ids do not matter, another copy of a text changes no pair
    stale = exists if scanning.across != "any" else arrived
    known = np.unique(_held(tokens[stale | gone]))
    holders = store.corpus.holders(pa.table({"token": known}))
    token, holder = holders["token"].to_numpy(), holders["hash"].to_numpy()
    now = _counts(known, token)
    then = now - _counts(known, _held(tokens[arrived])) + _counts(known, _held(tokens[gone]))
    hot = known[np.maximum(now, then) > HOT_LIMIT]
    all_stale = np.union1d(hashes[stale], holder[np.isin(token, hot)])
    if len(hot):
        signed = store.corpus.signatures_of("any", _column(all_stale))
        of_these = np.unique(_held(token_matrix(signed["tokens"], store.signing.tokens)))
        holders = store.corpus.holders(pa.table({"token": of_these}))
        holder = holders["hash"].to_numpy()
    return _Changes(
        hashes,
        all_stale,
        hashes[gone],
        np.union1d(holder, all_stale),
        int(arrived.sum() - gone.sum()),
        int((now >= 2).sum() - (then >= 2).sum()),
        int((now > HOT_LIMIT).sum() - (then > HOT_LIMIT).sum()),
        len(all_stale) == arrived.sum() and not gone.any(),
    )


def _held(tokens: Tokens) -> Numbers:
    return np.extract(tokens != NO_TOKEN, tokens)


def _counts(known: Numbers, tokens: Numbers) -> Numbers:
    """Count how often each of the sorted `known` tokens occurs in `tokens`, all of which are known."""
    return np.bincount(np.searchsorted(known, tokens), minlength=len(known))


def _load(scratch: Database, store: Store, scanning: Scanning, affected: pa.Table, pairs: pa.Table) -> None:
    """Load the affected texts and all their pairs into the tables of `scratch` that clusters are made of."""
    scratch.create("signatures", store.corpus.signatures_of(scanning.across, affected))
    collapse(scratch)
    scratch.create("named_pairs", pairs)
    scratch.execute(
        "CREATE OR REPLACE TABLE pairs AS SELECT one.number AS a, two.number AS b, p.jaccard FROM named_pairs p "
        "JOIN texts one ON one.hash = p.a JOIN texts two ON two.hash = p.b"
    )


def _column(hashes: Hashes) -> pa.Table:
    return pa.table({"hash": hashes})
