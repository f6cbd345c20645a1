"""Questions about sentences that the server answers: texts like another one, and sentences by text and id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.lookup.search import NOTHING, Found
from esdedup.lookup.text_blocks import keys_of
from esdedup.store.corpus import PLACES, Filters, Question, SentenceQuery
from esdedup.store.elasticsearch.answers import TooLongError
from esdedup.store.elasticsearch.bulk import Action, Bulk, put
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.reading import PAGE, Fields, Hits, hashes, integers, signed
from esdedup.store.elasticsearch.rebuilding import Rebuilding
from esdedup.store.elasticsearch.rows import (
    NAMED,
    START_CHARS,
    one_signed,
    searched_fields,
    sentence_table,
)
from esdedup.store.elasticsearch.search_words import folded, is_written, word_of
from esdedup.store.schemas import SENTENCES
from esdedup.text.search_form import search_form

_LONGEST_ID = 32_766  # bytes; the longest term that the server accepts and stores
_MOST_WORDS = 300  # of a question: servers accept at least 1,024 clauses
_LONGEST_WORD = 255  # letters; a longer one is cut in the index
_FIRST_PAGE = 200  # texts that are looked at before it is known whether more are needed
_COPIES = 1.25  # sentences that are asked for to have one text: some texts stand at several places
_MOST_HITS = 100  # of each text: more are refused in an aggregation
_FIRST_PLACES = 500  # sentences of texts that are asked for at once
_FEW_PLACES, _FEW_OF_EACH = 200, 20  # sentences of texts that are fetched to be counted
_LEAST = 100  # texts that are returned, however little they share
_ALIKE = 2  # a text that shares so many times `enough` may be a match
_LEAST_SHARE = 0.2  # of the words of a question, and of their beginnings, that a text that is counted has
_FEW_WORDS = 6  # of a question; of a longer one only the last word may be half typed
_MISTYPED = 4  # letters of a word in which a typing error is looked for
_ABOVE_ALL = 1e6  # a score higher than that of any words
_BEGINNING = 4  # letters; the longest that `text` has an index of

_EARLIER_START = ("head", 32)
"""What sorts by the beginning in an index of an earlier version, and how many letters of it."""

_MISSING = {"bool": {"must_not": {"exists": {"field": "start"}}}}
_DOCUMENTS = {"cardinality": {"field": "document_number", "precision_threshold": 40_000}}
_TEXT = Fields(columns=("hash",), source=True).body()


class SentenceQueries:
    """Asks the index of sentences of a store."""

    def __init__(self, opened: OpenGeneration) -> None:
        self._open = opened
        self._reader = opened.reader
        self._is_whole = False

    @property
    def _index(self) -> str:
        return self._open.names["sentences"]

    # -- the lookup -----------------------------------------------------------------------------------------

    def behind(self) -> int:
        """Return how many sentences cannot be found: written without a lookup, or by somebody else. Once there are
        none, this is not asked again for each question.
        """
        missing = 0 if self._is_whole else self._reader.count(self._index, _MISSING)
        self._is_whole = not missing
        return missing

    def make(self, follow: Callable[[int], None]) -> None:
        """Write these sentences again, with what the lookup needs; if their index has no place for it, all of them into
        a new one. Nobody else may write meanwhile: a sentence that is removed would come back.
        """
        if not self._open.has_lookup:
            rebuilding = Rebuilding(self._open.connection, self._open.indices, self._open.generation)
            self._open.move(rebuilding.look_up(follow))
            return
        with Bulk(self._open.connection, self._index) as bulk:
            bulk.add(self._whole(follow))
            bulk.finish()
        self._open.indices.refresh(self._index)

    def _whole(self, follow: Callable[[int], None]) -> Iterator[Action]:
        done = 0
        for hits in self._reader.read_all(self._index, NAMED, _MISSING):
            texts = text_column([hit["_source"]["text"] for hit in hits])
            for hit, more in zip(hits, searched_fields(texts), strict=True):
                yield put(hit["_id"], orjson.dumps(hit["_source"] | more))
            follow(done := done + len(hits))

    def alike(self, question: Question, most: int, enough: float) -> Found:
        """See `Corpus.alike`. The score is BM25 over words, and over their beginnings.

        Enough is a share of the words here: where all texts are alike, one rare word outweighs all others. So many of
        the best sentences are looked at, because the server finds these without a look at all others; each text once
        takes it several times longer, and is asked for only if copies of a few texts hide the others.

        Of a long question, beginnings alone find the same, but where very many texts may be matches by these: only
        then are whole words asked for too, which takes half as long again.
        """
        every = dict.fromkeys(reversed(folded(question.form).split()))  # the last one may be half typed
        words = [word for word in reversed(every) if len(word) <= _LONGEST_WORD]
        itself, conditions = _itself(question), _conditions(question.filters)
        if not words and not itself:
            return NOTHING
        words = words[:: -(-len(words) // _MOST_WORDS) or 1]  # of very long texts, evenly
        queries = _Words("folded", earlier=True) if self._open.is_earlier else _Words("text", earlier=False)
        turns = [(queries.asked(words, queries.whole, half=question.half), most, _LONGEST_WORD)]
        if len(words) > _FEW_WORDS:
            beginnings = queries.asked(words, queries.beginnings, half=question.half)
            turns.insert(0, (beginnings, min(_FIRST_PAGE, most), _BEGINNING))
        elif most > 2 * _FIRST_PAGE:
            turns.insert(0, (turns[0][0], _FIRST_PAGE, _LONGEST_WORD))
        for should, texts, letters in turns:
            asked = {"should": should, "filter": conditions}
            wanted = asked | {"should": should + itself, "minimum_should_match": 1}
            body: dict[str, Any] = {"query": {"bool": wanted}, "track_total_hits": False}
            size = round(_COPIES * texts)
            page = self._hits(body, size)
            hits = _of_first(page, texts)
            found = _found(hits)
            if len(hits) == len(page) < size:
                return found
            share = _share(words, hits[-1], letters)
            if len(found.hashes) >= min(_LEAST, most):
                if share < enough:
                    return found
                if texts == most and share < _ALIKE * enough:
                    break
        may_match = share >= _ALIKE * enough and not question.half
        if len(found.hashes) < (most if may_match else min(_LEAST, most)):
            each = {"collapse": {"field": "hash"}, "sort": [{"_score": "desc"}, {"hash": "asc"}]}
            hits = self._hits(body | each, most)
            found = _found(hits)
            if len(hits) < most or _share(words, hits[-1], letters) < enough:
                return found
        others = (
            1 if question.half or not question.counted else max(0, self._sharing(asked, enough) - len(found.hashes))
        )
        return found._replace(left_out=others)

    def _sharing(self, asked: dict[str, Any], enough: float) -> int:
        """Return about how many texts have enough of the words that are asked for."""
        least = {"minimum_should_match": max(1, int(len(asked["should"]) * max(_LEAST_SHARE, enough)))}
        body = {
            "size": 0,
            "query": {"bool": {"filter": [{"bool": asked | least}]}},
            "aggs": {"texts": {"cardinality": {"field": "hash"}}},
        }
        return int(self._reader.search(self._index, body)["aggregations"]["texts"]["value"])

    def beginning(self, question: Question, most: int) -> Found:
        """See `Corpus.beginning`. The index sorts by the first letters only."""
        if not (self._open.is_earlier or self._open.has_lookup):  # an empty one
            return NOTHING
        field, chars = _EARLIER_START if self._open.is_earlier else ("start", START_CHARS)
        squeezed = question.form.replace(" ", "")
        query = {"bool": {"filter": [{"prefix": {"start": squeezed[:chars]}}, *_conditions(question.filters)]}}
        low, found = squeezed.encode(), NOTHING
        body: dict[str, Any] = {"query": query, "sort": [field, "hash", "number"], "track_total_hits": False}
        size = min(most + 64, PAGE)
        while True:
            page = self._hits(body, size)
            found = found.joined(_found(page))
            keys = keys_of(found.texts)
            fits = [at for at in range(len(keys)) if keys[at].startswith(low)]
            order = np.array(sorted(fits, key=lambda at: (keys[at], found.hashes[at])), np.int64)[:most]
            last = page[-1]["sort"] if page else [""]
            # texts with the same beginning as the last one may come in any order
            enough = not most or (len(order) == most and last[0] > keys[order[-1]].decode()[:chars])
            if enough or len(page) < size:
                return Found(found.hashes[order], found.texts.take(pa.array(order)))
            body["search_after"] = [*last[:2], 2**63 - 1]  # past all other sentences with the last text
            size = min(2 * size, PAGE)

    def _hits(self, body: dict[str, Any], size: int) -> Hits:
        """Return the first hits of a search, with their texts. Very long texts are fetched afterwards, in parts."""
        try:
            hits: Hits = self._reader.search(self._index, body | _TEXT | {"size": size})["hits"]["hits"]
        except TooLongError:
            few = {"size": size, "_source": False, "docvalue_fields": ["hash"]}
            hits = self._reader.search(self._index, body | few)["hits"]["hits"]
            values = integers(hits, "hash")
            pages = self._reader.first_of_each(self._index, "hash", np.unique(values), NAMED)
            sources = {hit["_source"]["hash"]: hit["_source"] for page in pages for hit in page}
            hits = [{**hit, "_source": sources[value]} for hit, value in zip(hits, values.tolist(), strict=True)]
        return hits

    # -- sentences ------------------------------------------------------------------------------------------

    def of_texts(self, query: SentenceQuery) -> pa.Table:
        """Return the sentences with the texts of a query."""
        conditions = _conditions(query.filters)
        values = list(map(one_signed, query.hashes or ()))
        return _in_order(values, chain.from_iterable(self._of_each(values, query.most, conditions)))

    def standing(self, query: SentenceQuery) -> tuple[pa.Table, pa.Table]:
        """See `Corpus.standing`: with one request or two, unless the sentences that are wanted are many or long."""
        values, conditions = list(map(one_signed, query.hashes or ())), _conditions(query.filters)
        most = query.most
        if values and most is not None and most <= _MOST_HITS and most * len(values) <= _FIRST_PLACES:
            with suppress(TooLongError):
                return self._few(values, conditions, most) or self._first(values, conditions, most)
        return self.of_texts(query), self.places(np.array(query.hashes, np.uint64), query.filters)

    def _few(
        self, values: Sequence[int], conditions: list[dict[str, Any]], most: int
    ) -> tuple[pa.Table, pa.Table] | None:
        """Return what `standing` returns if the texts stand at few places, which is usual: then all are fetched, which
        takes half as long as to have the first ones chosen.
        """
        query = {"bool": {"filter": [{"terms": {"hash": list(values)}}, *conditions]}}
        few = min(_FEW_PLACES, _FEW_OF_EACH * len(values))
        body = {"query": query, "sort": ["_doc"], "track_total_hits": False, "size": few, **NAMED.body()}
        hits: Hits = self._reader.search(self._index, body)["hits"]["hits"]
        if len(hits) == few:
            return None
        of_each: dict[int, Hits] = {}
        for hit in sorted(hits, key=lambda hit: hit["_source"]["number"]):
            of_each.setdefault(hit["_source"]["hash"], []).append(hit)
        counted = [
            (value, len(some), len({hit["_source"].get("document_number") for hit in some} - {None}))
            for value, some in of_each.items()
        ]
        return _in_order(values, chain.from_iterable(some[:most] for some in of_each.values())), _places(counted)

    def _first(self, values: Sequence[int], conditions: list[dict[str, Any]], most: int) -> tuple[pa.Table, pa.Table]:
        """Return what `standing` returns, however often the texts stand: the server chooses their first places."""
        first = {"top_hits": {"size": most, "sort": ["number"], **NAMED.body()}}
        buckets = self._buckets(values, conditions, {"first": first, "documents": _DOCUMENTS})
        hits = (hit for bucket in buckets for hit in bucket["first"]["hits"]["hits"])
        return _in_order(values, hits), _places(_counts_of(buckets))

    def _of_each(self, values: Sequence[int], most: int | None, conditions: list[dict[str, Any]]) -> Iterator[Hits]:
        if most is None:
            only = {"bool": {"filter": conditions}}
            yield from self._reader.look_up(self._index, "hash", values, NAMED, only)
            return
        for begin in range(0, len(values), PAGE // 10):
            some = values[begin : begin + PAGE // 10]
            if most == 1:
                yield from self._reader.first_of_each(
                    self._index, "hash", np.array(some), NAMED, query={"bool": {"filter": conditions}}, sort=["number"]
                )
                continue
            counted = self._counts(some, conditions)
            few = [value for value in some if counted.get(value, 0) <= most]
            yield from self._reader.look_up(self._index, "hash", few, NAMED, {"bool": {"filter": conditions}})
            for value in some:
                if counted.get(value, 0) > most:
                    body = {
                        "query": {"bool": {"filter": [{"term": {"hash": value}}, *conditions]}},
                        "sort": ["number"], **NAMED.body(),
                    }  # fmt: skip
                    yield from self._reader.in_order(self._index, body, most)

    def _counts(self, values: Sequence[int], conditions: list[dict[str, Any]]) -> dict[int, int]:
        return {bucket["key"]: bucket["doc_count"] for bucket in self._buckets(values, conditions, {})}

    def _buckets(
        self, values: Sequence[int], conditions: list[dict[str, Any]], inside: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the buckets of an aggregation by text."""
        if not values:
            return []
        body = {
            "size": 0,
            "query": {"bool": {"filter": [{"terms": {"hash": list(values)}}, *conditions]}},
            "aggs": {"texts": {"terms": {"field": "hash", "size": len(values)}, "aggs": inside}},
        }
        found: list[dict[str, Any]] = self._reader.search(self._index, body)["aggregations"]["texts"]["buckets"]
        return found

    def places(self, asked: Hashes, filters: Filters) -> pa.Table:
        """See `Corpus.places`. Beyond 40,000 documents of one text, the server's number is an estimate."""
        values = signed(np.unique(asked)).tolist()
        return _places(_counts_of(self._buckets(values, _conditions(filters), {"documents": _DOCUMENTS})))

    def named(self, ids: Sequence[str]) -> pa.Table:
        """Return the sentences with these ids."""
        asked = [identity for identity in ids if len(identity.encode()) <= _LONGEST_ID]
        pages = self._reader.look_up(self._index, "id", asked, NAMED)
        return pa.concat_tables([SENTENCES.empty_table(), *map(sentence_table, pages)])

    def has_document(self, identity: str) -> bool:
        """Whether a document has sentences."""
        return self._reader.count(self._index, {"term": {"document": identity}}) > 0


