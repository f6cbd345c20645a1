"""What every kind of store must do, in the words of its protocols: the same assertions on each that is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.analysis.classify import CLASSIFIER
from esdedup.clustering.clusters import CLUSTER_TEXTS, CLUSTERS, Clusters
from esdedup.columns.arrays import table_of_rows, text_buffers, text_column
from esdedup.columns.hashing import content_hashes
from esdedup.errors import StoreError, StoreSettingsError
from esdedup.matching.engine import SIGNATURES
from esdedup.matching.groups import token_lists
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.store.cluster_queries import ClusterQuery
from esdedup.store.corpus import EVERYTHING, Filters, Question, SentenceQuery
from esdedup.store.lake.lake_address import LakeAddress
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.registry import KINDS, StoreAddress, address_of, drop_store
from esdedup.store.schemas import DOCUMENT_ROWS, PAIRS, SEEN, SENTENCE_ROWS, SENTENCES
from esdedup.store.store import Store
from tests.support.corpus import corpus
from tests.support.killed import KilledError

FROZEN = {"unit": "sentence", "min_chars": 0}
TEXTS = corpus(7, 12)
NEAR = f"{TEXTS[0]} And more."
LANGUAGES = {"2": "de"}  # of documents; the others are English
DOCUMENTS = [
    ("1", "One", TEXTS[:3]),
    ("2", "Two", [TEXTS[0], *TEXTS[3:6]]),  # a text of the first
    ("10", "Ten", [NEAR, *TEXTS[6:8]]),
]


@pytest.fixture(params=[kind for kind in KINDS if kind is not LakeAddress], ids=lambda kind: kind.kind)
def kind(request: pytest.FixtureRequest) -> type[StoreAddress]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def place(kind: type[StoreAddress], tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a store of the kind may be made."""
    if not kind.shared:
        return str(tmp_path / "s.duckdb")
    url, prefix = (request.getfixturevalue(name) for name in ("elastic_url", "elastic_prefix"))
    return f"{url}/{prefix}"


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with esdedup.open_store(place, FROZEN) as opened:
        yield opened


Document = tuple[str, str | None, Sequence[str]]


def hashes(texts: Sequence[str]) -> list[int]:
    return [int(value) for value in content_hashes(*text_buffers(text_column(list(texts))))]


def column(texts: Sequence[str]) -> pa.Table:
    return pa.table({"hash": pa.array(sorted(set(hashes(texts))), pa.uint64())})


def mark(name: str = "news", version: str = "1", path: str = "news.tsv") -> SourceCheckpoint:
    return SourceCheckpoint(name, path, f"{version} bytes, changed at 5, read with {{}}", qualified=False)


def rows(
    signing: Signing, source: SourceCheckpoint, first: int, documents: Sequence[Document]
) -> tuple[pa.Table, pa.Table]:
    """Documents and sentences as a reader appends them."""
    of_documents, of_sentences = [], []
    signer = TextSigner(signing)
    for place, (key, title, texts) in enumerate(documents):
        [content] = hashes([" ".join(texts)])
        told = (content, len(texts), place + 1, LANGUAGES.get(key, "en"), 0, None, None)
        of_documents.append((first + place, source.number, key, title, *told))
        tokens = token_lists(signer.tokens(signer.views(text_column(list(texts))))).to_pylist()
        of_sentences += [
            (first + place, position, hash_, text, LANGUAGES.get(key, "en"), held, *[None] * 6)
            for position, (hash_, text, held) in enumerate(zip(hashes(texts), texts, tokens, strict=True))
        ]
    return table_of_rows(of_documents, DOCUMENT_ROWS), table_of_rows(of_sentences, SENTENCE_ROWS)


def read(store: Store, documents: Sequence[Document], source: SourceCheckpoint | None = None) -> dict[str, int]:
    """Read documents of one source and commit them."""
    source = source or mark()
    first = store.corpus.begin([source])
    source.documents, source.finished = len(documents), True
    store.corpus.append(source, *rows(store.signing, source, first, documents), SEEN.empty_table())
    return store.corpus.commit()


