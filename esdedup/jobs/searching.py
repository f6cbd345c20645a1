"""Search as you type: similar texts and completions.

The lookup finds texts, here they are compared: each by the measure of search (`esdedup.lookup.search`), by which
answers are ranked, and by the measure of scans, which says whether it is a match.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from esdedup.columns.arrays import text_column
from esdedup.columns.hashing import Hashes
from esdedup.jobs.preconditions import Address
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.questions import check_language, known_language, one_unit, opened_store, storable, threshold
from esdedup.lookup.search import NOTHING, Found, similarities
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.compare import compare, diff_words, jaccards_with
from esdedup.resources import Resources, available_cores
from esdedup.store.corpus import EVERYTHING, Filters, Question, SentenceQuery
from esdedup.store.registry import open_store
from esdedup.store.schemas import SHOWN
from esdedup.store.store import Store
from esdedup.text.search_form import search_form

log = logging.getLogger("esdedup")

MOST_COMPARED = 1_000
"""So many texts are compared with one question."""

MIN_SIMILARITY = 0.35
"""What is less similar than this is not shown, unless it is a match."""

_ENOUGH = 0.4
"""Of the Jaccard threshold: a match shares at least so much of the weight of the question's grams."""

_MOST_PLACES = 1_000
"""So many sentences of one text are shown."""

_MOST_COMPLETED = 300
_FITS = 0.6
"""Minimum score of a completion that does not begin with what was typed."""

_LEAST_TYPED = 2
_SHOWN_SOURCES = 5

_NAMES = SHOWN.names


@dataclass(frozen=True)
class Alike:
    """Texts like a question, best first: matches, then by similarity, then by hash. Each column has shape (n,)."""

    unit: str
    hashes: Hashes
    texts: pa.LargeStringArray
    similarity: npt.NDArray[np.float64]
    jaccard: npt.NDArray[np.float64]
    match: npt.NDArray[np.bool_]
    left_out: int  # texts that are also like it, but were not compared
    nearest: float  # the highest similarity, of those that are not similar enough too

    def __len__(self) -> int:
        return len(self.hashes)

    def first(self, count: int) -> dict[int, str]:
        """Return the first `count` texts, by hash."""
        return dict(zip(self.hashes[:count].tolist(), self.texts[:count].to_pylist(), strict=True))

    def measures(self, signer: TextSigner, count: int) -> list[dict[str, Any]]:
        """Return all measures of the first `count` texts, as `similar` names them."""
        scores = compare(signer, self.unit, self.texts[:count])
        return [
            {
                "similarity": float(self.similarity[at]),
                "shared_tokens": int(scores.shared_tokens[at]),
                "jaccard": round(float(scores.jaccard[at]), 6),
                "containment": round(float(scores.containment[at]), 6),
                "word_edit_distance": int(scores.word_edit_distance[at]),
                "match": bool(self.match[at]),
            }
            for at in range(len(scores.jaccard))
        ]


