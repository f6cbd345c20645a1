"""What the texts of a cluster are about: whether they share documents, and whether titles explain the differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.analysis.align import Alignment
from esdedup.analysis.word_forms import NAME, NUMBER, SIGN, Classes, Measures, Words, split_words
from esdedup.analysis.word_meanings import meant
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.hashing import Bytes, Hashes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.linked import overlaps

SUBJECTS = (
    "together",  # share of texts that are in one document with the representative, at the same time
    "versions",  # share of texts that share a title with it, but are never there together with it
    "titles alike",  # words that titles have in common, as a share of all their words
    "title in slot",  # share of texts with a word in a slot that is in their title and not in the other's title
    "numbered titles",  # share of texts whose titles have other numbers, and little else that is not in both
    "crossed titles",  # share of texts that name the other's numbered title, and not their own
    "pages",  # documents with different titles that its texts are in
)

STANDING = (
    "together",  # whether both are in one document at the same time
    "versions",  # whether they share a title, but are never there together
    "revisions",  # whether this is known from revisions
    "titles alike",
    "title in slot",  # whether a text has a word in a slot that is in its title and not in the other's title
    "numbered titles",  # whether titles differ in numbers (or months), and have little else that is not in both
    "crossed titles",  # whether each names the other's numbered title, and not its own, as pages of years and days do
    "titles in slots",  # whether so have both, each its own
    "title in frame",  # whether both have a name that is in one title and not in the other one
    "equal",  # sentences that their documents have in common: in so many other clusters a text of both,
    "varied",  # and in so many texts that all differ, with this one
    "named by both",  # of a hundred pages, categories and templates that the one names, those that the other names, too
)

_IN_SLOT = STANDING.index("title in slot")

_SHORTEST = 3
"""Bytes of the shortest word that may be found inside another one."""


class SharedDocuments(NamedTuple):
    """What n pairs of documents share, as `esdedup.store.shared_documents.SHARED` says. `pair` is sorted."""

    pair: Numbers
    equal: Numbers
    varied: Numbers
    named: Numbers  # the last of `STANDING`

    @classmethod
    def of(cls, one: Numbers, two: Numbers, equal: Numbers, varied: Numbers, named: Numbers) -> SharedDocuments:
        """Return what pairs of documents share, given by columns; `one` is the smaller number of each pair."""
        pair = _pairs_of(one, two)
        order = np.argsort(pair)
        return cls(pair[order], equal[order], varied[order], named[order])

    def among(self, one: Numbers, two: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return how many sentences documents have in common, how many differ, and what both name: of unknown pairs
        none, one and nothing.
        """
        if not len(self.pair):
            return np.zeros(len(one), np.int64), np.ones(len(one), np.int64), np.zeros(len(one), np.int64)
        pair = _pairs_of(np.minimum(one, two), np.maximum(one, two))
        at = np.minimum(np.searchsorted(self.pair, pair), len(self.pair) - 1)
        known = (one > 0) & (two > 0) & (self.pair[at] == pair)
        columns = ((self.equal, 0), (self.varied, 1), (self.named, 0))
        equal, varied, named = (np.where(known, column[at], otherwise) for column, otherwise in columns)
        return equal, varied, named


def _pairs_of(one: Numbers, two: Numbers) -> Numbers:
    return np.asarray(one << 32 | two)


NO_LINKS = pa.array([], pa.binary())

NOTHING_SHARED = SharedDocuments(*(np.zeros(0, np.int64) for _ in SharedDocuments._fields))
"""Of no pair it is known what its documents share."""


class Places(NamedTuple):
    """Where n texts are: up to k documents each.

    `titles` are the words of their documents' titles. The others have shape (n, k): `named` is a hash of the title, and
    `documents` the document, 0 for none. `since` and `till` are the first and last time of the text there (any numbers
    that grow with time). `first` is the first document, or 0 where it is not to be looked up in `shared`;
    `links` says what it names, if that is not in `shared`.
    """

    titles: Words
    named: Hashes
    documents: Hashes
    since: Numbers
    till: Numbers
    first: Numbers
    shared: SharedDocuments
    links: pa.BinaryArray


def title_words(titles: pa.LargeStringArray) -> Words:
    """Return the words of titles. Months are numbers, too."""
    words = split_words(titles)
    return words._replace(form=meant(words).form)