def found(texts: Sequence[str], *, representative: str, weakest: float) -> Clusters:
    """One cluster of these texts."""
    members = sorted(set(hashes(texts)))
    [centre] = hashes([representative])
    edge = (None, None) if len(members) == 1 else (members[0], members[-1])
    row = (members[0], len(texts), len(members), weakest, *edge, centre, None, False)
    return Clusters(
        table_of_rows([row], CLUSTERS), table_of_rows([(text, members[0]) for text in members], CLUSTER_TEXTS)
    )


def pairs_of(*pairs: tuple[str, str, float, int, int, float]) -> pa.Table:
    named = [(*sorted(hashes([a, b])), *told) for a, b, *told in pairs]
    return table_of_rows(sorted(named), PAIRS)


SUMMARY = {
    "scanning": {"jaccard": 0.5},
    "counts": {"distinct_sentences": 9, "collisions": 1, "candidates": 1},
    "hot_tokens": 0,
}
PAIR = (TEXTS[0], NEAR, 0.75, 2, 3, 0.875)


def scanned(store: Store) -> None:
    """Save results: one pair, one cluster of three sentences."""
    clusters = found([TEXTS[0], TEXTS[0], NEAR], representative=TEXTS[0], weakest=0.75)
    store.results.replace(iter(pairs_of(PAIR).to_batches()), clusters, SUMMARY, CLASSIFIER)


def ids(table: pa.Table) -> list[str]:
    return sorted(table["id"].to_pylist())


def listed(store: Store, **wanted: Any) -> list[list[str]]:
    """The ids of the members of the clusters that are asked for."""
    return [[one["id"] for one in cluster["members"]] for cluster in store.results.cluster_rows(ClusterQuery(**wanted))]


def test_what_is_loaded_is_there(store: Store) -> None:
    assert store.corpus.counts()["documents"] == 0
    assert (store.ledger.sources(), store.ledger.unfinished_reading(), store.ledger.last_reading()) == ([], None, None)
    before = store.ledger.state()
    assert read(store, DOCUMENTS) == {"new": 3, "replaced": 0, "unchanged": 0, "repeated": 0, "gone": 0}
    assert store.ledger.state() != before
    counts = store.corpus.counts()
    assert [counts[name] for name in ("documents", "sentences_read", "sentences_kept")] == [3, 10, 10]
    [source] = store.ledger.sources()
    assert (source.number, source.name, source.documents, source.finished) == (0, "news", 3, True)
    assert store.ledger.unfinished_reading() is None
    reading = store.ledger.last_reading()
    assert reading is not None
    assert (reading.sources, reading.first) == ([0], 0)


def test_signatures_and_texts(store: Store) -> None:
    read(store, DOCUMENTS)

    def sentences(across: str, **which: Any) -> list[tuple[int, int]]:
        slices = [rows for _, rows in store.corpus.signatures(across, **which)]
        tables = [one if isinstance(one, pa.Table) else one.read_all() for one in slices]
        whole = pa.concat_tables([SIGNATURES.empty_table(), *tables])
        return sorted(zip(whole["hash"].to_pylist(), whole["group_id"].to_pylist(), strict=True))

    every = [(text, number) for number, (_, _, texts) in enumerate(DOCUMENTS) for text in hashes(texts)]
    assert sentences("documents") == sorted(every)
    assert sentences("any") == sorted((text, -1) for text, _ in every)
    assert sentences("sources") == sorted((text, 0) for text, _ in every)
    assert sentences("any", done={number for number, _ in store.corpus.signatures("any")}) == []
    [first_text] = hashes(TEXTS[:1])
    assert sentences("documents", of=column(TEXTS[:1])) == [(first_text, 0), (first_text, 1)]
    asked = column([TEXTS[0], NEAR, "nowhere"])
    texts = pa.concat_tables(pa.Table.from_batches([batch]) for batch in store.corpus.texts(asked))
    assert sorted(texts["text"].to_pylist()) == sorted([TEXTS[0], NEAR])
    [first] = [batch.to_pylist() for batch in store.corpus.texts(column(TEXTS[:1]), first=True)]
    assert [(one["text"], one["document"], one["position"]) for one in first] == [(TEXTS[0], 0, 0)]
    signed = store.corpus.signatures_of("any", column([NEAR]))
    tokens = pa.table({"token": pa.array(np.unique(signed["tokens"].to_pylist()), pa.int64())})
    holders = store.corpus.holders(tokens)
    assert set(hashes([NEAR])) <= set(holders["hash"].to_pylist())
    assert len(holders) == len({(row["token"], row["hash"]) for row in holders.to_pylist()})


