"""Results as they are read: out of a private database, which is kept as long as they stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.store.duckdb import questions as duckdb_questions
from esdedup.store.elasticsearch.mirror import Mirror
from esdedup.store.elasticsearch.questions import Questions, cluster_hash
from esdedup.store.elasticsearch.rows import POSITION_BITS
from esdedup.store.protocol import ClusterQuery

OpenDatabase = Callable[[], AbstractContextManager[Database]]


class ShownResults:
    """Shows the results of one store. `opened` opens a private database, `mirror` makes a mirror in it."""

    def __init__(self, opened: OpenDatabase, mirror: Callable[[Database], Mirror]) -> None:
        self._opened = opened
        self._mirror = mirror
        self._kept = ExitStack()
        self._all: Mirror | None = None

    def begin(self) -> Mirror:
        """A mirror for new results, without any yet; `keep` it once they are stored."""
        self.forget()
        return self._mirror(self._kept.enter_context(self._opened()))

    def keep(self, mirror: Mirror) -> None:
        """What is asked for next is most often what was just written."""
        self._all = mirror

    def forget(self) -> None:
        """The results have changed, or are not needed any more."""
        self._all = None
        self._kept.close()

    def pair_rows(self) -> Iterator[pa.RecordBatch]:
        """As `esdedup.store.protocol.Store.pair_rows`."""
        yield from self._everything().results.pair_rows()

    def cluster_rows(self, questions: Questions, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        """As `esdedup.store.protocol.Store.cluster_rows`; where only some are asked for, only those are loaded."""
        with self._holding(questions, wanted) as mirror:
            if wanted.brief:  # a mirror that holds few texts cannot look for a document or words, and need not
                wanted = replace(wanted, document=None, article=None, text=None)
            yield from mirror.results.cluster_rows(wanted)

    def trees(self, questions: Questions, wanted: ClusterQuery) -> Iterator[dict[str, Any]]:
        """As `esdedup.store.protocol.Store.trees`; where only some are asked for, only those are loaded."""
        with self._holding(questions, replace(wanted, having="copies")) as mirror:
            yield from mirror.results.trees(wanted)

    @contextmanager
    def _holding(self, questions: Questions, wanted: ClusterQuery) -> Iterator[Mirror]:
        """A mirror that has the clusters that are wanted, at least."""
        chosen = questions.clusters_with(wanted)
        if wanted.ids is not None:
            named = np.concatenate([np.empty(0, np.uint64), *map(cluster_hash, wanted.ids)])
            chosen = named if chosen is None else np.intersect1d(chosen, named)
        if chosen is None and wanted.limit is not None:
            chosen = questions.cluster_page(wanted)
        if chosen is None and (wanted.kind is not None or wanted.having is not None):
            chosen = questions.clusters_of(wanted)
        if chosen is None:
            yield self._everything()
            return
        with self._opened() as db:
            mirror = self._mirror(db)
            if wanted.after is not None:
                chosen = np.union1d(chosen, cluster_hash(wanted.after))
            mirror.load_clusters(chosen, brief=wanted.brief)
            mirror.load_sentences()
            yield mirror

    def memberships(self) -> Iterator[pa.RecordBatch]:
        """As `esdedup.store.protocol.Store.memberships`."""
        mirror = self._everything()
        yield from duckdb_questions.memberships(mirror.db, mirror.unit)

    def new_matches(self, first: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """As `esdedup.store.protocol.Store.new_matches`."""
        with self._opened() as db:
            mirror = self._mirror(db)
            mirror.load_results_since(first << POSITION_BITS)
            return duckdb_questions.new_matches(db, mirror.unit, first, limit)

    def _everything(self) -> Mirror:
        if self._all is None:
            mirror = self.begin()
            mirror.load_results()
            mirror.load_sentences()
            self._all = mirror
        return self._all
