"""The verbs that ask: is this text there already, what begins like this, why did these two match, who shares what.

Each takes the address of a store, or one that is open already, which is quicker for many questions.
"""

from __future__ import annotations

import logging
import math
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from esdedup.errors import StoreError, UsageError
from esdedup.jobs.steps import Address, check_choice, check_count, require_settled
from esdedup.jobs.verdicts import verdict
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.signers.bands import Signer
from esdedup.matching.verify.compare import compare, diff_words
from esdedup.output.earlier_runs import changes
from esdedup.output.overlap import Overlap, overlaps
from esdedup.papers.agreement import agreeing_values
from esdedup.settings import KINDS, Scanning, Signing, available_cores
from esdedup.store.cluster_queries import ORDERS, ClusterQuery
from esdedup.store.corpus import SentenceQuery
from esdedup.store.registry import open_store
from esdedup.store.schemas import SENTENCES
from esdedup.store.store import Store
from esdedup.text.segment import segment

log = logging.getLogger("esdedup")

_NAMES = ("id", "source", "document", "title", "position", "text", "revision", "timestamp")


def similar(
    text: str, *, store: Address | Store, jaccard: float | None = None, limit: int | None = None
) -> list[dict[str, Any]]:
    """Every stored sentence that shares a token with `text`, which is taken as one unit, however short or long.

    Each has `shared_tokens`, `jaccard`, `containment` (the share of the shingles of `text` found in it),
    `word_edit_distance` and `match` (at or above `jaccard`, by default that of the last scan); by Jaccard, highest
    first, then id.
    """
    check_count("limit", limit)
    with _opened(store) as opened:
        by = (opened.ledger.last_scanning() or {}).get("candidates", "tokens")
        if by == "projection":
            log.warning("similar looks by minhash tokens; pairs of the last scan are by projection, and may differ")
        rows = near_duplicates(opened, text, jaccard)
    return rows if limit is None else rows[:limit]


def near_duplicates(
    store: Store, text: str, jaccard: float | None = None, most: int | None = None
) -> list[dict[str, Any]]:
    """The rows of `similar`, or of the `most` sentences that share most tokens; also in the middle of a reading."""
    signer = Signer(store.signing)
    unit = one_unit(text, store.signing)
    shingled = signer.shingled(pa.array([unit], pa.large_string()))
    if shingled.offsets[1] == shingled.offsets[0]:
        return []
    alike = SentenceQuery(tokens=signer.tokens(shingled)[0].tolist(), limit=most)
    rows = compared(store, unit, store.corpus.sentences(alike), jaccard)
    rows.sort(key=lambda row: (-row["jaccard"], row["id"].encode()))
    return rows


def compared(store: Store, unit: str, sentences: pa.Table, jaccard: float | None = None) -> list[dict[str, Any]]:
    """Rows of `similar` for these sentences (of `SENTENCES`), in their order."""
    limit_at = Scanning(threshold(store) if jaccard is None else jaccard).jaccard
    # equal texts compare equally: each is judged once
    coded = sentences["text"].combine_chunks().dictionary_encode()
    scores = compare(Signer(store.signing), unit, coded.dictionary)
    which = coded.indices.to_numpy(zero_copy_only=False)
    return [
        {name: row[name] for name in _NAMES}
        | {
            "shared_tokens": int(scores.shared_tokens[at]),
            "jaccard": round(float(scores.jaccard[at]), 6),
            "containment": round(float(scores.containment[at]), 6),
            "word_edit_distance": int(scores.word_edit_distance[at]),
            "match": bool(scores.jaccard[at] >= limit_at),
        }
        for row, at in zip(sentences.to_pylist(), which, strict=True)
    ]


def suggest(prefix: str, *, store: Address | Store, limit: int = 20) -> list[dict[str, Any]]:
    """Sentences that begin with `prefix`, whatever the case of its letters, by (text, id): the first `limit`."""
    check_count("limit", limit)
    with _opened(store) as opened:
        return [{name: row[name] for name in _NAMES} for row in beginnings(opened, prefix, limit).to_pylist()]