def test_sentences_are_found(store: Store) -> None:
    read(store, DOCUMENTS)
    assert ids(store.corpus.sentences(SentenceQuery(ids=["2:0", "10:2", "9:9", "x"]))) == ["10:2", "2:0"]
    row = store.corpus.sentence("2:0")
    assert row is not None
    assert {name: row[name] for name in SENTENCES.names} == {
        "id": "2:0", "source": "news", "document": "2", "title": "Two", "position": 0, "text": TEXTS[0],
        "language": "de", "revision": None, "timestamp": None, "hash": hashes(TEXTS[:1])[0],
    }  # fmt: skip
    asked = [*hashes([TEXTS[1], TEXTS[0]]), 7]
    assert store.corpus.sentences(SentenceQuery(hashes=asked))["id"].to_pylist() == ["1:1", "10:1", "1:0", "2:0"]
    assert store.corpus.sentences(SentenceQuery(hashes=hashes(TEXTS[:1]), most=1))["id"].to_pylist() == ["1:0"]
    places = {row["hash"]: row for row in store.corpus.places(np.array(asked, np.uint64), EVERYTHING).to_pylist()}
    [first] = hashes(TEXTS[:1])
    assert places[first] == {"hash": first, "sentences": 2, "documents": 2}
    for most, several in ((1, ["1:1", "1:0"]), (5, ["1:1", "10:1", "1:0", "2:0"])):
        rows, counted = store.corpus.standing(SentenceQuery(hashes=asked, most=most))
        assert rows["id"].to_pylist() == several
        assert sorted(counted["sentences"].to_pylist()) == [2, 2]
    assert store.corpus.has_document("10")
    assert not store.corpus.has_document("11")
    groups = {
        by: sorted((row["id"], row["sentences"]) for batch in store.corpus.groups(by) for row in batch.to_pylist())
        for by in ("documents", "sources")
    }
    assert groups == {"documents": [("1", 3), ("10", 3), ("2", 4)], "sources": [("news", 10)]}


def test_sentences_are_found_by_language(store: Store) -> None:
    read(store, DOCUMENTS)
    assert list(store.corpus.languages().items()) == [("en", 6), ("de", 4)]
    looked_up(store)
    form = TEXTS[0][:40].lower()
    for language, found in (("de", ["2:0"]), ("en", ["1:0"]), ("fr", [])):
        filters = Filters(language=language)
        query = SentenceQuery(hashes=hashes(TEXTS[:1]), filters=filters)
        assert store.corpus.sentences(query)["id"].to_pylist() == found
        assert len(store.corpus.places(np.array(query.hashes, np.uint64), filters)) == bool(found)
        beginning = store.corpus.beginning(Question(form, filters=filters), 5)
        assert beginning.texts.to_pylist()[:1] == TEXTS[:1] * bool(found)
        alike = store.corpus.alike(Question(form, filters=filters), 5, 0.2)
        assert (TEXTS[0] in alike.texts.to_pylist()) == bool(found)