def _in_order(values: Sequence[int], hits: Iterable[dict[str, Any]]) -> pa.Table:
    """Return sentences in the order of their texts, and those of one text in reading order."""
    turns = {value: turn for turn, value in enumerate(values)}
    return sentence_table(sorted(hits, key=lambda hit: (turns[hit["_source"]["hash"]], hit["_source"]["number"])))


def _counts_of(buckets: Iterable[dict[str, Any]]) -> list[tuple[int, int, int]]:
    return [(bucket["key"], bucket["doc_count"], bucket["documents"]["value"]) for bucket in buckets]


def _places(counted: Sequence[tuple[int, int, int]]) -> pa.Table:
    """Return texts with their numbers of sentences and documents, as `PLACES`."""
    values, sentences, documents = np.array(counted, np.int64).reshape(-1, 3).T
    return pa.table([pa.array(hashes(values)), pa.array(sentences), pa.array(documents)], PLACES)


class _Words(NamedTuple):
    """How the words of a sentence are asked for: in which field, and whether an earlier version has written them."""

    field: str
    earlier: bool

    def whole(self, words: Sequence[str]) -> list[dict[str, Any]]:
        """Queries for words, and for their beginnings: other endings, and typing errors after them, share these."""
        long = (word for word in words if len(word) >= _BEGINNING and is_written(word))
        beginnings = dict.fromkeys(word[:_BEGINNING] for word in long)
        return [self._term(word) for word in words] + [self._begins(beginning) for beginning in beginnings]

    def beginnings(self, words: Sequence[str]) -> list[dict[str, Any]]:
        """Queries for short words, and for the beginnings of long ones."""
        asked = dict.fromkeys(word[:_BEGINNING] if is_written(word) else word for word in words)
        return [
            self._begins(word) if len(word) == _BEGINNING and is_written(word) else self._term(word) for word in asked
        ]

    def asked(
        self, words: Sequence[str], whole: Callable[[Sequence[str]], list[dict[str, Any]]], *, half: bool
    ) -> list[dict[str, Any]]:
        """Queries for words. With `half`, the last one, or each of a few, may be half typed or mistyped."""
        if not half:
            return whole(words)
        asked: list[dict[str, Any]] = []
        if len(words) > _FEW_WORDS:
            *before, last = words
            asked, words = whole(before), [last]
        for word in words:
            if len(word) == 1 or not is_written(word):
                asked.append(self._term(word))
                continue
            asked.append(self._begins(word[:_BEGINNING]))
            if len(word) > _BEGINNING:
                asked.append({"prefix": {self.field: word}})
            if len(word) >= _MISTYPED and word.isalpha():
                near = {"value": word, "fuzziness": "AUTO", "prefix_length": 1, "max_expansions": 30}
                asked.append({"fuzzy": {self.field: near}})
        return asked

    def _term(self, word: str) -> dict[str, Any]:
        return {"term": {self.field: word if self.earlier else word_of(word)}}

    def _begins(self, beginning: str) -> dict[str, Any]:
        """A query for words that begin like this, whose score says how rare that is: the field has an index of them."""
        return {"prefix": {self.field: {"value": beginning, "rewrite": "scoring_boolean"}}}


