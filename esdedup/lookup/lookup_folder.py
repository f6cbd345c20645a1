"""The folder of a lookup: segments of blocks, and what they are the lookup of.

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
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from esdedup.columns.hashing import Hashes
from esdedup.files import hold, whole_file
from esdedup.lookup.text_blocks import (
    GROUPS,
    LISTS,
    MOST_TEXTS,
    Block,
    DamagedLookupError,
    in_blocks,
    make_block,
    without,
)

VERSION = 4
ENDING = ".lookup"

Novel: TypeAlias = Callable[[Hashes], Iterator[pa.RecordBatch]]
"""Yields the texts of a store (of `TEXTS`, each once) that are not among these hashes."""

Gone: TypeAlias = Callable[[Hashes], Hashes]
"""Returns those of these hashes whose texts a store does not have."""

_GONE: pa.Schema = pa.schema([("hash", pa.uint64())])
_ABOUT, _PARTIAL, _LOCK = "lookup.json", "partial.json", "lock"
_SEGMENT = 64
"""Blocks of the largest segment that is written: what a killed update loses at most."""
_MOST_GONE = 0.25
_SMALL_BLOCKS = 16
"""So many blocks that are not half full are joined."""

_POLL = 0.2  # seconds


@dataclass(frozen=True)
class LookupFolder:
    """The folder of a lookup."""

    path: Path

    def blocks(self, state: str) -> list[Block] | None:
        """Return the blocks of the lookup of a store in this state; None if there is no such lookup."""
        if self._is_linked():
            return None
        try:
            said, segments, gone = self._about()
            if said != state:
                return None
            return without([block for name in segments for block in self._segment(name)], gone)
        except DamagedLookupError:
            return None

    def update(self, state: str, novel: Novel, gone: Gone, threads: int, follow: Callable[[int], None]) -> None:
        """Make it the lookup of a store in this state.

        `follow` gets the number of texts done. Another process that does the same is waited for. Raise `OSError` if the
        folder cannot be written to.
        """
        if self._is_linked():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self.path))
        self.path.mkdir(parents=True, exist_ok=True)
        with _held(self.path / _LOCK):
            kept: list[str] = []
            try:
                said, kept, _ = self._about()
                blocks = [block for name in kept for block in self._segment(name)]
                if said == state:
                    return
            except DamagedLookupError:
                kept, blocks = [], []
            if (unfinished := self._unfinished()) is not None:
                kept, blocks = unfinished
            known = np.concatenate([np.empty(0, np.uint64), *(block.hashes for block in blocks)])
            dead = gone(known) if len(known) else known
            if len(dead) > _MOST_GONE * len(known):
                kept, blocks, known, dead = [], [], known[:0], known[:0]
            follow(len(known))
            small = sum(map(_is_small, map(len, blocks)))
            for name, few in self._write(novel(known), threads, len(known), follow):
                kept.append(name)
                small += few
                with whole_file(self.path / _PARTIAL) as part:
                    part.write_text(json.dumps(kept), "utf-8")
            if small > _SMALL_BLOCKS:
                blocks = [block for name in kept for block in self._segment(name)]
                living = (block.rows() for block in without(blocks, dead))
                try:
                    kept = [name for name, _ in self._write(living, threads, 0, lambda _: None)]
                except DamagedLookupError:
                    kept = [name for name, _ in self._write(novel(known[:0]), threads, 0, lambda _: None)]
                dead = dead[:0]
            about = {"version": VERSION, "state": state, "segments": kept, "gone": self._write_gone(dead)}
            with whole_file(self.path / _ABOUT) as part:
                part.write_text(json.dumps(about), "utf-8")
            named = {f"{name}.{kind}" for name in kept for kind in ("texts", "lists")}
            self._clear({_ABOUT, _LOCK, f"{about['gone']}.gone", *named})

    def _unfinished(self) -> tuple[list[str], list[Block]] | None:
        """Return the segments of an update that was killed, those that it kept and those that it completed, with their
        blocks; None without such an update.
        """
        with suppress(OSError, ValueError, TypeError, AttributeError, DamagedLookupError):
            names = [uuid.UUID(name).hex for name in json.loads((self.path / _PARTIAL).read_text("utf-8"))]
            return names, [block for name in names for block in self._segment(name)]
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

    def _about(self) -> tuple[str, list[str], Hashes]:
        """Return the state, the names of the segments, and which of their texts are gone."""
        try:
            about = json.loads((self.path / _ABOUT).read_text("utf-8"))
            version, state, gone = about["version"], about["state"], about["gone"]
            names = [uuid.UUID(name).hex for name in about["segments"]]  # which names nothing outside of the folder
            dead = np.empty(0, np.uint64) if gone is None else self._gone(uuid.UUID(gone).hex)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedLookupError from error
        if version != VERSION or not isinstance(state, str):
            raise DamagedLookupError
        return state, names, dead

    def _gone(self, name: str) -> Hashes:
        try:
            gone = pa.ipc.open_file(pa.memory_map(str(self.path / f"{name}.gone"))).read_all()
            if gone.schema != _GONE or gone["hash"].null_count:
                raise DamagedLookupError
            return gone["hash"].to_numpy()  # type: ignore[no-any-return]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedLookupError from error

    def _write_gone(self, gone: Hashes) -> str | None:
        """Write which texts are gone. Return the name of this list, if there are any."""
        if not len(gone):
            return None
        name = uuid.uuid4().hex
        with pa.ipc.new_file(str(self.path / f"{name}.gone"), _GONE) as file:
            file.write_batch(pa.record_batch([pa.array(gone)], schema=_GONE))
        return name

    def _segment(self, name: str) -> Iterator[Block]:
        try:
            texts, lists = (
                pa.ipc.open_file(pa.memory_map(str(self.path / f"{name}.{kind}"))) for kind in ("texts", "lists")
            )
            if (texts.schema, lists.schema, texts.num_record_batches) != (GROUPS, LISTS, lists.num_record_batches):
                raise DamagedLookupError
            for number in range(texts.num_record_batches):
                yield Block(texts.get_batch(number), lists.get_batch(number))
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedLookupError from error

    def _write(
        self, batches: Iterator[pa.RecordBatch], threads: int, done: int, follow: Callable[[int], None]
    ) -> Iterator[tuple[str, int]]:
        """Write segments of texts. Yield the name of each that is complete, and how many of its blocks are small."""
        blocks = (rows for some in _gathered(batches) for rows in in_blocks(some))
        while (first := next(blocks, None)) is not None:
            name, sizes = uuid.uuid4().hex, []
            texts, lists = (self.path / f"{name}.{kind}" for kind in ("texts", "lists"))
            with (
                pa.ipc.new_file(str(texts), GROUPS) as texts_file,
                pa.ipc.new_file(str(lists), LISTS) as lists_file,
                ThreadPoolExecutor(threads) as pool,
            ):
                made: deque[tuple[int, Future[tuple[pa.RecordBatch, pa.RecordBatch]]]] = deque()
                for rows in chain([first], islice(blocks, _SEGMENT - 1), repeat(None, threads)):
                    if rows is not None:
                        made.append((len(rows), pool.submit(make_block, rows)))
                    if made and (rows is None or len(made) > threads):  # blocks are written in their order
                        count, block = made.popleft()
                        groups, grams = block.result()
                        texts_file.write_batch(groups)
                        lists_file.write_batch(grams)
                        sizes.append(count)
                        done += count
                        follow(done)
            yield name, sum(map(_is_small, sizes))

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
    return kind in ("texts", "lists", "gone") and len(stem) == 32 and stem.isalnum()


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