def test_the_lookup_follows_documents(store: Store) -> None:
    read(store, DOCUMENTS)
    looked_up(store)
    assert store.corpus.lookup_behind() == 0
    asked = Question(TEXTS[0].lower().rstrip("."))
    before = store.corpus.alike(asked, 10, 0.5)
    assert TEXTS[0] in before.texts.to_pylist()[:2]
    assert before.left_out == 0
    store.corpus.remove(["1", "2", "10"])
    looked_up(store)
    assert not store.corpus.sentences(SentenceQuery(hashes=hashes(TEXTS[:1]))).num_rows
    read(store, DOCUMENTS[:1], mark(version="2"))
    looked_up(store)
    assert store.corpus.lookup_behind() == 0
    assert TEXTS[0] in store.corpus.alike(asked, 10, 0.5).texts.to_pylist()


def test_copies_of_a_text_do_not_hide_others(store: Store) -> None:
    copies = [(f"c{number}", "Copy", [TEXTS[0]]) for number in range(40)]
    near = TEXTS[0].replace(TEXTS[0].split()[3], "another", 1)
    read(store, [*copies, ("near", "Near", [near]), ("far", "Far", [f"{TEXTS[0].split()[0]} {TEXTS[4]}"])])
    looked_up(store)
    for half in (False, True):
        found = store.corpus.alike(Question(TEXTS[0].lower().rstrip("."), half=half), 20, 0.1)
        assert found.texts.to_pylist()[:2] == [TEXTS[0], near]
        assert found.left_out == 0


def test_copies_of_many_texts_do_not_hide_others(store: Store) -> None:
    texts = [f"{TEXTS[0].rstrip('.')} number {number}." for number in range(100, 250)]
    read(store, [(f"{copy}-{at}", "Twice", [text]) for at, text in enumerate(texts) for copy in range(2)])
    looked_up(store)
    form = TEXTS[0].lower().rstrip(".")
    assert sorted(store.corpus.alike(Question(form), 200, 0.3).texts.to_pylist()) == texts
    assert len(store.corpus.alike(Question(form, half=True), 200, 0.3).hashes) >= 100


def test_the_text_itself_is_found_among_many_like_it(store: Store) -> None:
    words = ["alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo"]
    texts = [" ".join(some) for some in islice(permutations(words), 300)]
    read(store, [("many", "Many", texts), *((f"c{copy}", "Copy", texts[7:8]) for copy in range(250))])
    looked_up(store)
    [source] = store.ledger.sources()
    for filters in (EVERYTHING, Filters(source=source.name), Filters(document="many")):
        for half in (False, True):
            for text in (texts[7], texts[150], texts[299]):
                found = store.corpus.alike(Question(text, half=half, filters=filters, text=text), 20, 0.3)
                assert text in found.texts.to_pylist()
                assert found.left_out or filters.document
    assert not len(store.corpus.itself("alder alder", EVERYTHING).hashes)
    assert not len(store.corpus.itself(texts[7], Filters(source="another")).hashes)


def test_a_word_is_found_among_many_that_begin_like_it(store: Store) -> None:
    plants = "Photosynthesis happens in the green leaves of plants."
    records = [
        f"The record number 20230{at} was entered in the parish register of births by the clerk."
        for at in range(1_000, 2_100)
    ]
    houses = [f"The photograph shows house {at}." for at in range(1_100)]
    read(store, [("houses", "Houses", houses), ("records", "Records", records), ("plants", "Plants", [plants])])
    looked_up(store)
    assert plants in store.corpus.alike(Question("photosynthesis"), 200, 0.3).texts.to_pylist()
    for most in (100, 1_000):
        asked = Question(records[1_050].lower().rstrip("."))
        assert store.corpus.alike(asked, most, 0.3).texts[0].as_py() == records[1_050]


def test_where_texts_stand_is_counted_exactly(store: Store) -> None:
    often, once, twice = TEXTS[0], TEXTS[1], TEXTS[2]
    every = [(f"c{at:03}", "Copy", [often, twice] if at == 7 else [often]) for at in range(250)]
    read(store, [*every, ("two", "Two", [once, often, twice])])
    for texts, counts in (
        ((often, once), {often: 251, once: 1}), ((once, twice), {once: 1, twice: 2}), ((), {}),
    ):  # fmt: skip
        by_hash = dict(zip(hashes(list(texts)), texts, strict=True))
        for most in (1, 5):
            rows, counted = store.corpus.standing(SentenceQuery(hashes=list(by_hash), most=most))
            assert {by_hash[row["hash"]]: row["sentences"] for row in counted.to_pylist()} == counts
            assert {by_hash[row["hash"]]: row["documents"] for row in counted.to_pylist()} == counts
            assert rows["hash"].to_pylist() == [
                value for value, text in by_hash.items() for _ in range(min(most, counts[text]))
            ]