def answers(
    questions: Iterable[tuple[str, str]], store: Address | Store, jaccard: float | None, min_similarity: float,
    limit: int | None, filters: Filters,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield `id`, `text` and the `similar` rows for each question, a pair of id and text, in their order.

    Each row has its `similarity` (see `esdedup.lookup.search`); by the measure of scans, `shared_tokens`,
    `jaccard`, `containment` (the share of the shingles of `text` found in it) and `word_edit_distance`; `match`
    (Jaccard at or above `jaccard`, by default that of the last scan); and the `diff` of words. Matches come first; then
    the order is by similarity, then by id.
    """
    with opened_store(store) as opened:
        caution = Scanning.from_described(opened.ledger.last_scanning() or {}).matcher.caution()
        if caution is not None:
            log.warning("%s", caution)
        ready(opened)
        for identity, text in questions:
            rows = answered(opened, text, jaccard, min_similarity, limit, filters)
            yield {"id": identity, "text": text, "similar": rows}


def suggested(prefix: str, store: Address | Store, limit: int, filters: Filters) -> list[dict[str, Any]]:
    """Return the rows of `completions`, and say why there are none."""
    with opened_store(store) as opened:
        ready(opened)
        rows = completions(opened, prefix, limit, filters)
        if not rows:
            _say_why_not(opened, prefix, filters)
            if not too_short(prefix) and len(_letters(prefix)) <= _LEAST_TYPED:
                log.warning("so few letters complete only the beginning of a text; type one more to find words inside")
        return rows


def filters_of(lang: str | None, source: str | None, document: str | None) -> Filters:
    """Return the filters of a question. Raise `UsageError` if `lang` is no code of a language."""
    source, document = (value and storable(value) for value in (source, document))
    return Filters(known_language(lang), source, document)


def answered(
    store: Store, text: str, jaccard: float | None, min_similarity: float, limit: int | None, filters: Filters
) -> list[dict[str, Any]]:
    """Return the rows of `similar`, and say what was cut, or why there are none. The lookup must be ready."""
    found = alike(store, text, jaccard, min_similarity, filters)
    if found.left_out:
        log.warning(
            "%s texts are similar to this one; the %s that share most with it were compared",
            f"{found.left_out + MOST_COMPARED:,}", f"{MOST_COMPARED:,}",
        )  # fmt: skip
    if not len(found):
        _say_why_not(store, text, filters)
        if found.nearest:
            log.warning(
                "nothing is as similar as %s; the nearest text has %.2f; lower --min-similarity to see it",
                min_similarity, found.nearest,
            )  # fmt: skip
        elif not filters.chosen and not too_short(text):
            log.warning("no stored text has a word, or four letters of one, in common with this one")
    return similar_rows(store, found, limit, filters)


def _say_why_not(store: Store, text: str, filters: Filters) -> None:
    """Say if nothing can be found, because the text is too short or nothing passes the filters."""
    if too_short(text):
        log.warning("%r has too few letters or digits; type at least %s", text, _LEAST_TYPED)
    check_language(store, filters.language)
    names = {checkpoint.name for checkpoint in store.ledger.sources()}
    if filters.source is not None and filters.source not in names:
        known = ", ".join(sorted(names)[:_SHOWN_SOURCES]) + (" …" if len(names) > _SHOWN_SOURCES else "")
        log.warning("%s: there is no source %s; the sources are: %s", store.address, filters.source, known or "none")
    if filters.document is not None and not store.corpus.has_document(filters.document):
        log.warning("%s: there is no document %s with sentences", store.address, filters.document)


def too_short(text: str) -> bool:
    """Whether a text has fewer than two letters or digits, so that nothing is suggested. One ideograph is enough."""
    letters = _letters(text)
    return len(letters) < _LEAST_TYPED and letters.isascii()


def _letters(text: str) -> str:
    """Return the letters and digits of a text in its search form."""
    return _form(storable(text)).replace(" ", "")


def ready(store: Store, *, threads: int | None = None, quiet: bool = False) -> None:
    """Bring the lookup of a store up to date, which takes time only if nobody has done it."""
    texts = store.corpus.lookup_behind()
    if texts:
        with Bar("lookup", texts, "text", not quiet) as bar:
            store.corpus.make_lookup(threads or available_cores(), bar.reach)


def make_lookup(address: Address, resources: Resources, *, quiet: bool) -> None:
    """Prepare a store for questions."""
    with open_store(address, **resources.of_database, read_only=True) as store:
        ready(store, threads=resources.processes, quiet=quiet)


def alike(
    store: Store,
    text: str,
    jaccard: float | None = None,
    min_similarity: float = MIN_SIMILARITY,
    filters: Filters = EVERYTHING,
    most: int | None = None,
    *,
    counted: bool = True,
) -> Alike:
    """Find the texts like a text, which is taken as one unit of any length, among the `most` that share most with
    it (by default `MOST_COMPARED`). The lookup must be ready. Those that are left out need not be `counted`.
    """
    unit = one_unit(text, store.signing)
    form = _form(unit)
    limit = threshold(store) if jaccard is None else Scanning(jaccard=jaccard).jaccard
    question = Question(form, filters=filters, text=unit, counted=counted)
    if form:
        found = store.corpus.alike(question, most or MOST_COMPARED, _ENOUGH * limit)
    else:  # a text of signs alone cannot be looked up
        found = store.corpus.itself(unit, filters) if unit else NOTHING
    return compared(store, unit, found, limit, min_similarity)


def typed(store: Store, text: str, most: int, completing: int) -> tuple[Alike, dict[int, str]]:
    """Return what `alike` finds among the `most` texts that share most with a text that is being typed, and so many
    texts that complete it, as `completed` does: both from one question to the lookup, which must be ready.
    """
    unit = one_unit(text, store.signing)
    limit = threshold(store)
    asked = Question(_form(unit), half=True, text=unit)
    if not len(asked.grams):
        return alike(store, text, most=most), completed(store, text, completing)
    found = store.corpus.alike(asked, most, min(_ENOUGH * limit, _FITS / 2))
    begin = store.corpus.beginning(asked, completing)
    both = compared(store, unit, found.joined(begin), limit)
    return both, _completed(asked, completing, begin, lambda: found)


def compared(
    store: Store, unit: str, found: Found, limit: float | None = None, min_similarity: float = MIN_SIMILARITY
) -> Alike:
    """Compare a text with what was found: by the measure of search, and by that of scans, where a match has at least
    `limit` (by default `threshold`).
    """
    limit = threshold(store) if limit is None else limit
    with ThreadPoolExecutor(1) as pool:
        comparing = pool.submit(jaccards_with, TextSigner(store.signing), unit, found.texts)
        similarity = np.round(similarities(_form(unit), search_form(found.texts)), 6).clip(max=1 - 1e-6)
        jaccards = comparing.result()
    similarity[found.texts.to_numpy(zero_copy_only=False) == unit] = 1
    match = jaccards >= limit
    order = np.lexsort((found.hashes, -similarity, ~match))
    order = order[match[order] | (similarity[order] >= min_similarity)]
    return Alike(
        unit, found.hashes[order], found.texts.take(pa.array(order)), similarity[order], jaccards[order], match[order],
        found.left_out, float(similarity.max(initial=0)),
    )  # fmt: skip


def similar_rows(store: Store, found: Alike, limit: int | None, filters: Filters = EVERYTHING) -> list[dict[str, Any]]:
    """Return the sentences of texts like a question, as `similar` returns them."""
    shown = _up_to(found, limit)
    texts = found.first(shown)
    asked = SentenceQuery(hashes=list(texts), texts=texts, most=_MOST_PLACES, filters=filters)
    at = {number: row for row, number in enumerate(texts)}
    measures = found.measures(TextSigner(store.signing), shown)
    rows = []
    for row in store.corpus.sentences(asked).to_pylist():
        text = at[row["hash"]]
        rows.append((text, {name: row[name] for name in _NAMES} | measures[text]))
    rows.sort(key=lambda row: (not row[1]["match"], -row[1]["similarity"], row[1]["id"].encode()))
    differences: dict[int, list[tuple[str, str]]] = {}
    for text, row in rows[:limit]:
        if text not in differences:
            differences[text] = differing(found.unit, row["text"])
        row["diff"] = differences[text]
    return [row for _, row in rows[:limit]]


def differing(question: str, text: str) -> list[tuple[str, str]]:
    """Return the words that differ, as `diff_words`. Case, accents and signs do not count."""
    return diff_words(question, text, lambda words: search_form(text_column(words)).to_pylist())


def _up_to(found: Alike, limit: int | None) -> int:
    """Return how many texts hold the first `limit` sentences: each has at least one, and equals are sorted by id."""
    if limit is None or limit >= len(found):
        return len(found)
    if not limit:
        return 0
    last = found.match[limit - 1], found.similarity[limit - 1]
    return int(np.flatnonzero((found.match == last[0]) & (found.similarity == last[1]))[-1]) + 1


def completed(store: Store, prefix: str, limit: int, filters: Filters = EVERYTHING) -> dict[int, str]:
    """Return texts that complete `prefix`, by hash, best first. The lookup must be ready.

    Those that begin with it come first, in their order; then those with its words, some perhaps half typed or mistyped,
    the most similar first.
    """
    if too_short(prefix):
        return {}
    asked = Question(_form(storable(prefix)), half=True, filters=filters)
    begin = store.corpus.beginning(asked, limit)
    return _completed(asked, limit, begin, lambda: store.corpus.alike(asked, _MOST_COMPLETED, _FITS / 2))


def _completed(asked: Question, limit: int, begin: Found, alike: Callable[[], Found]) -> dict[int, str]:
    """Return the texts that complete a question: those that begin with it, and of those `alike` as many as there is
    room for.
    """
    texts = dict(zip(begin.hashes.tolist(), begin.texts.to_pylist(), strict=True))
    if len(texts) < limit and len(asked.grams):
        texts |= _inside(asked, alike())
    return dict(islice(texts.items(), limit))


def _inside(asked: Question, found: Found) -> dict[int, str]:
    """Return those texts that have the words of a question, or begin nearly with it, by hash, best first."""
    squeezed = asked.form.replace(" ", "")
    hashes, texts = found.hashes[:_MOST_COMPLETED], found.texts[:_MOST_COMPLETED]
    forms = search_form(texts)
    words = similarities(asked.form, forms, half=True)
    begins = [
        Levenshtein.normalized_similarity(squeezed, form.replace(" ", "")[: len(squeezed)])
        for form in forms.to_pylist()
    ]
    fits = np.maximum(words, begins)
    order = np.lexsort((hashes, -fits))
    order = order[fits[order] >= _FITS]
    return dict(zip(hashes[order].tolist(), texts.take(pa.array(order)).to_pylist(), strict=True))


def completions(store: Store, prefix: str, limit: int, filters: Filters = EVERYTHING) -> list[dict[str, Any]]:
    """Return the rows of `suggest`: the first sentence of each text that completes `prefix`, and how many there are."""
    texts = completed(store, prefix, limit, filters)
    asked = SentenceQuery(hashes=list(texts), texts=texts, most=1, filters=filters)
    rows, counted = store.corpus.standing(asked)
    places = {row["hash"]: {"places": row["sentences"], "documents": row["documents"]} for row in counted.to_pylist()}
    return [{name: row[name] for name in _NAMES} | places[row["hash"]] for row in rows.to_pylist()]


def _form(text: str) -> str:
    return str(search_form(text_column([text]))[0].as_py())
