"""Check whether a sentence, or each sentence of a pasted text, is in the collection."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.jobs.questions import beginnings, compared, near_duplicates, one_unit, storable, threshold
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.compare import diff_words
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store
from esdedup.text.segment import segment
from esdedup.web.answers.browse import place
from esdedup.web.answers.shapes import Check, Checked, CheckedText, Match

MOST_CHARS = 20_000
"""Longest sentence that is compared, in characters."""

MOST_TEXT = 200_000
"""Longest text that can be pasted, in characters."""

MOST_SENTENCES = 1_000
"""Number of sentences of a text that are looked up."""

MOST_ALIKE = 300
"""Number of sentences that one sentence is compared with, and number of sentences that begin the same way."""

SECONDS = 12.0
"""Time limit for checking a text. Sentences that remain are not looked up."""

_SHOWN = 10
_PLACES = 5
_AT_ONCE = 50  # sentences in one request to the store
_POOL = 5_000  # sentences that share tokens with them
_NEAREST = 50  # of these, the number that one sentence is compared with
_ENDS = tuple(".!?…。！？؟।")
_CLOSING = "\"'”’»)]"  # may follow the end of a sentence, but also occurs within one


def check(store: Store, text: str) -> Check:
    """Find the sentences of `store` similar to `text`, nearest first, and the sentences that begin the same way."""
    unit = one_unit(text, store.signing)
    limit = threshold(store)
    answer: Check = {
        "text": unit,
        "unfinished": bool(unit) and not unit.rstrip(_CLOSING).endswith(_ENDS),
        "threshold": limit,
        "tokens": store.signing.signer.tokens,
        "matching": 0,
        "containing": 0,
        "similar": [],
        "more_similar": 0,
        "beginnings": [],
        "cut": False,
        "note": _note(store),
    }
    if not unit:
        return answer
    rows = near_duplicates(store, unit, most=MOST_ALIKE)
    starting = compared(store, unit, beginnings(store, text.lstrip(), MOST_ALIKE))
    answer["cut"] = MOST_ALIKE in (len(rows), len(starting))
    if answer["unfinished"]:
        # half a sentence shares few tokens with the whole one, but most of its shingles
        near = [row for row in starting if row["containment"] >= limit]
        rows += near
        rows.sort(key=lambda row: (-row["containment"], -row["jaccard"], row["id"].encode()))
    similar = _matches(rows, cut=answer["cut"])
    answer["similar"] = [_with_diff(one, unit, answer["unfinished"]) for one in similar[:_SHOWN]]
    answer["more_similar"] = len(similar) - len(answer["similar"])
    answer["matching"] = sum(one["match"] for one in similar)
    answer["containing"] = sum(one["containment"] >= limit for one in similar)
    shown = {one["text"] for one in similar}
    beginning = [one for one in _matches(starting, cut=answer["cut"]) if one["text"] not in shown]
    answer["beginnings"] = [_with_diff(one, unit, answer["unfinished"]) for one in beginning[:_SHOWN]]
    return answer


def check_text(store: Store, text: str) -> CheckedText:
    """Check each sentence of `text`. Return the nearest sentence of `store` that reaches the threshold."""
    signing = store.signing
    units = segment([storable(text)], signing.splitting).texts.to_pylist()
    checked: list[Checked] = []
    until = time.monotonic() + SECONDS
    for first in range(0, min(len(units), MOST_SENTENCES), _AT_ONCE):
        if time.monotonic() > until:
            break
        checked += _nearest(store, units[first : min(first + _AT_ONCE, MOST_SENTENCES)])
    return {
        "sentences": checked,
        "looked_up": sum(one["looked_up"] for one in checked),
        "copied": sum(one["best"] is not None for one in checked),
        "left_out": len(units) - len(checked),
        "threshold": threshold(store),
    }


def _matches(rows: Sequence[dict[str, Any]], *, cut: bool) -> list[Match]:
    """Group rows of `similar` by text, in the order of each text's first row. Their `diff` is still empty.

    `cut` says that some rows are missing.
    """
    found: dict[str, Match] = {}
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            continue
        seen.add(row["id"])
        known = found.get(row["text"])
        if known is not None:
            known["sentences"] += 1
            if len(known["places"]) < _PLACES:
                known["places"].append(place(row))
            continue
        found[row["text"]] = {
            "text": row["text"],
            "sentences": 1,
            "places": [place(row)],
            "cut": cut,
            "shared_tokens": row["shared_tokens"],
            "jaccard": row["jaccard"],
            "containment": row["containment"],
            "word_edit_distance": row["word_edit_distance"],
            "match": row["match"],
            "diff": [],
        }
    return list(found.values())


def _with_diff(one: Match, unit: str, unfinished: bool = False) -> Match:
    """Add the word diff to a match. Only matches that are shown need it."""
    diff = diff_words(unit, one["text"])
    return {**one, "diff": _word_completed(diff) if unfinished else diff}


def _word_completed(diff: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Adapt the diff of a sentence whose last word is still being typed: treat that word as the word it begins."""
    if [what for what, _ in diff[-2:]] != ["-", "+"]:
        return diff
    typed, there = (words.split(" ") for _, words in diff[-2:])
    last = len(typed) - 1
    if len(there) <= last or not there[last].startswith(typed[last]):
        return diff
    runs = (("-", typed[:last]), ("+", there[:last]), ("=", [there[last]]), ("+", there[last + 1 :]))
    return [*diff[:-2], *((what, " ".join(words)) for what, words in runs if words)]