def test_a_text_of_one_very_long_word_is_found(store: Store) -> None:
    text = 300 * "a"
    read(store, [("1", "One", [text])])
    looked_up(store)
    assert store.corpus.alike(Question(text, text=text), 5, 0.3).texts.to_pylist() == [text]


def looked_up(store: Store) -> None:
    if store.corpus.lookup_behind():
        store.corpus.make_lookup(1, lambda _: None)


def test_repeated_ids_are_numbered(store: Store) -> None:
    counts = read(store, [*DOCUMENTS, ("2", "Two again", TEXTS[8:9]), ("2", None, TEXTS[9:10])])
    assert counts == {"new": 5, "replaced": 0, "unchanged": 0, "repeated": 2, "gone": 0}
    named = store.corpus.sentences(SentenceQuery(ids=["2:0", "2#2:0", "2#3:0", "2#4:0"]))
    assert ids(named) == ["2#2:0", "2#3:0", "2:0"]
    [source] = store.ledger.sources()
    assert source.skips.counts == {"repeated_id": 2}
    assert source.skips.places == {"repeated_id": ["record 4: id 2", "record 5: id 2"]}


def test_documents_are_replaced_if_they_changed(store: Store) -> None:
    read(store, DOCUMENTS)
    again = [DOCUMENTS[0], ("2", "Two", [*TEXTS[3:6], TEXTS[9]]), ("11", "Eleven", TEXTS[10:11])]
    assert read(store, again, mark(version="2")) == {"new": 1, "replaced": 1, "unchanged": 1, "repeated": 0, "gone": 0}
    assert store.corpus.counts()["documents"] == 4
    named = store.corpus.sentences(SentenceQuery(ids=["1:0", "2:0", "2:3", "11:0"]))
    assert ids(named) == ["11:0", "1:0", "2:0", "2:3"]
    row = store.corpus.sentence("2:3")
    assert row is not None
    assert row["text"] == TEXTS[9]
    assert len(store.ledger.sources()) == 1


def test_documents_are_removed(store: Store) -> None:
    read(store, DOCUMENTS)
    assert store.corpus.remove(["1", "nobody", "10"]) == (2, ["nobody"])
    assert store.corpus.remove(["1"]) == (0, ["1"])
    assert store.corpus.counts()["sentences_kept"] == 4
    assert store.ledger.last_reading() is None
    assert ids(store.corpus.sentences(SentenceQuery(ids=["1:0", "2:0"]))) == ["2:0"]


def check_results(store: Store) -> None:
    """Whether the store has the results that `scanned` saves."""
    [pair] = [row for batch in store.results.pair_rows() for row in batch.to_pylist()]
    assert pair == {"a": "10:0", "b": "1:0", "jaccard": 0.75, "word_edit_distance": 2, "shared_tokens": 3} | {
        "probability": 0.875, "a": min("1:0", "10:0"), "b": max("1:0", "10:0"),
    }  # fmt: skip
    [cluster] = store.results.cluster_rows()
    assert [one["id"] for one in cluster["members"]] == ["1:0", "10:0", "2:0"]
    assert (cluster["size"], cluster["distinct"], cluster["representative"]) == (3, 2, "1:0")
    assert cluster["weakest"] == ["10:0", "1:0"]
    assert store.results.kinds() == {cluster["kind"]: 1}
    assert store.results.sizes() == store.results.sizes(cluster["kind"]) == {3: 1}
    assert store.results.sizes("no kind") == {}
    assert store.results.contradictions() == 0
    scan = store.results.last_scan()
    assert scan is not None
    assert scan["counts"] == SUMMARY["counts"] | {"pairs": 1, "clusters": 1, "clustered_sentences": 3}
    assert (scan["current"], store.ledger.last_scanning()) == (True, {"jaccard": 0.5})


