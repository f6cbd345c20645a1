"""The work of a worker on texts: clean, split, filter, sign. Columns in, columns out."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Numbers, text_buffers, text_column
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.text.language import base_language
from esdedup.text.markup import cleaner_named
from esdedup.text.segment import Units, languages_of, segment
from esdedup.text.splitting import AUTO, DEFAULT
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.rules import Names

_SIGNED_AT_ONCE = 2**16
_NO_TOKENS: Tokens = np.empty((0, 0), np.int64)
_NONE = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """How the documents of one source become signed sentences."""

    signing: Signing
    cleaner: str | None  # what removes markup; None for plain text
    namespaces: tuple[tuple[int, str], ...] = ()
    merge_revisions: bool = False  # rows of one id are revisions of one page
    language: str = ""  # what the source says about its language
    site: str = ""  # language and kind of a wiki
    sign: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """The units of some texts. With `merge_revisions`, each distinct unit of a page appears once.

    Every unit has `text` (the index of the first text that has it), `hash` (content hash) and `kept`. The kept ones, in
    the same order, have `texts` and `tokens`. Unit `again_unit[i]` also occurs in text `again_text[i]` of the same
    page.
    """

    languages: list[str]  # of each text
    text: Numbers
    hash: Hashes
    kept: npt.NDArray[np.bool_]
    short: npt.NDArray[np.bool_]
    texts: pa.LargeStringArray
    tokens: Tokens
    again_unit: Numbers
    again_text: Numbers
    unparsable: list[tuple[int, str]]  # texts that the reference path failed on, and why

    @property
    def long(self) -> npt.NDArray[np.bool_]:
        """Which units are not kept for another reason than being short."""
        return ~self.kept & ~self.short

    @property
    def positions(self) -> Numbers:
        """The position of each unit in its text. Without `merge_revisions`."""
        return np.arange(len(self.text)) - np.searchsorted(self.text, self.text)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The texts as a reader sees them, empty where the reference path failed, and their languages."""

    texts: pa.LargeStringArray
    languages: list[str]
    unparsable: list[tuple[int, str]]


def get_ready() -> None:
    """Start as a worker process: leave Ctrl-C to the parent, and exit when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # also when it is killed
        os._exit(1)


def clean(column: pa.LargeStringArray, plan: BatchPlan) -> Cleaned:
    """Remove the markup of texts, without splitting them."""
    documents, unparsable = _plain_texts(column, plan)
    return Cleaned(text_column(documents), _languages(documents, plan), unparsable)


def prepare(column: pa.LargeStringArray, page: Numbers, plan: BatchPlan) -> Prepared:
    """Convert texts to units, signed if the plan says so. `page` is equal for texts of one page, and does not
    decrease.
    """
    units, languages, unparsable = _units(column, plan)
    hashes = content_hashes(*text_buffers(units.texts))
    firsts, again_unit, again_text = np.arange(len(hashes)), *_NONE
    if plan.merge_revisions:
        firsts, again_unit, again_text = _merge(page[units.document], hashes, units.document)
    signer = _signer(plan.signing)
    length = units.length[firsts]
    low, high = signer.bounds(units.texts if len(firsts) == len(units.texts) else units.texts.take(pa.array(firsts)))
    fitting = (length >= low) & (length <= high)
    everything = len(firsts) == len(units.texts) and fitting.all()
    texts = units.texts if everything else units.texts.take(pa.array(firsts[fitting]))
    worded, tokens = _signed(texts, signer, sign=plan.sign)
    if not worded.all():
        # these are empty after normalization: they have no shingle, and match nothing
        fitting[np.flatnonzero(fitting)[~worded]] = False
        texts = texts.filter(pa.array(worded))
    return Prepared(
        languages,
        units.document[firsts],
        hashes[firsts],
        fitting,
        ~fitting & (length <= high),
        texts,
        tokens,
        again_unit,
        again_text,
        unparsable,
    )


def _units(column: pa.LargeStringArray, plan: BatchPlan) -> tuple[Units, list[str], list[tuple[int, str]]]:
    """Return the units of texts, the languages of the texts, and what could not be cleaned. The texts are dropped."""
    documents, unparsable = _plain_texts(column, plan)
    languages = _languages(documents, plan)
    return segment(documents, plan.signing.splitting, languages), languages, unparsable


def _signed(texts: pa.LargeStringArray, signer: TextSigner, *, sign: bool) -> tuple[npt.NDArray[np.bool_], Tokens]:
    """Return which texts have words after normalization, and the tokens of those: some at a time, as the values that
    tokens are folded from take many times as much memory.
    """
    worded: list[npt.NDArray[np.bool_]] = [np.empty(0, np.bool_)]
    tokens = [np.empty((0, signer.signing.tokens), np.int64)]
    for begin in range(0, len(texts), _SIGNED_AT_ONCE):
        part = texts.slice(begin, _SIGNED_AT_ONCE)
        views = signer.views(part)
        worded.append(views.worded)
        if not sign:
            continue
        if not views.worded.all():
            views = signer.views(part.filter(pa.array(views.worded)))
        tokens.append(signer.tokens(views))
    return np.concatenate(worded), np.concatenate(tokens) if sign else _NO_TOKENS


def _plain_texts(column: pa.LargeStringArray, plan: BatchPlan) -> tuple[list[str], list[tuple[int, str]]]:
    cleaner = cleaner_of(plan)
    if cleaner is None:
        return column.to_pylist(), []
    texts, unparsable = cleaner.clean_column(column)
    return [text or "" for text in texts], unparsable


def _languages(documents: list[str], plan: BatchPlan) -> list[str]:
    splitting = plan.signing.splitting._replace(expected=plan.language)
    if plan.merge_revisions and splitting.lang == AUTO:
        # these are parts of pages, too short to tell
        return [base_language(plan.language) or DEFAULT] * len(documents)
    return languages_of(documents, splitting)


def _merge(pages: Numbers, hashes: Hashes, texts: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the first of equal units of each page, in order of appearance. For the others, return the first unit they
    equal, and their texts, in the order of those.
    """
    order = np.lexsort((np.arange(len(hashes)), hashes, pages))
    new = np.ones(len(order), np.bool_)
    new[1:] = (pages[order][1:] != pages[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    first = np.empty(len(order), np.int64)  # by unit: the first equal one
    first[order] = order[new][np.cumsum(new) - 1]
    firsts, others = np.unique(first), np.flatnonzero(first != np.arange(len(first)))
    return firsts, np.searchsorted(firsts, first[others]), texts[others]


@lru_cache(maxsize=4)
def _signer(signing: Signing) -> TextSigner:
    return TextSigner(signing)


def cleaner_of(plan: BatchPlan) -> Cleaner | None:
    """Return the function that removes the markup of a source; None for plain text."""
    if plan.cleaner is None:
        return None
    wiki = (plan.namespaces, plan.signing.templates, plan.site, plan.language)
    return _cleaner(plan.cleaner, *wiki, threading.get_ident())


@lru_cache(maxsize=64)
def _cleaner(
    name: str, namespaces: tuple[tuple[int, str], ...], templates: str | None, site: str, language: str, _thread: int
) -> Cleaner:
    """One for each thread, because it may use its own child process."""
    cleaner = cleaner_named(name)(Names(dict(namespaces), templates, site, language))
    atexit.register(cleaner.close)
    return cleaner
