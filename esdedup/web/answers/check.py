"""Check whether a sentence, or each sentence of a pasted text, is in the collection."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import islice
from typing import NamedTuple

import pyarrow.compute as pc

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.jobs.questions import one_unit, storable, threshold
from esdedup.jobs.searching import Alike, alike, compared, differing, ready, too_short, typed
from esdedup.lookup.search import Found
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.store.corpus import EVERYTHING, SentenceQuery
from esdedup.store.store import Store
from esdedup.text.segment import segment
from esdedup.web.answers.browse import place
from esdedup.web.answers.shapes import Check, Checked, CheckedText, Completed, Match, Place

MOST_CHARS = 20_000
"""Longest sentence that is compared, in characters."""

MOST_TEXT = 200_000
"""Longest text that can be pasted, in characters."""

MOST_SENTENCES = 1_000
"""Number of sentences of a text that are looked up."""

SECONDS = 12.0
"""Time limit for checking a text. Sentences that remain are not looked up."""

MOST_COMPARED = 200
"""Number of texts that are compared with a sentence."""

_SHOWN = 10
_PLACES = 5
_COUNTED = 2_000  # places, whose documents are counted exactly
_COMPARED = 100  # texts with each sentence of a pasted text
_SIMILAR = 0.6  # by the measure of search: a sentence of a pasted text has most words and their order from there
_ENDS = tuple(".!?…。！？؟।")
_CLOSING = "\"'”’»)]"  # may follow the end of a sentence, but also occurs within one


def check(store: Store, text: str) -> Check:
    """Find the texts of `store` that are similar to `text`, best first, and its completions."""
    unit = one_unit(text, store.signing)
    answer: Check = {
        "text": unit,
        "too_short": too_short(unit),
        "unfinished": bool(unit) and not unit.rstrip(_CLOSING).endswith(_ENDS),
        "threshold": threshold(store),
        "matching": 0,
        "documents": 0,
        "more_documents": False,
        "similar": [],
        "more_similar": 0,
        "completions": [],
        "more_completions": False,
        "left_out": 0,
        "note": _note(store),
    }
    if not unit:
        return answer
    ready(store, quiet=True)
    if answer["unfinished"]:
        found, completing = typed(store, text, MOST_COMPARED, _SHOWN + 1)
    else:
        found, completing = alike(store, unit, most=MOST_COMPARED), {}
    where = _where(store, found.first(_SHOWN) | completing)
    answer["similar"] = _matches(store, found, _SHOWN, where)
    if answer["unfinished"]:
        for one in answer["similar"]:
            one["diff"] = _word_completed(one["diff"])
    answer["more_similar"] = len(found) - len(answer["similar"])
    answer["matching"] = int(found.match.sum())
    answer["documents"], answer["more_documents"] = _documents(store, found)
    answer["left_out"] = found.left_out
    answer["more_documents"] |= bool(found.left_out and found.match.all())
    for number, text in islice(completing.items(), _SHOWN):
        if (stands := where.get(number)) is not None:  # else it was removed just now
            answer["completions"].append(
                Completed(text=text, places=stands.sentences, documents=stands.documents, place=stands.first[0])
            )
    answer["more_completions"] = len(completing) > _SHOWN
    return answer


def check_text(store: Store, text: str) -> CheckedText:
    """Check each sentence of `text`. Return the nearest sentence of `store` that reaches the threshold, or else the
    nearest one that is similar.
    """
    signing = store.signing
    units = segment([storable(text)], signing.splitting).texts
    column = units[:MOST_SENTENCES]
    low, high = TextSigner(signing).bounds(column)
    lengths = pc.utf8_length(column).to_numpy()
    fits = (lengths >= low) & (lengths <= high)
    checked: list[Checked] = []
    nearest: list[tuple[Checked, Alike]] = []
    ready(store, quiet=True)
    own = content_hashes(*text_buffers(column))
    texts = column.to_pylist()
    where = _where(store, {number: texts[at] for at, number in enumerate(own.tolist()) if fits[at]})
    until = time.monotonic() + SECONDS
    for at, unit in enumerate(texts):
        if time.monotonic() > until:
            break
        checked.append({"text": unit, "looked_up": bool(fits[at]), "best": None, "similar": None})
        if not fits[at]:
            continue
        if own[at] in where:  # word for word: nothing is nearer
            found = compared(store, unit, Found(own[at : at + 1], column[at : at + 1]))
        else:
            found = alike(store, unit, min_similarity=_SIMILAR, most=_COMPARED, counted=False)
        if len(found):
            nearest.append((checked[-1], found))
    near = {number: text for _, found in nearest for number, text in found.first(1).items() if number not in where}
    where |= _where(store, near)
    for one, found in nearest:
        for like in _matches(store, found, 1, where):
            one["best" if like["match"] else "similar"] = like
    return {
        "sentences": checked,
        "looked_up": sum(one["looked_up"] for one in checked),
        "copied": sum(one["best"] is not None for one in checked),
        "similar": sum(one["similar"] is not None for one in checked),
        "left_out": len(units) - len(checked),
        "threshold": threshold(store),
    }


class _Where(NamedTuple):
    """Where a text stands."""

    sentences: int
    documents: int
    first: list[Place]


def _where(store: Store, texts: dict[int, str]) -> dict[int, _Where]:
    """Return where texts, given by hash, stand."""
    if not texts:
        return {}
    rows, counted = store.corpus.standing(SentenceQuery(hashes=list(texts), texts=texts, most=_PLACES))
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for row in rows.to_pylist():
        places[row["hash"]].append(place(row))
    return {row["hash"]: _Where(row["sentences"], row["documents"], places[row["hash"]]) for row in counted.to_pylist()}


def _matches(store: Store, found: Alike, count: int, where: dict[int, _Where]) -> list[Match]:
    """Return the first texts of an answer."""
    measures = found.measures(TextSigner(store.signing), count)
    return [
        Match(
            text=text,
            sentences=where[number].sentences,
            documents=where[number].documents,
            places=where[number].first,
            similarity=measured["similarity"],
            jaccard=measured["jaccard"],
            containment=measured["containment"],
            word_edit_distance=measured["word_edit_distance"],
            match=measured["match"],
            diff=differing(found.unit, text),
        )
        for (number, text), measured in zip(found.first(count).items(), measures, strict=True)
        if number in where  # else it was removed just now
    ]


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


def _documents(store: Store, found: Alike) -> tuple[int, bool]:
    """Return in how many documents the matches stand, and whether there may be more: a few are counted."""
    matching = found.hashes[: int(found.match.sum())]  # they come first
    if not len(matching):
        return 0, False
    counted = store.corpus.places(matching, EVERYTHING)
    if sum(counted["sentences"].to_pylist()) > _COUNTED:
        return max(counted["documents"].to_pylist()), True
    rows = store.corpus.sentences(SentenceQuery(hashes=matching.tolist(), texts=found.first(len(matching))))
    return len(set(zip(rows["source"].to_pylist(), rows["document"].to_pylist(), strict=True))), False


def _note(store: Store) -> str | None:
    """Return a note that the reader must see with the answer."""
    by = (store.ledger.last_scanning() or {}).get("candidates", "tokens")
    if by != "tokens":
        return f"A match is one by the Jaccard index. The last scan found pairs by {by}, so its pairs may differ."
    return None