def test_results_are_read_as_they_were_saved(store: Store, place: str) -> None:
    read(store, DOCUMENTS)
    assert (store.results.last_scan(), store.ledger.last_scanning(), store.corpus.changed_texts()) == (None, None, None)
    scanned(store)
    check_results(store)
    store.close()
    with esdedup.open_store(place, read_only=True) as opened:
        check_results(opened)
    with esdedup.open_store(place) as opened:
        scanned(opened)  # once more: what was there goes
        check_results(opened)


def test_ids_that_look_like_repeated_ones_are_kept(store: Store, place: str) -> None:
    keys = ["a", "a#1", "a#02", "a#3", "7#99999999999", "7#", "#2", "a"]
    read(store, [(key, None, TEXTS[:1]) for key in keys])
    clusters = found(TEXTS[:1] * len(keys), representative=TEXTS[0], weakest=1.0)
    store.results.replace(iter(()), clusters, SUMMARY)
    names = sorted([*keys[:-1], "a#2"])
    [cluster] = store.results.cluster_rows()
    assert [member["document"] for member in cluster["members"]] == names
    store.close()
    with esdedup.open_store(place, read_only=True) as opened:
        assert list(opened.results.cluster_rows()) == [cluster]


def test_questions_about_clusters(store: Store, place: str) -> None:
    read(store, DOCUMENTS)
    scanned(store)
    store.close()
    with esdedup.open_store(place, read_only=True) as opened:
        whole = [["1:0", "10:0", "2:0"]]
        [identity] = [cluster["id"] for cluster in opened.results.cluster_rows()]
        word = TEXTS[0].split()[0]
        asked: list[tuple[dict[str, Any], list[list[str]]]] = [
            ({"min_size": 3}, whole), ({"min_size": 4}, []), ({"document": "2"}, whole), ({"document": "9"}, []),
            ({"article": "Ten"}, whole), ({"article": "1"}, whole), ({"text": word}, whole),
            ({"text": f"{word} nowhereatall"}, []), ({"ids": (identity,)}, whole), ({"ids": ("0" * 16,)}, []),
            ({"limit": 1}, whole), ({"limit": 1, "after": identity}, []), ({"limit": 5, "sort": "jaccard"}, whole),
        ]  # fmt: skip
        for wanted, expected in asked:
            assert listed(opened, **wanted) == expected, wanted
        [brief] = opened.results.cluster_rows(ClusterQuery(ids=(identity,), brief=True))
        assert {"frame", "contradictions", "contradiction", "copies"} <= brief.keys()
        among = [batch.to_pylist() for batch in opened.results.pair_hashes(column([TEXTS[0], NEAR]))]
        assert [(row["jaccard"], row["shared_tokens"]) for some in among for row in some] == [(0.75, 3)]
        assert not sum(batch.num_rows for batch in opened.results.pair_hashes(column([TEXTS[0]])))
        texts, pairs = opened.results.closure(column([NEAR]))
        assert (sorted(texts["hash"].to_pylist()), pairs.num_rows) == (sorted(hashes([TEXTS[0], NEAR])), 1)
        members = [row for batch in opened.results.memberships() for row in batch.to_pylist()]
        assert sorted(row["id"] for row in members) == ["10:0", "1:0", "2:0"]
        assert {row["cluster"] for row in members} == {int(identity, 16)}
        count, shown = opened.results.new_matches(2, 5)
        assert (count, [(row["id"], row["match"], row["jaccard"]) for row in shown]) == (1, [("10:0", "1:0", 0.75)])
        assert list(opened.results.trees(ClusterQuery())) == []
        assert opened.results.copiers() == ({}, 3)


