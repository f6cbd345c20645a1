"""Check whether a sentence, or each sentence of a pasted text, is in the collection."""

from __future__ import annotations

import time

import pyarrow.compute as pc

from esdedup.jobs.questions import one_unit, storable, threshold
from esdedup.jobs.searching import Alike, alike, completions, ready
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.compare import diff_words
from esdedup.store.corpus import EVERYTHING, SentenceQuery
from esdedup.store.store import Store
from esdedup.text.segment import segment
from esdedup.web.answers.browse import place
from esdedup.web.answers.shapes import Check, Checked, CheckedText, Completed, Match

MOST_CHARS = 20_000
"""Longest sentence that is compared, in characters."""

MOST_TEXT = 200_000
"""Longest text that can be pasted, in characters."""

MOST_SENTENCES = 1_000
"""Number of sentences of a text that are looked up."""

SECONDS = 12.0
"""Time limit for checking a text. Sentences that remain are not looked up."""

_SHOWN = 10
_PLACES = 5
_COUNTED = 2_000  # places, whose documents are counted exactly
_COMPARED = 100  # texts with each sentence of a pasted text
_ENDS = tuple(".!?…。！？؟।")
_CLOSING = "\"'”’»)]"  # may follow the end of a sentence, but also occurs within one


def check(store: Store, text: str) -> Check:
    """Find the texts of `store` like `text`, best first, and those that go on like it."""
    unit = one_unit(text, store.signing)
    answer: Check = {
        "text": unit,
        "unfinished": bool(unit) and not unit.rstrip(_CLOSING).endswith(_ENDS),
        "threshold": threshold(store),
        "matching": 0,
        "documents": 0,
        "more_documents": False,
        "similar": [],
        "more_similar": 0,
        "completions": [],
        "left_out": 0,
        "note": _note(store),
    }
    if not unit:
        return answer
    ready(store, quiet=True)
    found = alike(store, unit)
    answer["similar"] = _matches(store, found, _SHOWN)
    answer["more_similar"] = len(found) - len(answer["similar"])
    answer["matching"] = int(found.match.sum())
    answer["documents"], answer["more_documents"] = _documents(store, found)
    answer["left_out"] = found.left_out
    if answer["unfinished"]:
        answer["completions"] = [
            Completed(text=row["text"], places=row["places"], documents=row["documents"], place=place(row))
            for row in completions(store, text, _SHOWN)
        ]
    return answer


def check_text(store: Store, text: str) -> CheckedText:
    """Check each sentence of `text`. Return the nearest sentence of `store` that reaches the threshold."""
    signing = store.signing
    units = segment([storable(text)], signing.splitting).texts
    column = units[:MOST_SENTENCES]
    low, high = TextSigner(signing).bounds(column)
    lengths = pc.utf8_length(column).to_numpy()
    checked: list[Checked] = []
    until = time.monotonic() + SECONDS
    ready(store, quiet=True)
    for unit, fits in zip(column.to_pylist(), (lengths >= low) & (lengths <= high), strict=True):
        if time.monotonic() > until:
            break
        best = None
        if fits:
            found = alike(store, unit, most=_COMPARED)
            best = next(iter(_matches(store, found, int(found.match[:1].sum()))), None)
        checked.append({"text": unit, "looked_up": bool(fits), "best": best})
    return {
        "sentences": checked,
        "looked_up": sum(one["looked_up"] for one in checked),
        "copied": sum(one["best"] is not None for one in checked),
        "left_out": len(units) - len(checked),
        "threshold": threshold(store),
    }


def _matches(store: Store, found: Alike, count: int) -> list[Match]:
    """Return the first texts that were found, with their first places."""
    hashes = found.hashes[:count].tolist()
    counted = {row["hash"]: row for row in store.corpus.places(found.hashes[:count], EVERYTHING).to_pylist()}
    rows = store.corpus.sentences(SentenceQuery(hashes=hashes, most=_PLACES)).to_pylist()
    texts, measures = found.texts[:count].to_pylist(), found.measures(TextSigner(store.signing), count)
    return [
        Match(
            text=text,
            sentences=counted[number]["sentences"],
            documents=counted[number]["documents"],
            places=[place(row) for row in rows if row["hash"] == number],
            similarity=measured["similarity"],
            jaccard=measured["jaccard"],
            containment=measured["containment"],
            word_edit_distance=measured["word_edit_distance"],
            match=measured["match"],
            diff=diff_words(found.unit, text),
        )
        for number, text, measured in zip(hashes, texts, measures, strict=True)
    ]


def _documents(store: Store, found: Alike) -> tuple[int, bool]:
    """Return in how many documents the matches stand, and whether there may be more: a few are counted."""
    matching = found.hashes[found.match]
    if not len(matching):
        return 0, False
    counted = store.corpus.places(matching, EVERYTHING)
    if sum(counted["sentences"].to_pylist()) > _COUNTED:
        return max(counted["documents"].to_pylist()), True
    rows = store.corpus.sentences(SentenceQuery(hashes=matching.tolist()))
    return len(set(zip(rows["source"].to_pylist(), rows["document"].to_pylist(), strict=True))), False


def _note(store: Store) -> str | None:
    """Return a note that the reader must see with the answer."""
    by = (store.ledger.last_scanning() or {}).get("candidates", "tokens")
    if by != "tokens":
        return f"A match is one by the Jaccard index. The last scan found pairs by {by}, so its pairs may differ."
    return None
