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
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.files import hold, whole_file
from esdedup.lookup.gram_lists import FILES, MOST_TEXTS, GramLists, joined
from esdedup.lookup.mapped_file import MappedFile
from esdedup.lookup.text_blocks import (
    GROUPS,
    MOST_BYTES,
    Block,
    DamagedLookupError,
    Dictionary,
    check_complete,
    dictionary_of,
    in_blocks,
    make_block,
)
from esdedup.lookup.text_rows import Rows, TextRows, write_rows
from esdedup.lookup.text_segment import PLACES, Segment, places_of, without

VERSION = 7
ENDING = ".lookup"


class StoredTexts(NamedTuple):
    """The texts of a store in one state.

    Args:
        state: Which one.
        states: Those that the store has had, as far as it knows, and this one. Since then, no number was given to two
            documents. A store that was made anew, or restored from a copy, has not had the later ones of its name.
        reach: A number that is higher than that of each document.
        novel: Yields the texts (of `TEXTS`, each once) of documents from a number on that are not among these hashes.
        gone: Returns those of these hashes whose texts the store does not have.
        rows: Where they stand.
    """

    state: str
    states: Collection[str]
    reach: int
    novel: Callable[[Hashes, int], Iterator[pa.RecordBatch]]
    gone: Callable[[Hashes], Hashes]
    rows: Rows


_NONE_GONE = pa.RecordBatch.from_pylist([], PLACES)
_ABOUT, _PARTIAL, _LOCK = "lookup.json", "partial.json", "lock"
_MOST_GONE = 0.25
_DICTIONARY = b"dictionary"
"""Of the metadata of the texts of a segment."""
_BLOCKS, _MOST_BLOCKS = 16, 256
"""Blocks of a segment when it is written, which a killed update loses at most twice; and when lists of several segments
have been joined: each question reads the lists of each segment.
"""
_MANY = 8
"""So many segments that are not half full are joined."""
_SMALL_BLOCKS = 16
"""So many blocks that are not half full are joined."""

_POLL = 0.2  # seconds


class Named(NamedTuple):
    """The names of the files of a segment, of its lists and of its texts, and how many of its blocks are small."""

    lists: str
    texts: list[str]
    small: int

    @classmethod
    def of(cls, saved: Any) -> Named:
        """Return names as they are saved; none of them names anything outside of the folder."""
        lists, texts, small = saved
        return cls(uuid.UUID(lists).hex, [uuid.UUID(name).hex for name in texts], int(small))

    def files(self) -> set[str]:
        """The names of all its files."""
        return {f"{self.lists}.{ending}" for ending in FILES} | {f"{name}.texts" for name in self.texts}


class Contents(NamedTuple):
    """The segments of a lookup, and the rows of its texts."""

    segments: list[Segment]
    rows: TextRows