def test_changes_are_known_and_merged(store: Store) -> None:
    read(store, DOCUMENTS)
    scanned(store)
    assert store.corpus.changes() == 0
    other = f"{TEXTS[0]} Or less."
    read(store, [("12", "Twelve", [other])], mark("more", path="more.tsv"))
    changed = store.corpus.changed_texts()
    assert changed is not None
    told = [(row["hash"], row["existed"], row["exists"]) for row in changed.to_pylist()]
    assert told == [(*hashes([other]), False, True)]
    assert (store.results.last_scan() or {})["current"] is False
    pair = (TEXTS[0], other, 0.5, 2, 1, 0.5)
    texts, old = store.results.closure(column([other, TEXTS[0]]))
    assert (texts.num_rows, old.num_rows) == (3, 1)
    clusters = found([TEXTS[0], TEXTS[0], NEAR, other], representative=TEXTS[0], weakest=0.5)
    store.results.merge(column([other]), pairs_of(pair), texts, clusters, SUMMARY, CLASSIFIER)
    assert listed(store) == [["12:0", "1:0", "10:0", "2:0"]]
    [cluster] = store.results.cluster_rows()
    assert (cluster["min_jaccard"], cluster["size"]) == (0.5, 4)
    assert sum(batch.num_rows for batch in store.results.pair_hashes()) == 2
    assert (store.corpus.changes(), (store.results.last_scan() or {})["current"]) == (0, True)


def test_much_change_means_a_whole_scan(store: Store) -> None:
    read(store, DOCUMENTS)
    scanned(store)
    read(store, [("12", None, TEXTS[8:12])], mark("more", path="more.tsv"))
    assert store.corpus.changed_texts() is None
    assert (store.results.last_scan() or {})["current"] is False
    scanned(store)
    assert (store.results.last_scan() or {})["current"] is True


@pytest.mark.parametrize("appended", [0, 1, 2])
def test_a_killed_reading_is_gone_on_with(place: str, appended: int) -> None:
    batches: list[Sequence[Document]] = [DOCUMENTS[:1], DOCUMENTS[1:2], DOCUMENTS[2:]]

    def go_on(store: Store, most: int) -> None:
        source = mark()
        number = store.corpus.begin([source])
        assert number == source.documents
        for batch in batches[source.documents :]:
            if not most:
                raise KilledError
            most -= 1
            number = source.documents
            source.documents += 1
            store.corpus.append(source, *rows(store.signing, source, number, batch), SEEN.empty_table())
        source.finished = True
        store.corpus.commit()

    with pytest.raises(KilledError), esdedup.open_store(place, FROZEN) as store:
        go_on(store, appended)
    with esdedup.open_store(place, read_only=True) as store:
        reading = store.ledger.unfinished_reading()
        assert reading is not None
        assert (reading.sources, reading.first) == ([0], 0)
        assert [source.documents for source in store.ledger.sources()] == [appended]
    with esdedup.open_store(place) as store:
        go_on(store, 3)
        scanned(store)
        check_results(store)
        assert store.corpus.counts()["sentences_kept"] == 10


def test_a_killed_scan_leaves_what_was_there(store: Store, place: str) -> None:
    read(store, DOCUMENTS)
    scanned(store)

    def killed() -> Iterator[pa.RecordBatch]:
        yield from pairs_of((TEXTS[1], TEXTS[2], 0.9, 1, 1, 0.9)).to_batches()
        raise KilledError

    with pytest.raises(KilledError):
        store.results.replace(killed(), found(TEXTS[1:3], representative=TEXTS[1], weakest=0.9), SUMMARY)
    check_results(store)
    store.close()
    with esdedup.open_store(place) as opened:
        check_results(opened)


def test_files_are_written_while_results_are_published(store: Store, place: str) -> None:
    read(store, DOCUMENTS)
    scanned(store)
    seen: list[Any] = []
    near = found(TEXTS[1:3], representative=TEXTS[1], weakest=0.9)

    def disk_full() -> None:
        seen.append((listed(store), store.results.sizes()))
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        store.results.replace(iter(()), near, SUMMARY, None, disk_full)
    assert seen == [(listed(store), {2: 1})]
    assert seen[0][0] == [["1:1", "1:2", "10:1"]]
    store.close()
    with esdedup.open_store(place) as opened:  # the results are whole
        assert listed(opened) == seen[0][0]
        assert opened.results.sizes() == {2: 1}


