"""What a scan has found: why two sentences match, and clusters."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from esdedup.errors import StoreError, UsageError
from esdedup.files import as_word
from esdedup.jobs.preconditions import Address, require_committed
from esdedup.keeping.protocol import CLEAN, split_policies
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.matching.units import UNITS
from esdedup.matching.verify.compare import compare, diff_words
from esdedup.options import shown_value
from esdedup.output.earlier_runs import changes
from esdedup.output.records_beside import texts_and_groups
from esdedup.resources import available_cores
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.registry import open_store
from esdedup.store.schemas import SHOWN
from esdedup.store.store import Store
from esdedup.text.segment import segment
from esdedup.text.splitting import CODE, Splitting

log = logging.getLogger("esdedup")

_NAMES = SHOWN.names


def explanation(store: Store, a: str, b: str) -> dict[str, Any]:
    """Return why the sentences with the ids `a` and `b` did or did not match. After a scan with candidates by
    agreement, also `values_agreeing` of their signatures. Raise `StoreError` for an unknown id.
    """
    rows = {}
    for identity in (a, b):
        row = store.corpus.sentence(storable(identity))
        if row is None:
            whole = store.signing.splitting.whole
            unit, advice = ("record", "; of several sources, ids are SOURCE/ID") if whole else ("sentence", "")
            raise StoreError(
                f"{store.address}: no {unit} {identity}; it was never read, or it is too short or too long{advice}"
            )
        rows[identity] = row
    one, two = rows[a], rows[b]
    signer = TextSigner(store.signing)
    there = compare(signer, one["text"], pa.array([two["text"]], pa.large_string()))
    back = compare(signer, two["text"], pa.array([one["text"]], pa.large_string()))
    last = store.ledger.last_scanning()
    scanning = Scanning(jaccard=threshold(store)) if last is None else Scanning.from_described(last)
    evidence = _Evidence(store, signer, one, two)
    kinds = signer.views(pa.array([one["text"], two["text"]], pa.large_string())).kind.tolist()
    jaccard, distance = float(there.jaccard[0]), int(there.word_edit_distance[0])
    answer = {
        "a": {name: one[name] for name in _NAMES},
        "b": {name: two[name] for name in _NAMES},
        "identical": one["text"] == two["text"],
        "shared_tokens": int(there.shared_tokens[0]),
        "tokens": store.signing.signer.tokens,
        "chance": round(store.signing.signer.chance(jaccard), 6),
        "shingle": str(signer.kinds[min(kinds)]),
        "shingles": [str(signer.kinds[kind]) for kind in kinds],
        "jaccard": round(jaccard, 6),
        "containment": [round(float(there.containment[0]), 6), round(float(back.containment[0]), 6)],
        "word_edit_distance": distance,
        "thresholds": {
            "jaccard": scanning.jaccard if scanning.verifier.threshold == "jaccard" else None,
            "word_edit_distance": scanning.word_edit_distance,
        },
        **scanning.matcher.measures(signer, one["text"], two["text"], evidence),
    }
    if scanning.keep is not None and CLEAN in dict(split_policies(scanning.keep)):
        from esdedup.keeping.clean import damage_of

        answer["damage"] = damage_of(pa.array([one["text"], two["text"]], pa.large_string()))
    same = _verdict_of_groups(answer["identical"], scanning.across, evidence)
    answer["verdict"] = same or scanning.matcher.explain(answer, scanning, evidence)
    return answer | {"diff": diff_words(one["text"], two["text"])}


def _verdict_of_groups(identical: bool, across: str, evidence: _Evidence) -> str:
    """Return the verdict on two texts if it does not depend on the matcher, otherwise an empty text."""
    if evidence.in_one_group(across):
        what = "identical texts in" if identical else "not a pair: both stand in"
        return f"{what} one {across.removesuffix('s')} alone, and the scan was across {across}"
    return "identical texts: members of one cluster" if identical else ""


class _Evidence:
    """What the store knows of two of its sentences; an `esdedup.matching.protocol.Evidence`."""

    def __init__(self, store: Store, signer: TextSigner, one: dict[str, Any], two: dict[str, Any]) -> None:
        self._store = store
        self._signer = signer
        self._texts = [one["text"], two["text"]]
        self._hashes = pa.table({"hash": pa.array(sorted({one["hash"], two["hash"]}), pa.uint64())})

    def in_one_group(self, across: str) -> bool:
        """Whether all sentences of both texts are in one document or source: such texts are never compared."""
        return across != "any" and len(self._store.corpus.signatures_of(across, self._hashes)["group_id"].unique()) == 1

    def pair(self) -> dict[str, Any] | None:
        """The two texts as a pair of the last scan, if they are one."""
        rows = [row for batch in self._store.results.pair_hashes(self._hashes) for row in batch.to_pylist()]
        return rows[0] if rows else None

    def learned(self) -> dict[str, Any] | None:
        """What the matcher of the last scan learned."""
        found: dict[str, Any] | None = (self._store.results.last_scan() or {}).get("learned")
        return found

    def texts(self) -> pa.Table:
        """All texts, one row for each sentence: hash, group_id and text."""
        return texts_and_groups(self._store)

    def all_hot(self) -> bool:
        """Whether the texts share tokens, and all of those are hot."""
        tokens = self._signer.tokens(self._signer.views(pa.array(self._texts, pa.large_string())))
        shared = tokens[0][(tokens[0] == tokens[1]) & (tokens[0] != NO_TOKEN)]
        held = self._store.corpus.holders(pa.table({"token": shared}))["token"].to_numpy()
        return len(shared) > 0 and all((held == token).sum() > HOT_LIMIT for token in shared)


def cluster_rows(store: Address | Store, query: ClusterQuery, since: Address | None) -> Iterator[dict[str, Any]]:
    """Yield the clusters of a query with their members. With `since`, the folder of an earlier run's results, only new,
    grown or gone clusters, each with its `change` and how many sentences with its texts were clustered `before`.
    """
    with opened_results(store) if query.kind is None else opened_kinds(store) as opened:
        check_language(opened, query.language)
        if since is None:
            yield from opened.results.cluster_rows(query)
        else:
            every = replace(query, limit=None)
            yield from islice(changes(opened, Path(since), every), query.limit)


def known_language(lang: str | None) -> str | None:
    """Return a language as stores name it. Raise `UsageError` if this is not a code."""
    if lang is None:
        return None
    if not (isinstance(lang, str) and re.fullmatch(CODE, lang)):
        raise UsageError(f"lang is {shown_value(lang)}; give a language code such as en, de or zh")
    return lang


def check_language(store: Store, lang: str | None) -> None:
    """Say if no sentence is in a language, and which there are."""
    if lang is not None and lang not in (known := store.corpus.languages()):
        log.warning("%s: no sentence is in %s; there are %s", store.address, lang, ", ".join(known) or "none")


def storable(text: str) -> str:
    """Remove what UTF-8 cannot encode, which no store contains."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def opened_store(store: Address | Store) -> Iterator[Store]:
    """Yield the store, and close it if it was opened here. Raise `StoreError` during a run, when documents may be
    stored twice.
    """
    if isinstance(store, Store):
        require_committed(store)
        yield store
        return
    with open_store(store, threads=available_cores(), read_only=True) as opened:
        require_committed(opened)
        yield opened