class _About(NamedTuple):
    state: str
    reach: int
    segments: list[Named]
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
            about = None
            with suppress(DamagedLookupError):
                about = self._about()
                if (about.state, about.rows.end) == (texts.state, texts.rows.end):
                    without(list(map(self._segment, about.segments)), about.gone)  # or it is damaged
                    return
            published = set() if about is None else _files_of(about.segments)
            kept, first = self._basis(about, texts)
            segments = map(self._segment, kept)
            known = np.concatenate([np.empty(0, np.uint64), *(b.hashes for each in segments for b in each.blocks)])
            dead = texts.gone(known) if len(known) else known
            if len(dead) > _MOST_GONE * len(known):
                kept, first, known, dead = [], 0, known[:0], known[:0]
            follow(len(known))
            begun = {"state": texts.state, "first": first}
            for name in self._write(texts.novel(known, first), threads, len(known), follow):
                kept = [*kept, name]
                self._save(_PARTIAL, {**begun, "segments": kept})
            if sum(name.small for name in kept) > _SMALL_BLOCKS:
                kept = self._rewritten(kept, known, dead, texts, threads)
                known = dead = known[:0]
            kept = self._joined(kept, begun, published)
            gone = places_of(list(map(self._segment, kept)), known, dead) if len(dead) else _NONE_GONE
            self._publish(texts, kept, gone)

    def _basis(self, about: _About | None, texts: StoredTexts) -> tuple[list[Named], int]:
        """Return the segments that an update keeps, and the number of the first document that these may lack: those of
        an update that was killed or, without one, those of the last one.
        """
        found = self._unfinished()
        if found is None:
            found = None if about is None else (about.state, about.reach, about.segments)
        with suppress(DamagedLookupError):
            if found is not None and all(self._segment(name).blocks for name in found[2]):
                return found[2], found[1] if found[0] in texts.states else 0
        return [], 0

    def _rewritten(
        self, named: list[Named], known: Hashes, dead: Hashes, texts: StoredTexts, threads: int
    ) -> list[Named]:
        """Write the texts of segments again, without those that are `dead`, in blocks that are full."""
        segments = list(map(self._segment, named))
        living = without(segments, places_of(segments, known, dead))
        rows = (rows for segment in living for rows in segment.rows())
        try:
            return list(self._write(rows, threads, 0, lambda _: None))
        except DamagedLookupError:
            return list(self._write(texts.novel(known[:0], 0), threads, 0, lambda _: None))

    def _publish(self, texts: StoredTexts, kept: list[Named], places: pa.RecordBatch) -> None:
        """Make these segments, without the texts at `places`, what the lookup has, and delete all other files."""
        gone, rows = uuid.uuid4().hex if len(places) else None, uuid.uuid4().hex
        if gone is not None:
            self._write_batch(f"{gone}.gone", places)
        write_rows(self.path / f"{rows}.rows", texts.rows)
        said = {
            "version": VERSION, "state": texts.state, "reach": texts.reach, "segments": kept, "gone": gone,
            "rows": rows, "end": texts.rows.end,
        }  # fmt: skip
        self._save(_ABOUT, said)
        self._clear({_ABOUT, _LOCK, f"{gone}.gone", f"{rows}.rows", *_files_of(kept)})

    def _save(self, name: str, said: dict[str, Any]) -> None:
        with whole_file(self.path / name) as part:
            part.write_text(json.dumps(said), "utf-8")

    def _joined(self, named: list[Named], begun: dict[str, Any], published: set[str]) -> list[Named]:
        """Join the lists of segments that follow each other, where many are not half full. Their texts stay."""
        sizes = [len(self._segment(name).blocks) for name in named]
        done: list[Named] = []
        for run in _runs(sizes):
            theirs = named[run.start : run.stop]
            if len(theirs) < _MANY:
                done += theirs
                continue
            texts = [texts for name in theirs for texts in name.texts]
            made = Named(uuid.uuid4().hex, texts, sum(name.small for name in theirs))
            try:
                parts = joined([self._segment(name).lists for name in theirs], sizes[run.start : run.stop])
                GramLists.write(self.path / made.lists, parts)
            except ValueError:  # a question that needs them says that they are damaged
                done += theirs
                continue
            del parts  # while files are mapped, they take disk, though they are deleted
            done.append(made)
            self._save(_PARTIAL, {**begun, "segments": [*done, *named[run.stop :]]})
            for file in {f"{name.lists}.{ending}" for name in theirs for ending in FILES} - published:
                with suppress(PermissionError):  # on Windows, what is still mapped is deleted the next time
                    (self.path / file).unlink()  # or they would take their disk twice
        return done

    def _unfinished(self) -> tuple[str, int, list[Named]] | None:
        """Return the state of the store for which an update was killed, from which document on it has looked at texts,
        and the segments that it kept and completed; None without such an update.
        """
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            found = json.loads((self.path / _PARTIAL).read_text("utf-8"))
            return str(found["state"]), int(found["first"]), list(map(Named.of, found["segments"]))
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
            names = list(map(Named.of, about["segments"]))
            dead = _NONE_GONE if gone is None else self._batch(f"{uuid.UUID(gone).hex}.gone", PLACES)
            rows = TextRows(self.path / f"{uuid.UUID(about['rows']).hex}.rows", about["end"])
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

    def _segment(self, name: Named) -> Segment:
        try:
            lists = GramLists.read(self.path / name.lists)
            blocks = [block for texts in name.texts for block in self._blocks(texts)]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedLookupError from error
        return Segment(blocks, lists, np.empty(0, np.uint8))

    def _blocks(self, name: str) -> Iterator[Block]:
        texts = pa.ipc.open_file(pa.py_buffer(MappedFile(self.path / f"{name}.texts").data))
        if texts.schema != GROUPS:
            raise DamagedLookupError
        dictionary = dictionary_of((texts.schema.metadata or {}).get(_DICTIONARY, b""))
        for number in range(texts.num_record_batches):
            yield Block(texts.get_batch(number), dictionary)

    def _write(
        self, batches: Iterator[pa.RecordBatch], threads: int, done: int, follow: Callable[[int], None]
    ) -> Iterator[Named]:
        """Write segments of texts. Yield the names of each that is complete."""
        blocks = _filled(batches)
        with ThreadPoolExecutor(threads) as pool:
            last: tuple[Named, Future[None]] | None = None
            dictionary = dictionary_of(b"")
            while (first := next(blocks, None)) is not None:
                name, small, lists = uuid.uuid4().hex, 0, list[GramLists]()
                dictionary = Dictionary.of(first, dictionary)
                schema = GROUPS.with_metadata({_DICTIONARY: dictionary.data})
                with pa.ipc.new_file(str(self.path / f"{name}.texts"), schema) as file:
                    made: deque[tuple[int, Future[tuple[pa.RecordBatch, GramLists]]]] = deque()  # with its texts
                    for rows in chain([first], islice(blocks, _BLOCKS - 1), repeat(None, threads)):
                        if rows is not None:
                            small += _is_small(rows)
                            made.append((len(rows), pool.submit(make_block, rows, dictionary)))
                        if made and (rows is None or len(made) > threads):  # blocks are written in their order
                            count, block = made.popleft()
                            groups, grams = block.result()
                            file.write_batch(groups)
                            lists.append(grams)
                            done += count
                            follow(done)
                if last is not None:
                    yield _complete(*last)
                parts = joined(lists, [1] * len(lists))
                last = Named(name, [name], small), pool.submit(GramLists.write, self.path / name, parts)
            if last is not None:
                yield _complete(*last)

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return [
                file for file in self.path.iterdir() if file.name in (_ABOUT, _PARTIAL, _LOCK) or _is_ours(file.name)
            ]
        return []

    def _clear(self, kept: set[str]) -> None:
        for file in self._files():
            if file.name not in kept:
                with suppress(PermissionError):
                    file.unlink(missing_ok=True)


