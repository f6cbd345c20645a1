"""Any engine gives the same pairs: here is one of a few lines, with Arrow tables and Python lists and nothing else."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import content_hashes
from esdedup.engines.local.engine import LocalEngine, Sentences
from esdedup.errors import UsageError
from esdedup.matching.engine import (
    Collisions,
    CompareGroups,
    ComparePairs,
    Engine,
    MatchContext,
    Meet,
    Post,
    S,
    Survey,
    signatures_schema,
)
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from tests.support.corpus import corpus, template

SIGNING = Signing()


def anywhere(function: Any, context: MatchContext) -> tuple[Any, MatchContext]:
    """The function and its context as another process has them."""
    travelled: tuple[Any, MatchContext] = pickle.loads(pickle.dumps((function, context)))
    return travelled


class ListEngine(Engine):
    name = "lists"
    budget = 2**24

    def __init__(self, rows: list[dict[str, Any]], texts: dict[int, str], stale: set[int] | None) -> None:
        self._rows = rows
        self._text = texts
        self._stale = stale
        self.candidates: set[tuple[int, int]] = set()
        self.pairs: list[dict[str, Any]] = []

    def collapse(self) -> int:
        group_ids: dict[int, set[int]] = {}
        for row in self._rows:
            group_ids.setdefault(row["hash"], set()).add(row["group_id"])
        tokens = {row["hash"]: row["tokens"] for row in self._rows}
        self.texts = [
            {
                "number": number,
                "group_id": min(group_ids[key]) if len(group_ids[key]) == 1 else -1,
                "stale": self._stale is None or key in self._stale,
                "text": self._text[key],
                "tokens": tokens[key],
            }
            for number, key in enumerate(sorted(group_ids))
        ]
        return len(self.texts)

    def collide(self, hot_limit: int) -> Collisions:
        held: dict[int, list[dict[str, Any]]] = {}
        for text in self.texts:
            for token in text["tokens"]:
                held.setdefault(token, []).append(text)
        self.held = {
            token: texts for token, texts in held.items() if len(texts) > 1 and any(text["stale"] for text in texts)
        }
        counts = Counter({token: len(texts) for token, texts in self.held.items()})
        hot = sorted(
            ((token, count) for token, count in counts.items() if count > hot_limit), key=lambda one: (-one[1], one[0])
        )
        return Collisions(len(self.held), hot)

    def compare_groups(self, function: CompareGroups, context: MatchContext) -> int:
        function, context = anywhere(function, context)
        tokens, found = sorted(self.held), 0
        # whole groups in blocks of some size, in no order that means anything
        random.Random(len(tokens)).shuffle(tokens)
        for begin in range(0, len(tokens), 7):
            block = sorted(tokens[begin : begin + 7])
            postings = [(token, text["number"]) for token in block for text in self.held[token]]
            columns = {"token": [token for token, _ in postings], "number": [number for _, number in postings]}
            pairs, candidates = function(context, pa.table(columns), self._table({number for _, number in postings}))
            self.pairs += pairs.to_pylist()
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
            self.pairs += pairs.drop_columns(["closeness"]).to_pylist()

    def _table(self, numbers: set[int]) -> pa.Table:
        fields = [("number", pa.int32()), ("group_id", pa.int64()), ("stale", pa.bool_()), ("text", pa.string())]
        schema = pa.schema([*fields, ("tokens", pa.list_(pa.int64(), SIGNING.tokens))])
        return pa.Table.from_pylist([self.texts[number] for number in sorted(numbers)], schema)

    def _batches(self) -> Iterator[tuple[int, pa.LargeStringArray]]:
        for first in range(0, len(self.texts), 60):
            yield first, text_column([text["text"] for text in self.texts[first : first + 60]])


def both(
    texts: list[str], scanning: Scanning, group_ids: list[int] | None = None, stale: list[str] | None = None
) -> tuple[ListEngine, list[dict[str, Any]], Any, Any]:
    """The engine of lists and the pairs of the local one, and what the matcher has found on each."""
    signer = TextSigner(SIGNING)
    column = text_column(texts)
    hashes = content_hashes(*text_buffers(column))
    tokens = signer.tokens(signer.shingled(column))
    rows = [
        {"hash": int(hash_), "group_id": group_id, "length": len(text.encode()), "tokens": row.tolist()}
        for hash_, group_id, text, row in zip(hashes, group_ids or [-1] * len(texts), texts, tokens, strict=True)
    ]
    known = dict(zip((int(hash_) for hash_ in hashes), texts, strict=True))
    changed = None if stale is None else {int(hash_) for hash_ in content_hashes(*text_buffers(text_column(stale)))}
    context = MatchContext(SIGNING, scanning.rule, 2)
    lists = ListEngine(rows, known, changed)
    found = scanning.matcher.find(lists, context)

    def fetch(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        named = wanted["hash"].combine_chunks()
        yield pa.record_batch({"hash": named, "text": [known[hash_] for hash_ in named.to_pylist()]})

    table = pa.Table.from_pylist(rows, signatures_schema(SIGNING.tokens))
    stale = None if changed is None else pa.table({"hash": np.array(sorted(changed), np.uint64)})
    with Database(memory=2**28, threads=2) as scratch:
        sentences = Sentences(SIGNING.tokens, lambda _: [(0, table)], fetch, stale)
        expected = scanning.matcher.find(LocalEngine(scratch, sentences, 2**26, 2), context)
        names = "a, b, jaccard, word_edit_distance, shared_tokens"
        pairs = scratch.table(f"SELECT {names} FROM pairs ORDER BY a, b").to_pylist()
    lists.pairs.sort(key=lambda pair: (pair["a"], pair["b"]))
    return lists, pairs, found, expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "options",
    [
        {"jaccard": 0.6},
        {"verify": "none"},
        {"jaccard": 0.5, "word_edit_distance": 3},
        {"candidates": "exact", "jaccard": 0.6},
        {"candidates": "exact", "jaccard": 0.4, "word_edit_distance": 5},
    ],
    ids=str,
)
def test_pairs_are_the_same_on_any_engine(seed: int, options: dict[str, Any]) -> None:
    texts = corpus(seed, 250) + template(seed, 30)
    random.Random(seed).shuffle(texts)
    lists, pairs, found, expected = both(texts, Scanning.of(**options))
    assert found == expected
    assert lists.pairs == pairs
    assert len(pairs) > 20


def test_where_texts_stand_is_looked_at_on_any_engine() -> None:
    texts = corpus(7, 200)
    group_ids = [number % 3 for number in range(len(texts))]
    for name in ("tokens", "exact"):
        lists, pairs, found, expected = both(texts, Scanning.of(candidates=name, jaccard=0.5), group_ids)
        assert found == expected
        assert lists.pairs == pairs
        assert len(pairs) > 5


def test_only_pairs_with_stale_texts_are_found_on_any_engine() -> None:
    texts = corpus(8, 300)
    lists, pairs, found, expected = both(texts, Scanning(jaccard=0.5), stale=texts[:40])
    assert found == expected
    assert lists.pairs == pairs
    assert 0 < len(pairs) < len(both(texts, Scanning(jaccard=0.5))[1])


def test_hot_tokens_are_cut_alike_on_any_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esdedup.matching.lsh.collide.HOT_LIMIT", 20)
    monkeypatch.setattr("esdedup.matching.lsh.block.HOT_WINDOW", 4)
    lists, pairs, found, expected = both(template(9, 150), Scanning(jaccard=0.5))
    assert found == expected
    assert found.hot_tokens > 0
    assert lists.pairs == pairs
    assert len(pairs) > 20


@pytest.mark.parametrize("texts", [[], ["a single text that is long enough to have a shingle"]], ids=["none", "one"])
def test_nothing_to_find(texts: list[str]) -> None:
    for name in ("tokens", "exact"):
        if texts or name == "tokens":
            lists, pairs, found, expected = both(texts, Scanning.of(candidates=name))
            assert (lists.pairs, pairs) == ([], [])
            assert found == expected


@pytest.mark.parametrize("name", [name for name in MATCHERS.names if name not in ("tokens", "exact")])
def test_what_needs_the_local_engine_says_so(name: str) -> None:
    scanning = Scanning.of(candidates=name, verify="none")
    with pytest.raises(UsageError, match="need the local engine; this is lists"):
        scanning.matcher.find(ListEngine([], {}, None), MatchContext(SIGNING, scanning.rule, 1))
