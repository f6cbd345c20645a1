"""The folder of a lookup: its segments, and what they are the lookup of.

Each update adds a segment with the texts that are new, and writes down which texts are gone: they stay in their blocks,
but are not found. Small segments are joined without them, and the lookup is made again when a quarter of it is gone.
Files are written under other names and renamed, so whoever reads goes on reading what was there.
"""

from __future__ import annotations

import errno
import json
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.files import hold, whole_file
from esdedup.lookup.gram_lists import LISTS, MOST_BLOCKS, MOST_TEXTS, GramLists, check_complete, joined
from esdedup.lookup.text_blocks import GROUPS, Block, DamagedLookupError, Dictionary, in_blocks, make_block
from esdedup.lookup.text_rows import Rows, TextRows, write_rows
from esdedup.lookup.text_segment import PLACES, Segment, places_of, without

VERSION = 5
ENDING = ".lookup"


class StoredTexts(NamedTuple):
    """The texts of a store in one state.

    Args:
        state: Which one.
        reach: A number that is higher than that of each document. No number is given to two documents.
        novel: Yields the texts (of `TEXTS`, each once) of documents from a number on that are not among these hashes.
        gone: Returns those of these hashes whose texts the store does not have.
        rows: Where they stand.
    """

    state: str
    reach: int
    novel: Callable[[Hashes, int], Iterator[pa.RecordBatch]]
    gone: Callable[[Hashes], Hashes]
    rows: Rows


_NONE_GONE = pa.RecordBatch.from_pylist([], PLACES)
_ABOUT, _PARTIAL, _LOCK = "lookup.json", "partial.json", "lock"
_MOST_GONE = 0.25
_DICTIONARY = b"dictionary"
"""Of the metadata of the texts of a segment."""
_SMALL_BLOCKS = 16
"""So many blocks that are not half full are joined."""

_POLL = 0.2  # seconds


class Contents(NamedTuple):
    """The segments of a lookup, and the rows of its texts."""

    segments: list[Segment]
    rows: TextRows


class _About(NamedTuple):
    state: str
    reach: int
    segments: list[str]  # their names
    gone: pa.RecordBatch  # which of their texts, as `PLACES`
    rows: TextRows