def _files_of(named: Sequence[Named]) -> set[str]:
    """Return the names of the files of all these segments."""
    return set[str]().union(*(name.files() for name in named))


def _complete(named: Named, lists: Future[None]) -> Named:
    lists.result()
    return named


def _is_small(rows: pa.RecordBatch) -> bool:
    """Whether a block of these texts is not half full."""
    return 2 * len(rows) < MOST_TEXTS and 2 * rows["text"].nbytes < MOST_BYTES


def _runs(sizes: Sequence[int]) -> list[range]:
    """Cut segments of so many blocks into runs that may be joined: full ones stand alone."""
    runs: list[range] = []
    held = _MOST_BLOCKS
    for number, size in enumerate(sizes):
        if held + size > _MOST_BLOCKS or 2 * size > _MOST_BLOCKS:
            runs.append(range(number, number + 1))
            held = size if 2 * size <= _MOST_BLOCKS else _MOST_BLOCKS
        else:
            runs[-1] = range(runs[-1].start, number + 1)
            held += size
    return runs


def _is_ours(name: str) -> bool:
    stem, _, kind = name.partition(".")
    return kind in {"texts", "gone", "rows", *FILES} and len(stem) == 32 and stem.isalnum()


def _filled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same texts in batches for a block each. All but the last are full."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= MOST_TEXTS or sum(each["text"].nbytes for each in held) >= MOST_BYTES:
            *full, rest = in_blocks(held)
            yield from full
            held = [rest]
    yield from in_blocks(held)


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock; wait while another process has it."""
    while (held := hold(lock, make=True)) is None:
        time.sleep(_POLL)
    try:
        yield
    finally:
        os.close(held)
