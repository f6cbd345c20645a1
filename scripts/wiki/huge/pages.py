"""The pages of a huge wiki, with the markup of a real one, written by compiled code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import numba
import numpy as np
import numpy.typing as npt

from scripts.wiki.article_subjects import KINDS
from scripts.wiki.huge.planted import Plan, members_of, plan_of
from scripts.wiki.huge.sentences import CAPITAL, COMMA, MOST_WORDS, WORD, put, put_number, put_plain, put_word, words_of
from scripts.wiki.huge.words import Pool, below, mixed, pool_of, vocabulary
from scripts.wiki.markup import Fragments
from scripts.wiki.wiki import HEADER

SIZES = np.array([2, 60, 5, 20, 3, 110, 12, 8, 30, 4, 14, 40, 6, 24, 10, 17], np.int64)
"""Compared sentences of the pages, in turns: 22.8 on average."""
_FIRST = np.concatenate([[0], np.cumsum(SIZES)])
_SHORT_ONES = 4
"""There is one sentence that is too short to be compared for so many that are."""
_CHANGED = 10_000
_BUFFER = 1 << 24
_LARGEST_SENTENCE = 1 << 12
_LARGEST = 1 << 20
"""Bytes of the largest page."""
_PARAGRAPH, _SECTION = 4, 12
"""Sentences."""
_LINKED_FROM = 140
"""Rank of the most frequent word that is linked."""
_SEMICOLON = 59
_PIECES = (
    b"  <page>\n    <title>", b"</title>\n    <ns>0</ns>\n    <id>",
    b"</id>\n      <timestamp>20", b"-04-15T14:38:04Z</timestamp>\n      <contributor>\n        <username>User",
    b"</username>\n        <id>", b"</id>\n      </contributor>\n      <comment>copy-edit</comment>\n      <origin>",
    b"</origin>\n      <model>wikitext</model>\n      <format>text/x-wiki</format>\n      <text bytes=\"",
    b"\" sha1=\"", b"\" xml:space=\"preserve\">", b"</text>\n      <sha1>", b"</sha1>\n    </revision>\n  </page>\n",
    b"    <redirect title=\"", b"\" />\n", b"#REDIRECT [[", b"]]\n\n{{R from move}}", b"\n== ", b" ==\n",
    b"\n== References ==\n{{Reflist}}\n\n", b"\n== External links ==\n", b"{{Authority control}}\n", b"</id>\n",
    b"    <revision>\n      <id>",
)  # fmt: skip
(
    _TITLE, _NS, _STAMP, _USER, _USER_ID, _COMMENT, _TEXT, _SHA1, _PRESERVE, _END_TEXT, _END, _REDIRECT,
    _END_REDIRECT, _TO, _FROM_MOVE, _HEADING, _END_HEADING, _REFERENCES, _EXTERNAL, _AUTHORITY, _END_ID, _REVISION,
) = range(len(_PIECES))  # fmt: skip


class Markup(NamedTuple):
    """What stands in and between sentences. Marks of plan i are `plans[i]` to `plans[i + 1]`."""

    pieces: Pool
    heads: Pool
    infoboxes: Pool
    files: Pool
    tables: Pool
    links: Pool
    categories: Pool
    after: Pool  # at the end of the sentence, by plan
    before: Pool  # before a word, by mark
    behind: Pool  # behind a word, by mark
    places: npt.NDArray[np.float64]  # where the word is in its sentence: 0 to 1, by mark
    plans: npt.NDArray[np.int64]


def markup_of(fragments: Fragments) -> Markup:
    """Return the fragments as the text of an export holds them."""
    marks = [mark for plan, _ in fragments.plans for mark in plan]
    every = [text for kind in KINDS for text in fragments.infoboxes[kind]]
    return Markup(
        pool_of(list(_PIECES)),
        _escaped([text for kind in KINDS for text in fragments.heads[kind]]),
        _escaped([text.replace("%s", "Wendale") for text in every]),
        _escaped(fragments.files),
        _escaped(fragments.tables),
        _escaped(fragments.outside),
        _escaped([text + "\n" for kind in KINDS for text in fragments.categories[kind]]),
        _escaped([after for _, after in fragments.plans]),
        _escaped([before for _, before, _ in marks]),
        _escaped([behind for _, _, behind in marks]),
        np.array([place for place, _, _ in marks]),
        np.cumsum([0, *(len(plan) for plan, _ in fragments.plans)]),
    )


def _escaped(texts: Sequence[str]) -> Pool:
    return pool_of([escape(text, {'"': "&quot;"}).encode() for text in texts])


class HugeWiki:
    """A wiki of at least `sentences` compared sentences: the same bytes for the same arguments.

    In `month` 1 and later, 3 of 100 pages say one sentence otherwise than the month before.
    """

    def __init__(self, sentences: int, seed: int = 1, month: int = 0, changed: float = 0.03) -> None:
        self.pages = -(-sentences // int(_FIRST[-1])) * len(SIZES)
        self.sentences = self.pages // len(SIZES) * int(_FIRST[-1])
        self.plan = plan_of(self.sentences)
        self.lexicon, self.drawn = vocabulary()
        self.seed, self.month, self.changed = seed, month, int(changed * _CHANGED)

    def export(self) -> Iterator[memoryview]:
        """Yield the export piece by piece; each is valid until the next one."""
        markup = markup_of(Fragments())
        out, scratch = np.empty(_BUFFER, np.uint8), np.empty(_LARGEST, np.uint8)
        words = np.empty(MOST_WORDS, np.int64)
        yield memoryview(HEADER.encode())
        page = 0
        while page < self.pages:
            page, end = _write_pages(
                page, self.pages, self.seed, self.month, self.changed, self.plan, self.lexicon, self.drawn, markup,
                words, scratch, out,
            )  # fmt: skip
            yield memoryview(out[:end])
        yield memoryview(b"</mediawiki>\n")

    def sentence(self, number: int) -> str:
        """Return a sentence of the first month as its readers see it."""
        words, out = np.empty(MOST_WORDS, np.int64), np.empty(_LARGEST_SENTENCE, np.uint8)
        count = words_of(number, 0, self.seed, self.plan, self.lexicon, self.drawn, words)
        return out[: put_plain(words, count, self.lexicon, out)].tobytes().decode()

    def copies(self, cluster: int, most: int) -> list[str]:
        """Return the first sentences of a planted cluster, at most so many."""
        return [self.sentence(int(number)) for number in members_of(cluster, self.plan, most)]


@numba.njit(cache=True, nogil=True)
def _write_pages(
    page: int, pages: int, seed: int, month: int, changed: int, plan: Plan, lexicon: Pool,
    drawn: npt.NDArray[np.int32], markup: Markup, words: npt.NDArray[np.int64], scratch: npt.NDArray[np.uint8],
    out: npt.NDArray[np.uint8],
) -> tuple[int, int]:  # fmt: skip
    """Write pages from `page` on until `out` is nearly full; return the page that is next, and where the last ends."""
    at, pieces = 0, markup.pieces
    while page < pages and at < len(out) - 2 * len(scratch):
        latest = 0
        for past in range(1, month + 1):
            if _is_changed(page, past, seed, changed):
                latest = past
        length = _write_text(page, month, seed, changed, plan, lexicon, drawn, markup, words, scratch)
        at = _write_title(page, lexicon, out, put(_TITLE, pieces, out, at))
        at = put_number(page + 1, out, put(_NS, pieces, out, at))
        at = put(_END_ID, pieces, out, at)
        at = _write_revision(page, latest, length, pieces, scratch, out, at)
        if page % 3 == 0:  # a redirect, which is not compared
            length = _write_title(page, lexicon, scratch, put(_TO, pieces, scratch, 0))
            length = put(_FROM_MOVE, pieces, scratch, length)
            at = _write_title(pages + page, lexicon, out, put(_TITLE, pieces, out, at))
            at = put_number(pages + page + 1, out, put(_NS, pieces, out, at))
            at = put(_REDIRECT, pieces, out, put(_END_ID, pieces, out, at))
            at = put(_END_REDIRECT, pieces, out, _write_title(page, lexicon, out, at))
            at = _write_revision(pages + page, 0, length, pieces, scratch, out, at)
        page += 1
    return page, at


@numba.njit(cache=True, nogil=True)
def _is_changed(page: int, month: int, seed: int, changed: int) -> bool:
    return below(mixed(seed + 3 + month, page), _CHANGED) < changed


@numba.njit(cache=True, nogil=True)
def _write_title(page: int, lexicon: Pool, out: npt.NDArray[np.uint8], at: int) -> int:
    """Write two rare words and the number of the page."""
    for turn in range(2):
        word = 2000 + below(mixed(turn, page), len(lexicon.starts) - 2001)
        at = put_word(word | CAPITAL, lexicon, out, at)
        out[at] = 32
        at += 1
    return put_number(page, out, at)


@numba.njit(cache=True, nogil=True)
def _write_revision(
    page: int, month: int, length: int, pieces: Pool, text: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8], at: int
) -> int:
    """Write the revision of a page, whose text is `text[:length]`."""
    revision = 1_000_000_000 + month * 100_000_000 + page
    at = put_number(revision, out, put(_REVISION, pieces, out, at))
    at = put_number(24 + month, out, put(_STAMP, pieces, out, at))
    at = put_number(page % 9973, out, put(_USER, pieces, out, at))
    at = put_number(page % 9973, out, put(_USER_ID, pieces, out, at))
    at = put_number(revision, out, put(_COMMENT, pieces, out, at))
    at = put_number(length, out, put(_TEXT, pieces, out, at))
    at = _write_checksum(revision, out, put(_SHA1, pieces, out, at))
    at = put(_PRESERVE, pieces, out, at)
    out[at : at + length] = text[:length]
    at = _write_checksum(revision, out, put(_END_TEXT, pieces, out, at + length))
    return put(_END, pieces, out, at)


@numba.njit(cache=True, nogil=True)
def _write_checksum(revision: int, out: npt.NDArray[np.uint8], at: int) -> int:
    """Write 31 digits and letters that differ for each revision, as those of a text in base 36."""
    for turn in range(31):
        digit = below(mixed(turn, revision), 36)
        out[at + turn] = 48 + digit if digit < 10 else 87 + digit
    return at + 31


@numba.njit(cache=True, nogil=True)
def _write_text(
    page: int, month: int, seed: int, changed: int, plan: Plan, lexicon: Pool, drawn: npt.NDArray[np.int32],
    markup: Markup, words: npt.NDArray[np.int64], out: npt.NDArray[np.uint8],
) -> int:  # fmt: skip
    """Write the wikitext of a page, and return where it ends."""
    pieces, state = markup.pieces, np.int64(mixed(seed + 2, page) >> np.uint64(1))
    at = _put_any(markup.heads, mixed(state, 0), out, 0)
    if page & 1:
        at = _put_any(markup.infoboxes, mixed(state, 1), out, at)
    first, size = page // len(SIZES) * _FIRST[-1] + _FIRST[page % len(SIZES)], SIZES[page % len(SIZES)]
    for turn in range(size):
        if turn % _SECTION == 0:
            if turn:
                at = put(_HEADING, pieces, out, at)
                at = put_word((200 + below(mixed(state, 2 + turn), 20_000)) | CAPITAL, lexicon, out, at)
                at = put(_END_HEADING, pieces, out, at)
            if below(mixed(state, 1002 + turn), 20) < 11:
                at = _put_any(markup.files, mixed(state, 2002 + turn), out, at)
        instead = 0
        for past in range(1, month + 1):
            if _is_changed(page, past, seed, changed) and below(mixed(seed + 4 + past, -page), size) == turn:
                instead = past
        count = words_of(first + turn, instead, seed, plan, lexicon, drawn, words)
        at = _put_marked(
            words, count, below(mixed(state, 3002 + turn), len(markup.plans) - 1), lexicon, markup, out, at
        )
        out[at] = 32
        at += 1
        if turn % _SHORT_ONES == 1:
            count = words_of(-1 - first - turn, 0, seed, plan, lexicon, drawn, words)
            at = _put_marked(words, count, -1, lexicon, markup, out, at)
            out[at] = 32
            at += 1
        if turn % _PARAGRAPH == _PARAGRAPH - 1 or turn == size - 1:
            out[at - 1] = out[at] = 10
            at += 1
    if below(mixed(state, 4002), 37) < 7:
        at = _put_any(markup.tables, mixed(state, 4003), out, at)
    at = put(_REFERENCES, pieces, out, at)
    if page & 2:
        at = put(_EXTERNAL, pieces, out, at)
        for turn in range(3):
            at = _put_any(markup.links, mixed(state, 4004 + turn), out, at)
    at = put(_AUTHORITY, pieces, out, at)
    for turn in range(2):
        at = _put_any(markup.categories, mixed(state, 4008 + turn), out, at)
    return at


@numba.njit(cache=True, nogil=True)
def _put_any(pool: Pool, chance: np.uint64, out: npt.NDArray[np.uint8], at: int) -> int:
    return put(below(chance, len(pool.starts) - 1), pool, out, at)


@numba.njit(cache=True, nogil=True)
def _put_marked(
    words: npt.NDArray[np.int64], count: int, plan: int, lexicon: Pool, markup: Markup, out: npt.NDArray[np.uint8],
    at: int,
) -> int:  # fmt: skip
    """Write a sentence with the marks of a plan around its words; without any if the plan is below 0."""
    mark = end = 0
    if plan >= 0:
        mark, end = markup.plans[plan], markup.plans[plan + 1]
    for place in range(count):
        marked = mark < end and markup.places[mark] * count <= place and words[place] & WORD >= _LINKED_FROM
        if marked:
            at = put(mark, markup.before, out, at)
        at = put_word(words[place], lexicon, out, at)
        if marked:
            at = put(mark, markup.behind, out, at)
            mark += 1
        if words[place] & COMMA:
            out[at] = 44
            at += 1
        out[at] = 46 if place == count - 1 else 32
        if place == count - 1 or not (marked and out[at - 1] == _SEMICOLON):  # &nbsp; is the space
            at += 1
    return put(plan, markup.after, out, at) if plan >= 0 else at