def subjects(words: Words, clusters: Offsets, centres: Numbers, alignment: Alignment, places: Places) -> Measures:
    """Return features of the subjects of m clusters, given as for `align`; shape (m, len(SUBJECTS))."""
    texts = np.diff(clusters)
    centre = np.repeat(centres, texts)
    one = np.arange(len(centre))
    others = one != centre
    # the text whose title is compared with a text's title: the representative, or for it the first other text
    first = np.repeat(clusters[:-1], texts)
    rival = np.where(others, centre, np.where(first != centre, first, first + 1))
    together, versions, _, alike, in_slot, numbered, crossed, _ = _seen_from(words, alignment, places, one, rival).T
    owner = np.repeat(np.arange(len(centres)), texts)
    to_centre = [np.bincount(owner, what * others, len(centres)) / (texts - 1) for what in (together, versions, alike)]
    to_rival = [np.bincount(owner, what, len(centres)) / texts for what in (in_slot, numbered, crossed)]
    return np.column_stack([*to_centre, *to_rival, _pages(places, owner, len(centres))])


def _pages(places: Places, owner: Numbers, count: int) -> Numbers:
    """Count the titles of the first documents of the texts of each cluster; `owner` is the cluster of each text."""
    named = places.named[:, 0]
    order = np.lexsort((named, owner))
    owner, named = owner[order], named[order]
    new = np.append(True, (owner[1:] != owner[:-1]) | (named[1:] != named[:-1]))[: len(owner)]
    return np.bincount(owner[new], minlength=count)


def standing(words: Words, alignment: Alignment, places: Places, one: Numbers, two: Numbers) -> Measures:
    """Return how texts `one` and `two` of the same clusters stand to each other; shape (len(one), len(STANDING))."""
    sides = ((one, two), (two, one))
    seen, back = (_seen_from(words, alignment, places, *side) for side in sides)
    both = np.minimum(seen, back)[:, _IN_SLOT]
    seen = np.insert(np.maximum(seen, back), STANDING.index("titles in slots"), both, axis=1)
    equal, varied, named = places.shared.among(places.first[one], places.first[two])
    if len(places.links):
        named = np.where((places.first[one] > 0) & (places.first[two] > 0), overlaps(places.links, one, two), 0)
    return np.column_stack([seen, equal, varied, named])


def _seen_from(words: Words, alignment: Alignment, places: Places, one: Numbers, two: Numbers) -> Measures:
    together = _meet(places, one, two)
    versions = _share(places.named, one, two).any((1, 2)) & ~together
    revised = (places.till[one] > 0).any(1) & (places.till[two] > 0).any(1)
    in_slot, alike = np.zeros(len(one), np.bool_), np.zeros(len(one), np.float64)
    numbered, crossed, in_frame = (np.zeros(len(one), np.bool_) for _ in range(3))
    _find_titles(words, places.titles, alignment.slotted, one, two, in_slot, numbered, crossed, in_frame, alike)
    columns = [together, versions, versions & revised, alike, in_slot, numbered, crossed, in_frame]
    return np.column_stack(columns).astype(np.float64)


def _share(hashes: Hashes, one: Numbers, two: Numbers) -> Flags:
    """Return which of the k documents of text `one[i]` are those of text `two[i]`; shape (n, k, k)."""
    return np.asarray((hashes[one][:, :, None] == hashes[two][:, None, :]) & (hashes[one] != 0)[:, :, None])


def _meet(places: Places, one: Numbers, two: Numbers) -> Flags:
    """Return whether texts are in one document at the same time."""
    since = places.since[one][:, :, None] <= places.till[two][:, None, :]
    till = places.since[two][:, None, :] <= places.till[one][:, :, None]
    return np.asarray((_share(places.documents, one, two) & since & till).any((1, 2)))