@dataclass(frozen=True)
class LookupFolder:
    """The folder of a lookup."""

    path: Path

    def read(self, state: str) -> Contents | None:
        """Return what the lookup of a store in this state has; None if there is no such lookup."""
        with suppress(DamagedLookupError):
            if not self._is_linked() and (about := self._about()).state == state:
                return Contents(without(list(map(self._segment, about.segments)), about.gone), about.rows)
        return None

    def update(self, texts: StoredTexts, threads: int, follow: Callable[[int], None]) -> None:
        """Make it the lookup of a store. Only the texts of documents that are new since the last time are looked at.

        `follow` gets the number of texts done. Another process that does the same is waited for. Raise `OSError` if the
        folder cannot be written to.
        """
        if self._is_linked():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self.path))
        self.path.mkdir(parents=True, exist_ok=True)
        with _held(self.path / _LOCK):
            try:
                about = self._about()
                kept, segments, first = about.segments, list(map(self._segment, about.segments)), about.reach
                if about.state == texts.state:
                    return
            except DamagedLookupError:
                kept, segments, first = [], [], 0
            if (unfinished := self._unfinished()) is not None:
                first, kept, segments = unfinished
            known = np.concatenate([np.empty(0, np.uint64), *(b.hashes for each in segments for b in each.blocks)])
            dead = texts.gone(known) if len(known) else known
            if len(dead) > _MOST_GONE * len(known):
                kept, segments, known, dead, first = [], [], known[:0], known[:0], 0
            places = places_of(segments, known, dead)
            follow(len(known))
            small = sum(_is_small(len(block)) for segment in segments for block in segment.blocks)
            for name, few in self._write(texts.novel(known, first), threads, len(known), follow):
                kept.append(name)
                small += few
                with whole_file(self.path / _PARTIAL) as part:
                    part.write_text(json.dumps({"first": first, "segments": kept}), "utf-8")
            if small > _SMALL_BLOCKS:
                segments = without(list(map(self._segment, kept)), places)
                living = (rows for segment in segments for rows in segment.rows())
                try:
                    kept = [name for name, _ in self._write(living, threads, 0, lambda _: None)]
                except DamagedLookupError:
                    kept = [name for name, _ in self._write(texts.novel(known[:0], 0), threads, 0, lambda _: None)]
                places = places.slice(0, 0)
            names = [uuid.uuid4().hex if len(places) else None, uuid.uuid4().hex]
            if names[0] is not None:
                self._write_batch(f"{names[0]}.gone", places)
            said = {
                "version": VERSION, "state": texts.state, "reach": texts.reach, "segments": kept, "gone": names[0],
                "rows": names[1], "row_bits": write_rows(self.path / f"{names[1]}.rows", texts.rows),
            }  # fmt: skip
            with whole_file(self.path / _ABOUT) as part:
                part.write_text(json.dumps(said), "utf-8")
            named = {f"{name}.{kind}" for name in kept for kind in ("texts", "lists")}
            self._clear({_ABOUT, _LOCK, f"{names[0]}.gone", f"{names[1]}.rows", *named})

    def _unfinished(self) -> tuple[int, list[str], list[Segment]] | None:
        """Return from which document on an update that was killed has looked at texts, the names of the segments that
        it kept and those that it completed, and the segments; None without such an update.
        """
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, DamagedLookupError):
            found = json.loads((self.path / _PARTIAL).read_text("utf-8"))
            names = [uuid.UUID(name).hex for name in found["segments"]]
            return int(found["first"]), names, list(map(self._segment, names))
        return None

    def _is_linked(self) -> bool:
        """Whether this is not a folder of its own: who sends a store with links may want other files to be changed."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self.path.is_symlink() or any(file.is_symlink() for file in self.path.iterdir())
        return False

    def bytes(self) -> int:
        """Return the size of the folder; 0 if there is none."""
        return sum(file.stat().st_size for file in self._files())

    def delete(self) -> None:
        """Delete the folder, with the files that a lookup has; what others put there stays."""
        if self.path.is_symlink():
            return
        self._clear(set())
        with suppress(OSError):
            self.path.rmdir()

    def _about(self) -> _About:
        try:
            about = json.loads((self.path / _ABOUT).read_text("utf-8"))
            version, state, reach, gone = (about[name] for name in ("version", "state", "reach", "gone"))
            names = [uuid.UUID(name).hex for name in about["segments"]]  # which names nothing outside of the folder
            dead = _NONE_GONE if gone is None else self._batch(f"{uuid.UUID(gone).hex}.gone", PLACES)
            rows = TextRows(self.path / f"{uuid.UUID(about['rows']).hex}.rows", about["row_bits"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedLookupError from error
        if version != VERSION or not isinstance(state, str) or not isinstance(reach, int):
            raise DamagedLookupError
        return _About(state, reach, names, dead, rows)

    def _batch(self, name: str, schema: pa.Schema) -> pa.RecordBatch:
        try:
            file = pa.ipc.open_file(pa.memory_map(str(self.path / name)))
            if file.schema != schema or file.num_record_batches != 1:
                raise DamagedLookupError
            batch = file.get_batch(0)
            batch.validate()
            check_complete(*batch.columns)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedLookupError from error
        return batch

    def _write_batch(self, name: str, batch: pa.RecordBatch) -> None:
        with pa.ipc.new_file(str(self.path / name), batch.schema) as file:
            file.write_batch(batch)

    def _segment(self, name: str) -> Segment:
        lists = GramLists(self._batch(f"{name}.lists", LISTS))
        try:
            texts = pa.ipc.open_file(pa.memory_map(str(self.path / f"{name}.texts")))
            if texts.schema != GROUPS:
                raise DamagedLookupError
            dictionary = Dictionary((texts.schema.metadata or {}).get(_DICTIONARY, b""))
            blocks = [Block(texts.get_batch(number), dictionary) for number in range(texts.num_record_batches)]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedLookupError from error
        return Segment(blocks, lists, np.empty(0, np.uint8))

    def _write(
        self, batches: Iterator[pa.RecordBatch], threads: int, done: int, follow: Callable[[int], None]
    ) -> Iterator[tuple[str, int]]:
        """Write segments of texts. Yield the name of each that is complete, and how many of its blocks are small."""
        blocks = (rows for some in _gathered(batches) for rows in in_blocks(some))
        with ThreadPoolExecutor(threads) as pool:
            last: tuple[str, int, Future[pa.RecordBatch]] | None = None
            while (first := next(blocks, None)) is not None:
                name, small, lists = uuid.uuid4().hex, 0, []
                dictionary = Dictionary.of(first)
                schema = GROUPS.with_metadata({_DICTIONARY: dictionary.data})
                with pa.ipc.new_file(str(self.path / f"{name}.texts"), schema) as file:
                    made: deque[tuple[int, Future[tuple[pa.RecordBatch, pa.RecordBatch]]]] = deque()
                    for rows in chain([first], islice(blocks, MOST_BLOCKS - 1), repeat(None, threads)):
                        if rows is not None:
                            made.append((len(rows), pool.submit(make_block, rows, dictionary)))
                        if made and (rows is None or len(made) > threads):  # blocks are written in their order
                            count, block = made.popleft()
                            groups, grams = block.result()
                            file.write_batch(groups)
                            lists.append(grams)
                            small += _is_small(count)
                            done += count
                            follow(done)
                if last is not None:
                    yield self._complete(*last)
                last = name, small, pool.submit(joined, lists)
            if last is not None:
                yield self._complete(*last)

    def _complete(self, name: str, small: int, lists: Future[pa.RecordBatch]) -> tuple[str, int]:
        self._write_batch(f"{name}.lists", lists.result())
        return name, small

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return [
                file for file in self.path.iterdir() if file.name in (_ABOUT, _PARTIAL, _LOCK) or _is_ours(file.name)
            ]
        return []

    def _clear(self, kept: set[str]) -> None:
        for file in self._files():
            if file.name not in kept:
                file.unlink(missing_ok=True)


def _is_small(texts: int) -> bool:
    """Whether a block of so many texts is not half full."""
    return texts < MOST_TEXTS // 2


def _is_ours(name: str) -> bool:
    stem, _, kind = name.partition(".")
    return kind in ("texts", "lists", "gone", "rows") and len(stem) == 32 and stem.isalnum()


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Gather small batches until they fill a block."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= MOST_TEXTS:
            yield held
            held = []
    if held:
        yield held


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock; wait while another process has it."""
    while (held := hold(lock, make=True)) is None:
        time.sleep(_POLL)
    try:
        yield
    finally:
        os.close(held)
