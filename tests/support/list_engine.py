"""A complete engine of a hundred lines, with Arrow tables and Python lists and nothing else."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.columns.database import Database
from esdedup.engines.cluster_tables import create_pairs
from esdedup.matching.engine import (
    SIGNATURES,
    TEXTS,
    Collisions,
    ComparePairs,
    Engine,
    GroupComparison,
    MatchContext,
    Meet,
    Post,
    S,
    Sentences,
    Survey,
)


def anywhere(function: Any, context: MatchContext) -> tuple[Any, MatchContext]:
    """The function and its context as another process has them."""
    travelled: tuple[Any, MatchContext] = pickle.loads(pickle.dumps((function, context)))
    return travelled


class ListEngine(Engine):
    """An engine with no index, no threads and no disk. It leaves two tables for the clusters."""

    name = "lists"

    def __init__(
        self, scratch: Database, sentences: Sentences, budget: int, threads: int, place: str = "lists"
    ) -> None:
        super().__init__(scratch, sentences, budget, threads, place)
        self.candidates: set[tuple[int, int]] = set()
        create_pairs(self.db)

    def collapse(self) -> int:
        slices = [rows for _, rows in self.sentences.signatures(set())]
        tables = [rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows for rows in slices]
        copies: dict[int, list[dict[str, Any]]] = {}
        for row in pa.concat_tables([SIGNATURES.empty_table(), *tables]).to_pylist():
            copies.setdefault(row["hash"], []).append(row)
        stale = copies if self.sentences.stale is None else set(self.sentences.stale["hash"].to_pylist())
        self.texts = [
            {
                "number": number,
                "hash": key,
                "copies": len(copies[key]),
                "length": copies[key][0]["length"],
                "group_id": -1 if len({row["group_id"] for row in copies[key]}) > 1 else copies[key][0]["group_id"],
                "stale": key in stale,
                "tokens": copies[key][0]["tokens"],
            }
            for number, key in enumerate(sorted(copies))
        ]
        self.db.create("texts", pa.Table.from_pylist(self.texts, TEXTS))
        requested = pa.table({"hash": pa.array(sorted(copies), pa.uint64())})
        texts = [row for batch in self.sentences.texts(requested) for row in batch.to_pylist()]
        known = {row["hash"]: row["text"] for row in texts}
        for text in self.texts:
            text["text"] = known[text["hash"]]
        return len(self.texts)

    def collide(self, hot_limit: int) -> Collisions:
        held: dict[int, list[dict[str, Any]]] = {}
        for text in self.texts:
            for token in filter(None, text["tokens"]):
                held.setdefault(token, []).append(text)
        self.held = {
            token: texts for token, texts in held.items() if len(texts) > 1 and any(text["stale"] for text in texts)
        }
        counts = Counter({token: len(texts) for token, texts in self.held.items()})
        hot = sorted(
            ((token, count) for token, count in counts.items() if count > hot_limit), key=lambda one: (-one[1], one[0])
        )
        return Collisions(len(self.held), hot)

    def compare_groups(self, functions: GroupComparison, context: MatchContext) -> int:
        function, context = anywhere(functions.compare, context)
        tokens, found = sorted(self.held), 0
        # whole groups in blocks of some size, in no order that means anything
        random.Random(len(tokens)).shuffle(tokens)
        for begin in range(0, len(tokens), 7):
            block = sorted(tokens[begin : begin + 7])
            postings = [(token, text["number"]) for token in block for text in self.held[token]]
            columns = {"token": [token for token, _ in postings], "number": [number for _, number in postings]}
            texts = self._table({number for _, number in postings})
            for pairs, candidates in function(context, pa.table(columns), texts):
                self.db.insert("pairs", pairs.append_column("closeness", pairs["jaccard"]))
                found += candidates
        return found

    def survey(
        self, function: Survey[S], context: MatchContext, begin: Callable[[], S], unite: Callable[[S, S], S]
    ) -> S:
        function, context = anywhere(function, context)
        states = [begin(), begin()]
        for which, (first, texts) in enumerate(self._batches()):
            function(context, states[which % 2], first, texts)
        return unite(*states)

    def meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: Callable[[], S]) -> None:
        post, context = anywhere(post, context)
        meet, _ = anywhere(meet, context)
        known = pickle.loads(pickle.dumps(state()))
        postings = [table for first, texts in self._batches() for table in post(context, known, first, texts)]
        rows = pa.concat_tables(postings).sort_by([(name, "ascending") for name in ("token", "size", "number")])
        _, begins = np.unique(rows["token"].to_numpy(), return_index=True)
        # whole groups: many at once, and one alone
        ends = [end for at, end in enumerate([*begins.tolist(), len(rows)]) if at % 50 < 2 or end == len(rows)]
        for begin, end in pairwise(ends):
            for met in meet(context, known, rows.slice(begin, end - begin)):
                self.candidates |= {tuple(pair.values()) for pair in met.to_pylist()}  # type: ignore[misc]

    def compare_pairs(self, function: ComparePairs, context: MatchContext) -> None:
        function, context = anywhere(function, context)
        apart = [
            (a, b)
            for a, b in sorted(self.candidates)
            if self.texts[a]["group_id"] < 0 or self.texts[a]["group_id"] != self.texts[b]["group_id"]
        ]
        for begin in range(0, len(apart), 50):
            block = apart[begin : begin + 50]
            columns = {"a": [a for a, _ in block], "b": [b for _, b in block]}
            pairs = function(context, pa.table(columns), self._table({end for pair in block for end in pair}))
            self.db.insert("pairs", pairs)

    def _table(self, numbers: set[int]) -> pa.Table:
        fields = [("number", pa.int32()), ("group_id", pa.int64()), ("stale", pa.bool_()), ("text", pa.string())]
        schema = pa.schema([*fields, ("tokens", pa.list_(pa.int64()))])
        return pa.Table.from_pylist([self.texts[number] for number in sorted(numbers)], schema)

    def _batches(self) -> Iterator[tuple[int, pa.LargeStringArray]]:
        for first in range(0, len(self.texts), 60):
            yield first, text_column([text["text"] for text in self.texts[first : first + 60]])
