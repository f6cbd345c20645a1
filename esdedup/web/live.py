"""The served store: opened several times for reading, and reopened when it has changed."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from queue import LifoQueue
from typing import Any

from esdedup.errors import EsdedupError, StoreError, StoreLockedError, UsageError
from esdedup.store.duckdb.generation_file import fingerprint
from esdedup.store.registry import address_of, open_store
from esdedup.store.store import Store
from esdedup.web.file_copy import FileCopy

log = logging.getLogger("esdedup")

_KEPT_ANSWERS = 64
_PATIENCE = 2.0  # seconds


Prepare = Callable[[Store], object]
"""Runs on a store before it is served: the first query of each kind loads and compiles a lot."""


class Snapshot:
    """The store at one point in time, opened `readers` times and prepared.

    Answers to queries about the whole store are cached. Creating it stops if `ended` returns true.
    """

    def __init__(
        self,
        address: str,
        readers: int,
        memory: int,
        prepare: Prepare = lambda _: None,
        ended: Callable[[], bool] = lambda: False,
    ) -> None:
        file = address_of(address).file
        self._copy = None if file is None else FileCopy(file, ended)
        self._address = address
        self._memory = memory
        self._idle: LifoQueue[Store] = LifoQueue()  # the last used reader has the most in its cache
        self._lock = threading.Lock()
        self._held = 0
        self._retired = False
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        try:
            for _ in range(readers):
                if ended():
                    raise StoreError(f"{address}: the server is stopping")
                store = self._open()
                self._idle.put(store)
                with _blamed(store):
                    prepare(store)
        except BaseException:
            self.retire()
            raise

    def hold(self) -> bool:
        """Keep it open until `release`. Return False if it is retired already."""
        with self._lock:
            self._held += not self._retired
            return not self._retired

    def release(self) -> None:
        """Undo one `hold`."""
        with self._lock:
            self._held -= 1
            last = self._retired and not self._held
        if last:
            self._close()

    @contextmanager
    def reader(self) -> Iterator[Store]:
        """Yield a store that nobody else uses meanwhile. If it fails, it is opened again."""
        store = self._idle.get()
        try:
            with _blamed(store):
                yield store
        except (LookupError, UsageError):
            raise  # the request is at fault, not the store
        except BaseException:
            store = self._renewed(store)
            raise
        finally:
            self._idle.put(store)

    def kept(self, key: Hashable) -> tuple[Any] | None:
        """Return the cached answer for this key, or None."""
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return (self._answers[key],)

    def keep(self, key: Hashable, answer: Any) -> None:
        """Cache an answer. The answer that was unused for longest is dropped."""
        with self._lock:
            self._answers[key] = answer
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)

    def retire(self) -> bool:
        """Close it as soon as nobody uses it. Return whether that is now."""
        with self._lock:
            self._retired = True
            last = not self._held
        if last:
            self._close()
        return last

    def discard(self) -> None:
        """Delete its copy of the store, even if somebody still reads it."""
        if self._copy is not None:
            self._copy.close()

    def _open(self) -> Store:
        if self._copy is None:
            store = open_store(self._address, read_only=True, memory=self._memory, threads=1)
        else:
            store = self._copy.open(self._memory)
        store.address = self._address  # the address that the user gave
        return store

    def _renewed(self, store: Store) -> Store:
        """Return the store opened again, or the same one if that fails."""
        try:
            new = self._open()
        except EsdedupError:
            return store
        store.close()
        return new

    def _close(self) -> None:
        while not self._idle.empty():
            self._idle.get().close()
        self.discard()


@contextmanager
def _blamed(store: Store) -> Iterator[None]:
    """Turn errors that the contents of the store cause into a `StoreError`."""
    try:
        yield
    except Exception as error:
        # an answer that something is not there is a subclass of these
        ordinary = isinstance(error, LookupError) and type(error) not in (KeyError, IndexError)
        blamed = None if ordinary else store.blame(error)
        if blamed is None:
            raise
        raise blamed from error


class Live:
    """The newest snapshot of the store at `address`. It is checked for changes every `interval` seconds.

    While somebody writes to a store in a file, the previous snapshot is shown. Raises as `open_store` does.
    """

    def __init__(
        self,
        address: str,
        *,
        readers: int,
        memory: int = 2**28,
        prepare: Prepare = lambda _: None,
        interval: float = 2.0,
    ) -> None:
        self.address = address
        self._interval = interval
        self._ended = threading.Event()
        self._seen = self._look()
        self._new: Callable[[], Snapshot] = lambda: Snapshot(address, readers, memory, prepare, self._ended.is_set)
        self._snapshot = self._new()
        self._watch = threading.Thread(target=self._keep_up, name="esdedup-watch", daemon=True)
        self._watch.start()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Yield the newest snapshot, and keep it open meanwhile."""
        while not (snapshot := self._snapshot).hold():  # it was replaced just now
            if self._ended.is_set():
                raise StoreError(f"{self.address}: the server is stopping")
        try:
            yield snapshot
        finally:
            snapshot.release()

    def close(self) -> bool:
        """Close the store and delete its copy. Return False if a query is still running."""
        self._ended.set()
        self._watch.join(_PATIENCE)  # it may wait for a server that does not respond
        idle = self._snapshot.retire()
        self._snapshot.discard()
        return idle and not self._watch.is_alive()

    def _look(self) -> Any:
        """Return a value that changes whenever the store changes."""
        file = address_of(self.address).file
        if file is not None:
            return fingerprint(file)
        with open_store(self.address, read_only=True) as store:
            return store.generation, store.ledger.state(), store.results.last_scan(), store.ledger.unfinished_reading()

    def _keep_up(self) -> None:
        reported = ""
        while not self._ended.wait(self._interval):
            try:
                seen = self._look()
                if seen == self._seen:
                    continue
                new = self._new()
            except StoreLockedError:
                continue  # somebody is writing; try later
            except Exception as error:  # any error may be temporary
                if str(error) != reported and not self._ended.is_set():
                    log.warning("%s; the page shows the previous state", error)
                reported = str(error)
                continue
            if self._ended.is_set():
                new.retire()
                return
            reported = ""
            self._seen, old, self._snapshot = seen, self._snapshot, new
            old.retire()