@compiled
def _find_titles(
    words: Words, titles: Words, slotted: Flags, one: Numbers, two: Numbers,
    in_slot: Flags, numbered: Flags, crossed: Flags, in_frame: Flags, alike: Measures,
) -> None:  # fmt: skip
    """Mark texts whose slots contain a word of their title that the other title and text lack, those whose title
    differs in numbers, those that name the other's title, and those that share a name which is in their
    title and not in the other one; measure how similar the titles are.
    """
    data, offsets, begin, end = words.data, words.offsets, words.begin, words.end
    hashes, form = words.hash, words.form
    title_data, title_offsets, title_begin, title_end = titles.data, titles.offsets, titles.begin, titles.end
    title_hash, title_form = titles.hash, titles.form
    for pair in range(len(one)):
        text, rival = one[pair], two[pair]
        shared = total = 0
        apart, figures = _unlike(titles, text, rival)
        theirs, of_them = _unlike(titles, rival, text)
        for part in range(title_offsets[rival], title_offsets[rival + 1]):
            total += title_form[part] != SIGN
        for part in range(title_offsets[text], title_offsets[text + 1]):
            if title_form[part] == SIGN:
                continue
            known = _holds(title_hash, title_offsets, rival, title_hash[part])
            shared += known
            total += not known
            if known:
                continue
            for word in range(offsets[text], offsets[text + 1]):
                named = hashes[word] == title_hash[part] and not slotted[word] and form[word] == NAME
                in_frame[pair] = in_frame[pair] or named
            if in_slot[pair]:
                continue
            for word in range(offsets[text], offsets[text + 1]):
                if not slotted[word] or form[word] == SIGN or _holds(hashes, offsets, rival, hashes[word]):
                    continue
                a, a_end, b, b_end = begin[word], end[word], title_begin[part], title_end[part]
                if a_end - a > b_end - b:
                    found = _related(title_data, b, b_end, data, a, a_end, title_form[part] == NUMBER)
                else:
                    found = _related(data, a, a_end, title_data, b, b_end, form[word] == NUMBER)
                if found:
                    in_slot[pair] = True
                    break
        every = figures == apart and of_them == theirs
        numbered[pair] = figures > 0 and of_them > 0 and (every or 2 * shared >= total)
        if figures > 0:
            mine = title_offsets[text], title_offsets[text + 1]
            others = title_offsets[rival], title_offsets[rival + 1]
            crossed[pair] = (
                _holds_all(hashes, offsets, text, title_hash, title_form, *others)
                and _holds_all(hashes, offsets, rival, title_hash, title_form, *mine)
                and not _holds_all(hashes, offsets, text, title_hash, title_form, *mine)
                and not _holds_all(hashes, offsets, rival, title_hash, title_form, *others)
            )
        alike[pair] = min(shared / max(total, 1), 1.0)


@compiled
def _unlike(titles: Words, text: int, rival: int) -> tuple[int, int]:
    """Count the words of a title that the other title lacks, and the numbers among them."""
    count = figures = 0
    for part in range(titles.offsets[text], titles.offsets[text + 1]):
        if titles.form[part] != SIGN and not _holds(titles.hash, titles.offsets, rival, titles.hash[part]):
            count += 1
            figures += titles.form[part] == NUMBER
    return count, figures


@compiled
def _holds(hashes: Hashes, offsets: Offsets, text: int, wanted: int) -> bool:
    """Return whether a text has a word with this hash."""
    found = False
    for word in range(offsets[text], offsets[text + 1]):
        found = found or hashes[word] == wanted
    return found


@compiled
def _holds_all(
    hashes: Hashes, offsets: Offsets, text: int, title_hash: Hashes, title_form: Classes, first: int, last: int
) -> bool:
    """Return whether a text has all words `first:last` of the titles."""
    found = first < last
    for part in range(first, last):
        found = found and (title_form[part] == SIGN or _holds(hashes, offsets, text, title_hash[part]))
    return found


@compiled
def _related(part: Bytes, a: int, a_end: int, whole: Bytes, b: int, b_end: int, number: bool) -> bool:
    """Return whether two words (the shorter first) mostly begin the same way, or the shorter is in the other.

    Case does not matter. A number must be there without an adjacent digit.
    """
    size, room = a_end - a, b_end - b
    same = 0
    while same < size and (part[a + same] | 32) == (whole[b + same] | 32):
        same += 1
    if same > _SHORTEST and 3 * same >= 2 * room:  # forms of one word
        return True
    if size < _SHORTEST and size < room and not number:
        return False
    for shift in range(room - size + 1):
        same = 0
        while same < size and (part[a + same] | 32) == (whole[b + shift + same] | 32):
            same += 1
        before, behind = b + shift - 1, b + shift + size
        apart = (before < b or not 48 <= whole[before] <= 57) and (behind >= b_end or not 48 <= whole[behind] <= 57)
        if same == size and (apart or not number):
            return True
    return False