def test_an_interrupted_command_can_be_repeated(store: Store, place: str) -> None:
    read(store, DOCUMENTS)

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clusters = found(TEXTS[1:3], representative=TEXTS[1], weakest=0.9)
        store.results.replace(iter(()), clusters, SUMMARY, None, interrupted)
    store.close()
    with esdedup.open_store(place) as opened:
        scanned(opened)
        check_results(opened)


def test_jobs_are_noted(store: Store, place: str) -> None:
    assert store.ledger.unfinished_job() is None
    assert store.ledger.begin_job("remove", ["1", "2"]) == []
    store.close()
    with esdedup.open_store(place) as opened:
        assert opened.ledger.unfinished_job() == "remove"
        assert opened.ledger.begin_job("remove", ["3"]) == ["1", "2"]
        assert opened.ledger.begin_job("scan") == []
        opened.ledger.end_job()
        assert opened.ledger.unfinished_job() is None


def test_settings_are_frozen(store: Store, place: str) -> None:
    assert (store.address, store.signing.unit) == (place, "sentence")
    read(store, DOCUMENTS)
    store.close()
    with pytest.raises(StoreSettingsError, match="the store has unit sentence, you requested record"):
        esdedup.open_store(place, {"unit": "record"})


def test_a_store_without_documents_takes_new_settings(store: Store, place: str) -> None:
    store.close()
    with esdedup.open_store(place, {"unit": "line", "seed": 5}) as opened:
        assert (opened.signing.unit, opened.signing.seed) == ("line", 5)
        read(opened, DOCUMENTS)
    with pytest.raises(StoreSettingsError, match="the store has seed 5, you requested 6"):
        esdedup.open_store(place, {"seed": 6})
    with esdedup.open_store(place) as opened:
        assert opened.corpus.counts()["documents"] == len(DOCUMENTS)


def test_a_new_generation_takes_over_when_it_is_published(store: Store, place: str) -> None:
    read(store, DOCUMENTS)
    store.close()
    address = address_of(place)
    assert not address.has_unfinished_generation()
    with esdedup.open_store(place, FROZEN, fresh="a job") as fresh:
        read(fresh, DOCUMENTS[:1])
        assert address.has_unfinished_generation()
        assert fresh.disk_bytes() > 0
        with esdedup.open_store(place, read_only=True) as live:
            assert (live.corpus.counts()["documents"], live.generation != fresh.generation) == (3, True)
        assert address.scan_folder(fresh.generation) != address.scan_folder(live.generation)
        fresh.publish()
    assert not address.has_unfinished_generation()
    with esdedup.open_store(place, read_only=True) as live:
        assert live.corpus.counts()["documents"] == 1


@pytest.fixture
def others(kind: type[StoreAddress], place: str) -> Callable[[], bool]:
    """Makes something of somebody else's beside a store, and tells whether it is still there."""
    if not kind.shared:
        with duckdb.connect(place) as connection:
            connection.execute("CREATE TABLE theirs AS SELECT 1 AS one")
        return lambda: bool(duckdb.connect(place).execute("SELECT one FROM theirs").fetchall())
    url, prefix = place.rsplit("/", 1)
    client = Elasticsearch(url)
    client.indices.create(index=f"{prefix}-theirs")
    return lambda: bool(client.indices.exists(index=f"{prefix}-theirs"))


def test_drop_deletes_only_what_is_ours(
    store: Store, place: str, request: pytest.FixtureRequest, kind: type[StoreAddress]
) -> None:
    read(store, DOCUMENTS)
    scanned(store)
    store.close()
    theirs = request.getfixturevalue("others")
    drop_store(place)
    assert theirs()
    with pytest.raises(StoreError):
        esdedup.open_store(place, read_only=True)
    assert address_of(place).scan_folders() == []