def beginnings(store: Store, prefix: str, limit: int) -> pa.Table:
    """The sentences of `suggest`, of `SENTENCES`, also in the middle of a reading."""
    folded = " ".join(unicodedata.normalize("NFC", storable(prefix)).split()).casefold()
    if not folded:
        return SENTENCES.empty_table()
    return store.corpus.sentences(SentenceQuery(start=folded + " " * prefix[-1:].isspace(), limit=limit))


def explain(a: str, b: str, *, store: Address | Store) -> dict[str, Any]:
    """Why the sentences with the ids `a` and `b` did or did not match.

    Tokens shared, Jaccard, containment both ways, word edit distance, the thresholds of the last scan, the `chance`
    that two texts as similar as these share a token, the `verdict` in words, and the `diff`: runs of words with
    `=`, `-` (only in a) or `+` (only in b). After a scan with candidates by agreement also `values_agreeing`, of its
    signatures. `StoreError` where an id is unknown.
    """
    with _opened(store) as opened:
        rows = {}
        for identity in (a, b):
            row = opened.corpus.sentence(storable(identity))
            if row is None:
                raise StoreError(
                    f"{opened.address}: no sentence {identity}; it was never read, or left out as too short or too long"
                )
            rows[identity] = row
        one, two = rows[a], rows[b]
        signer = Signer(opened.signing)
        there = compare(signer, one["text"], pa.array([two["text"]], pa.large_string()))
        back = compare(signer, two["text"], pa.array([one["text"]], pa.large_string()))
        last = opened.ledger.last_scanning()
        scanning = Scanning() if last is None else Scanning.described(last)
        signing = opened.signing
        one_home = scanning.across != "any" and _in_one_home(opened, scanning.across, one["hash"], two["hash"])
        by = scanning.candidates
        limited = by == "tokens" and _all_hot(opened, signer, one["text"], two["text"])
        paired = by in ("projection", "queries") and _paired(opened, one["hash"], two["hash"])
    jaccard, shared = float(there.jaccard[0]), int(there.shared_tokens[0])
    distance = int(there.word_edit_distance[0])
    answer = {
        "a": {name: one[name] for name in _NAMES},
        "b": {name: two[name] for name in _NAMES},
        "identical": one["text"] == two["text"],
        "shared_tokens": shared,
        "tokens": signing.tokens,
        "chance": round(_chance(signing, jaccard), 6),
        "jaccard": round(jaccard, 6),
        "containment": [round(float(there.containment[0]), 6), round(float(back.containment[0]), 6)],
        "word_edit_distance": distance,
        "thresholds": {"jaccard": scanning.jaccard, "word_edit_distance": scanning.word_edit_distance},
    }
    if by == "agreement":
        answer["values_agreeing"] = agreeing_values(signer, scanning, one["text"], two["text"])
    answer["verdict"] = verdict(answer, scanning, one_home, limited, paired)
    return answer | {"diff": diff_words(one["text"], two["text"])}