@contextmanager
def opened_results(store: Address | Store) -> Iterator[Store]:
    """As `_opened`. Also raise `StoreError` if nothing was scanned, or something has changed since."""
    with opened_store(store) as opened:
        _require_scan(opened)
        yield opened


@contextmanager
def opened_kinds(store: Address | Store) -> Iterator[Store]:
    """As `opened_results`. Also raise `StoreError` if clusters were not classified."""
    with opened_results(store) as opened:
        if not Scanning.from_described(opened.ledger.last_scanning() or {}).kinds:
            raise StoreError(
                f"{opened.address}: scanned without kinds; run esdedup scan --kinds --store {as_word(opened.address)}"
            )
        yield opened


def _require_scan(store: Store) -> None:
    last = store.results.last_scan()
    if last is None or not last["current"]:
        why = "documents were added, removed or changed since the last scan"
        if last is None:
            why = "not scanned yet" if store.results.lost is None else f"no results: {store.results.lost}"
        raise StoreError(f"{store.address}: {why}; run esdedup scan --store {as_word(store.address)}")


def threshold(store: Store) -> float:
    """Return the Jaccard threshold of the last scan, or the default."""
    scanning = store.ledger.last_scanning()
    return UNITS[store.signing.unit].jaccard if scanning is None else float(scanning["jaccard"])


def one_unit(text: str, signing: Signing) -> str:
    """Return the text as a sentence is stored: in Unicode NFC, with white space collapsed."""
    units = segment([storable(text)], Splitting("record", signing.lang)).texts
    return str(units[0].as_py()) if len(units) else ""