def _itself(question: Question) -> list[dict[str, Any]]:
    """A query for the text that others are compared with, which then comes first."""
    if question.text is None:
        return []
    [own] = content_hashes(*text_buffers(text_column([question.text]))).tolist()
    return [{"constant_score": {"filter": {"term": {"hash": one_signed(own)}}, "boost": _ABOVE_ALL}}]


def _share(words: Sequence[str], hit: dict[str, Any], letters: int) -> float:
    """Return the share of words, by so many first letters, that the text of a hit has."""
    [form] = search_form(text_column([hit["_source"]["text"]])).to_pylist()
    wanted, there = ({word[:letters] for word in some} for some in (words, folded(form).split()))
    return len(wanted & there) / max(1, len(wanted))


def _of_first(hits: Hits, count: int) -> Hits:
    """Return the hits that come before any text but the first `count` ones."""
    texts: set[int] = set()
    for at, value in enumerate(integers(hits, "hash").tolist()):
        texts.add(value)
        if len(texts) > count:
            return hits[:at]
    return hits


def _found(hits: Hits) -> Found:
    """Return the texts of hits, each once, in their order."""
    texts = dict(zip(hashes(integers(hits, "hash")).tolist(), (hit["_source"]["text"] for hit in hits), strict=True))
    return Found(np.array(list(texts), np.uint64), text_column(list(texts.values())))


def _conditions(filters: Filters) -> list[dict[str, Any]]:
    return [{"term": {name: value}} for name, value in filters.chosen.items()]