def clusters(
    *,
    store: Address | Store,
    min_size: int = 2,
    kind: str | None = None,
    document: str | None = None,
    text: str | None = None,
    since: Path | str | None = None,
    sort: str = "size",
    limit: int | None = None,
    after: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Clusters with their members: those of one `kind`, with `document`, or whose texts hold all words of `text`.

    Largest first, or by `sort` those with the weakest edge (`jaccard`), the surest kind (`confidence`), the surest
    contradiction or most copies from page to page. With `since`, the folder of an earlier run's results, only what is
    new, grown or gone, each with its `change` and how many sentences with its texts were clustered `before`. `after`
    is the id of a cluster behind which to go on.
    """
    check_count("min_size", min_size)
    check_count("limit", limit)
    check_choice("sort", sort, ORDERS)
    if kind is not None:
        check_choice("kind", kind, KINDS)
    document, text = (value and storable(value) for value in (document, text))
    if since is not None and after is not None:
        raise UsageError("since lists everything at once; leave after out")
    most = limit if since is None else None
    wanted = ClusterQuery(min_size, kind, document, text, sort=sort, limit=most, after=after)

    def rows() -> Iterator[dict[str, Any]]:
        with opened_results(store) if kind is None else opened_kinds(store) as opened:
            if since is None:
                yield from opened.results.cluster_rows(wanted)
            else:
                yield from islice(changes(opened, Path(since), wanted), limit)

    return rows()


def overlap(
    *, store: Address | Store, by: str = "documents", document: str | None = None, limit: int | None = None
) -> Overlap:
    """Pairs of documents (or, `by="sources"`, of sources) with sentences in common, most first.

    A sentence of A stands in B if B has the same text or one that is a pair with it. `document` asks for the pairs
    of one document.
    """
    check_count("limit", limit)
    with opened_results(store) as opened:
        return overlaps(opened, by, document and storable(document), limit)


def storable(text: str) -> str:
    """The text without what UTF-8 cannot carry: nothing of that is in any store."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def _opened(store: Address | Store) -> Iterator[Store]:
    """The store, closed afterwards if it was opened here; `StoreError` in the middle of a reading, when documents
    stand twice."""
    if isinstance(store, Store):
        require_settled(store)
        yield store
        return
    with open_store(store, threads=available_cores(), read_only=True) as opened:
        require_settled(opened)
        yield opened


@contextmanager
def opened_results(store: Address | Store) -> Iterator[Store]:
    """As `_opened`, and `StoreError` where nothing was scanned, or something has changed since."""
    with _opened(store) as opened:
        _require_scan(opened)
        yield opened


@contextmanager
def opened_kinds(store: Address | Store) -> Iterator[Store]:
    """As `opened_results`, and `StoreError` where clusters were not judged."""
    with opened_results(store) as opened:
        if not Scanning.described(opened.ledger.last_scanning() or {}).kinds:
            raise StoreError(
                f"{opened.address}: scanned without kinds; run esdedup scan --kinds --store {opened.address}"
            )
        yield opened


def _require_scan(store: Store) -> None:
    last = store.results.last_scan()
    if last is None or not last["current"]:
        why = "not scanned yet" if last is None else "documents came or went since the last scan"
        raise StoreError(f"{store.address}: {why}; run esdedup scan --store {store.address}")


def threshold(store: Store) -> float:
    """The Jaccard that makes a match: that of the last scan, or the default."""
    scanning = store.ledger.last_scanning()
    return Scanning().jaccard if scanning is None else float(scanning["jaccard"])


def one_unit(text: str, signing: Signing) -> str:
    """The text as a sentence is stored: in Unicode NFC, white space collapsed."""
    units = segment([storable(text)], "record", signing.lang).texts
    return str(units[0].as_py()) if len(units) else ""


def _chance(signing: Signing, jaccard: float) -> float:
    """The probability of sharing a token: 1 - (1 - s^rows)^bands."""
    length = signing.rows or signing.draw or 1
    return 1 - math.pow(1 - math.pow(jaccard, length), signing.tokens)


def _in_one_home(store: Store, across: str, one: int, two: int) -> bool:
    """Whether all sentences of both texts stand in one document, or source: such texts are never compared."""
    hashes = pa.table({"hash": pa.array(sorted({one, two}), pa.uint64())})
    return len(store.corpus.signatures_of(across, hashes)["home"].unique()) == 1


def _all_hot(store: Store, signer: Signer, one: str, two: str) -> bool:
    """Whether the texts share tokens, and all of those are hot."""
    tokens = signer.tokens(signer.shingled(pa.array([one, two], pa.large_string())))
    shared = tokens[0][tokens[0] == tokens[1]]
    held = store.corpus.holders(pa.table({"token": shared}))["token"].to_numpy()
    return len(shared) > 0 and all((held == token).sum() > HOT_LIMIT for token in shared)


def _paired(store: Store, one: int, two: int) -> bool:
    """Whether the last scan made a pair of two texts."""
    texts = pa.table({"hash": pa.array(sorted({one, two}), pa.uint64())})
    return any(batch.num_rows for batch in store.results.pair_hashes(texts))