def _nearest(store: Store, units: Sequence[str]) -> list[Checked]:
    """Return the best match of each of a few sentences. Their tokens are looked up together."""
    signer = TextSigner(store.signing)
    column = pa.array(units, pa.large_string())
    views = signer.views(column)
    tokens = signer.tokens(views)
    lengths = np.array([len(unit) for unit in units])
    low, high = signer.bounds(column)
    fits = (lengths >= low) & (lengths <= high) & views.worded
    checked: list[Checked] = [
        {"text": unit, "looked_up": bool(fit), "best": None} for unit, fit in zip(units, fits, strict=True)
    ]
    if not fits.any():
        return checked
    pool = _sharing(store, signer, np.unique(tokens[fits][tokens[fits] != NO_TOKEN]), _POOL)
    for at in np.flatnonzero(fits).tolist():
        # if some sentences have very many candidates, candidates of the others may be missing
        whole = len(pool[1]) < _POOL
        found, held = pool if whole else _sharing(store, signer, tokens[at][tokens[at] != NO_TOKEN], _NEAREST)
        shared = ((held == tokens[at]) & (held != NO_TOKEN)).sum(axis=1)
        near = np.argsort(-shared, kind="stable")[: min(_NEAREST, int((shared > 0).sum()))]
        if len(near):
            rows = [row for row in compared(store, units[at], found.take(pa.array(near))) if row["match"]]
            rows.sort(key=lambda row: (-row["jaccard"], row["id"].encode()))
            checked[at]["best"] = next(
                (_with_diff(one, units[at]) for one in _matches(rows, cut=len(near) == _NEAREST)), None
            )
    return checked


def _sharing(store: Store, signer: TextSigner, tokens: Tokens, most: int) -> tuple[pa.Table, Tokens]:
    """Return the sentences that share the most of the tokens, and all tokens of each."""
    found = store.corpus.sentences(SentenceQuery(tokens=tokens.tolist(), limit=most))
    if not found.num_rows:
        return found, np.empty((0, store.signing.tokens), np.int64)
    return found, signer.tokens(signer.views(found["text"].combine_chunks()))


def _note(store: Store) -> str | None:
    """Return a note that the reader must see with the answer."""
    by = (store.ledger.last_scanning() or {}).get("candidates", "tokens")
    if by != "tokens":
        return f"Looked up by MinHash tokens. The last scan found pairs by {by}, so its pairs may differ."
    return None
