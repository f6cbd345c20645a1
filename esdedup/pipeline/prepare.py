"""What a worker does with a batch of documents: clean, split, filter, sign. Columns in, columns out."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.flat import text_buffers, text_column
from esdedup.hashing import Hashes, content_hashes
from esdedup.pairs.groups import Numbers
from esdedup.sentences.segment import segment
from esdedup.settings import Signing
from esdedup.signers.bands import Signer
from esdedup.signers.minhash import Tokens
from esdedup.wikitext.columns import plain_texts
from esdedup.wikitext.fast import FastCleaner
from esdedup.wikitext.reference import ReferenceCleaner
from esdedup.wikitext.rules import Names


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the documents of one source become signed sentences."""

    signing: Signing
    wikitext: str | None  # the path through markup; None for plain text
    namespaces: tuple[tuple[int, str], ...] = ()
    merge_revisions: bool = False  # rows of one id are revisions of one page


@dataclass(frozen=True, slots=True)
class Prepared:
    """The units of one batch. With `merge_revisions`, each distinct unit of a page appears once in its batch.

    Every unit has `row` (the batch row that has it first), `last_row` (the last one that has it), `hash`
    (content hash) and `kept`; the kept ones, in the same order, have `texts` and `tokens`.
    """

    contents: Hashes  # of each row: its text and title as read, and the way it was read
    row: Numbers
    last_row: Numbers
    hash: Hashes
    kept: npt.NDArray[np.bool_]
    short: npt.NDArray[np.bool_]
    texts: pa.LargeStringArray
    tokens: Tokens
    unparsable: list[tuple[int, str]]  # rows that the reference path gave up on, and why


def get_ready() -> None:
    """Begin as a worker process: leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # also when it was killed
        os._exit(1)


def prepare(batch: pa.RecordBatch, recipe: Recipe) -> Prepared:
    """Turn documents (schema `DOCUMENTS`) into signed units."""
    column = batch["text"]
    contents = _contents(batch, recipe)
    documents, unparsable = _plain_texts(column, recipe)
    units = segment(documents, recipe.signing.unit, recipe.signing.lang)
    hashes = content_hashes(*text_buffers(units.texts))
    firsts, last_rows = np.arange(len(hashes)), units.document
    if recipe.merge_revisions:
        firsts, last_rows = _merge(_runs(batch["id"].to_pylist())[units.document], hashes, units.document)
    signer = _signer(recipe.signing)
    length = units.length[firsts]
    fitting = (length >= recipe.signing.min_chars) & (length <= recipe.signing.max_chars)
    texts = units.texts.take(pa.array(firsts[fitting]))
    shingled = signer.shingled(texts)
    worded = np.diff(shingled.offsets) > 0
    if not worded.all():
        # normalisation left nothing of these: they have no shingle, and match nothing
        fitting[np.flatnonzero(fitting)[~worded]] = False
        texts = texts.filter(pa.array(worded))
        shingled = signer.shingled(texts)
    return Prepared(
        contents,
        units.document[firsts],
        last_rows,
        hashes[firsts],
        fitting,
        ~fitting & (length <= recipe.signing.max_chars),
        texts,
        signer.tokens(shingled),
        unparsable,
    )


def _plain_texts(column: pa.LargeStringArray, recipe: Recipe) -> tuple[list[str], list[tuple[int, str]]]:
    if recipe.wikitext is None:
        return column.to_pylist(), []
    fast = recipe.wikitext == "fast"
    cleaner = _fast(recipe.namespaces) if fast else _reference(recipe.namespaces, threading.get_ident())
    texts, unparsable = plain_texts(column, cleaner)
    return [text or "" for text in texts], unparsable


def _contents(batch: pa.RecordBatch, recipe: Recipe) -> Hashes:
    titles = batch["title"].fill_null("").cast(pa.large_string())
    way = content_hashes(*text_buffers(text_column([recipe.wikitext or ""])))[0]
    # an odd factor, so that a title does not cancel out with an equal text
    named = content_hashes(*text_buffers(titles)) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(content_hashes(*text_buffers(batch["text"])) ^ named ^ way)


def _runs(ids: Sequence[str]) -> Numbers:
    """The same number for neighbouring rows of one id, counting up."""
    changed = [False, *(one != two for one, two in pairwise(ids))]
    return np.cumsum(changed)


def _merge(runs: Numbers, hashes: Hashes, rows: Numbers) -> tuple[Numbers, Numbers]:
    """The first of equal units of each run, in order of appearance, and the row that each appears in last."""
    order = np.lexsort((np.arange(len(hashes)), hashes, runs))
    new = np.ones(len(order), np.bool_)
    new[1:] = (runs[order][1:] != runs[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    starts = np.flatnonzero(new)
    firsts = order[starts]
    lasts = rows[order[np.append(starts[1:], len(order)) - 1]] if len(order) else rows
    by_appearance = np.argsort(firsts)
    return firsts[by_appearance], lasts[by_appearance]


@lru_cache(maxsize=4)
def _signer(signing: Signing) -> Signer:
    return Signer(signing)


@lru_cache(maxsize=4)
def _fast(namespaces: tuple[tuple[int, str], ...]) -> FastCleaner:
    return FastCleaner(Names(dict(namespaces)))


@lru_cache(maxsize=64)
def _reference(namespaces: tuple[tuple[int, str], ...], _thread: int) -> ReferenceCleaner:
    """One for each thread: it talks with a child process of its own."""
    cleaner = ReferenceCleaner(Names(dict(namespaces)))
    atexit.register(cleaner.close)
    return cleaner
