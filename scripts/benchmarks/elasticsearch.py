"""The store on a server, with a node of this machine: loading, scanning and asking, each against the bare requests."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import esdedup
from esdedup.columns.database import Database
from esdedup.engines.local.engine import LocalEngine
from esdedup.matching.engine import Sentences
from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.matching.signing import Signing
from esdedup.node.control import running_node
from esdedup.resources import Resources
from esdedup.store.elasticsearch.bulk import BODY_BYTES
from esdedup.store.elasticsearch.indices import CORPUS
from esdedup.store.elasticsearch.reading import PAGE
from esdedup.store.elasticsearch.rows import sentence_actions, signature_fields
from esdedup.store.elasticsearch.store import ServerStore
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import SEEN
from scripts.benchmarks.bench import Bench, seconds
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_least, at_most

SENTENCES, SMALL_SENTENCES = 1_000_000, 20_000
NAIVE, SMALL_NAIVE = 20_000, 500
QUESTIONS = 500
HEAP = 3 * 2**30
SENDERS = 2  # as many as our loader has
BATCH = 122_880  # rows, as a reading hands them over
WIKIPEDIA = 135_800_000
MEMORY = 2**30

_MARK = SourceCheckpoint("bench", "bench", "", qualified=False, number=0)


def measure(bench: Bench) -> list[Row]:
    sentences = SMALL_SENTENCES if bench.small else SENTENCES
    wiki = dump(bench, articles_of_sentences(bench, sentences))
    folder = bench.work / "elasticsearch"
    shutil.rmtree(folder, ignore_errors=True)
    esdedup.index(wiki, store=folder.with_suffix(".duckdb"), fresh=True)
    with running_node(folder, heap=HEAP) as server:
        rows = [
            *_loading(bench, server, wiki, *_signed_batches(folder.with_suffix(".duckdb"))),
            *_asking(bench, server),
        ]
    shutil.rmtree(folder)
    folder.with_suffix(".duckdb").unlink()
    return rows


# -- loading -------------------------------------------------------------------------------------------------


def _signed_batches(path: Path) -> tuple[Signing, list[tuple[pa.Table, pa.Table]]]:
    """Documents and their signed sentences, in batches as they come from a reading."""
    with esdedup.open_store(path, read_only=True) as opened:
        store: Any = opened
        documents = store._db.table("SELECT * EXCLUDE (occurrence) FROM documents ORDER BY number")
        sentences = store._db.table("SELECT * FROM sentences ORDER BY document, position")
    ends = np.cumsum(np.bincount(sentences["document"].to_numpy(), minlength=documents.num_rows))
    batches, first, begin = [], 0, 0
    while first < documents.num_rows:
        last = max(first, int(np.searchsorted(ends, begin + BATCH, "right")) - 1)
        batches.append((documents.slice(first, last + 1 - first), sentences.slice(begin, int(ends[last]) - begin)))
        first, begin = last + 1, int(ends[last])
    return opened.signing, batches


def _loading(
    bench: Bench, server: str, wiki: Path, signing: Signing, batches: list[tuple[pa.Table, pa.Table]]
) -> list[Row]:
    bodies = list(_bodies(signing, batches))
    kept = sum(sentences.num_rows for _, sentences in batches)
    _load_raw(server, bodies[: len(bodies) // 20 + 1])  # the server warms up
    raw, signed, whole, peaks = [], [], [], []
    for _ in range(max(1, bench.runs // 2)):
        raw.append(_load_raw(server, bodies))
        signed.append(_load_signed(server, batches))
        ran = run(
            [*ESDEDUP, "index", str(wiki), "--store", f"{server}/whole", "--fresh", "--quiet", "--memory", "1GiB"],
            sampled=True,
        )
        whole.append(ran.seconds)
        peaks.append(ran.peak)
    fields = _disk(server, "whole")
    run([*ESDEDUP, "index", str(wiki), "--store", f"{server}/plain", "--quiet", "--no-lookup"])
    plain = _disk(server, "plain")
    esdedup.drop(store=f"{server}/plain")
    smaller = {"ES_CODEC": "legacy_best_compression"}
    run([*ESDEDUP, "index", str(wiki), "--store", f"{server}/small", "--quiet"], environment=smaller)
    packed = sum(_disk(server, "small").values())
    esdedup.drop(store=f"{server}/small")
    taken = sum(fields.values())
    return [
        Row(f"raw bulk, {kept:,} sentences, {SENDERS} connections", kept / median(raw), "sentences/s"),
        at_least("loading signed batches, share of raw", median(raw) / median(signed), "", 0.7),
        at_least("index of the dump, share of raw", median(raw) / median(whole), "", 0.45),
        at_most("index: peak of the process tree, --memory 1GiB", max(peaks) / 2**30, "GiB", MEMORY / 2**30 + 0.5),
        at_most("disk, a sentence, after a merge", taken, "bytes", 560),
        at_most("disk, a sentence, --no-lookup, after a merge", sum(plain.values()), "bytes", 400),
        at_most("disk, a sentence, legacy_best_compression, after a merge", packed, "bytes", 480),
        *(Row(f"disk, a sentence, {name}", size, "bytes") for name, size in fields.items() if size >= 5),
        Row("forecast, 135.8 M sentences: disk = bytes a sentence × 135.8 M", taken * WIKIPEDIA / 1e9, "GB"),
        Row(
            "forecast, 135.8 M sentences: index here = 135.8 M ÷ sentences/s",
            WIKIPEDIA / (kept / median(whole)) / 3600,
            "hours",
        ),
    ]


def _disk(server: str, prefix: str) -> dict[str, float]:
    """Bytes a sentence by field, the largest first, after a merge."""
    with opened(f"{server}/{prefix}") as store:
        ask, index = store._open.connection.ask, store._open.names["sentences"]
        ask("POST", f"/{index}/_forcemerge", max_num_segments="1")
        answer = ask("POST", f"/{index}/_disk_usage", run_expensive_tasks="true", flush="true")
        kept = store._open.reader.count(index)
    found = {name: size["total_in_bytes"] / kept for name, size in answer[index]["fields"].items()}
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def _bodies(signing: Signing, batches: list[tuple[pa.Table, pa.Table]]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for documents, sentences in batches:
        for action in sentence_actions(_MARK, signing, documents, sentences, lookup=True):
            held += [line for line in action if line is not None]
            size += sum(map(len, held[-2:]))
            if size >= BODY_BYTES:
                yield b"\n".join([*held, b""])
                held, size = [], 0
    if held:
        yield b"\n".join([*held, b""])


def _load_raw(server: str, bodies: list[bytes]) -> float:
    """Seconds for the same bodies, ready made, sent by as many connections as ours; then a refresh."""
    with _dropped(f"{server}/raw") as store:
        connection, indices = store._open.connection, store._open.indices
        index = indices.name("sentences", indices.make(CORPUS, {}, loading=True))

        def send(body: bytes) -> None:
            answer = connection.ask("POST", f"/{index}/_bulk", body, lines=True, filter_path="errors")
            assert not answer["errors"]

        began = time.perf_counter()
        with ThreadPoolExecutor(SENDERS) as threads:
            list(threads.map(send, bodies))
        indices.refresh(index)
        return time.perf_counter() - began


def _load_signed(server: str, batches: list[tuple[pa.Table, pa.Table]]) -> float:
    with _dropped(f"{server}/signed") as store:
        began = time.perf_counter()
        store.corpus.begin([_MARK])
        for documents, sentences in batches:
            store.corpus.append(_MARK, documents, sentences, SEEN.empty_table())
        store._open.indices.refresh(store._open.names["sentences"])
        return time.perf_counter() - began


# -- scanning and asking ---------------------------------------------------------------------------------------


def _asking(bench: Bench, server: str) -> list[Row]:
    address = f"{server}/whole"
    with opened(address) as store:
        kept = store.corpus.counts()["sentences_kept"]
        readers: dict[str, Callable[[], float]] = {
            "scroll": lambda: seconds(lambda: _bare_scroll(store)),
            "pit": lambda: seconds(lambda: _point_in_time(store)),
            "slices": lambda: seconds(lambda: sum(rows.num_rows for _, rows in store.corpus.signatures("any"))),
            "grouped": lambda: seconds(lambda: _read_and_group(store)),
        }
        times: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(bench.runs):
            for name, read in readers.items():
                times[name].append(read())
    speed = {name: kept / median(took) for name, took in times.items()}
    ran = run([*ESDEDUP, "scan", "--store", address, "--quiet", "--memory", "1GiB"], sampled=True)
    rows = [
        Row("bare scroll, one cursor, pages of 10,000", speed["scroll"], "sentences/s"),
        Row("point in time, sorted [_doc, _shard_doc]", speed["pit"], "sentences/s"),
        Row("our slices, two readers, checked and made columns", speed["slices"], "sentences/s"),
        at_least("read and grouped, share of the bare scroll", speed["grouped"] / speed["scroll"], "", 0.7),
        Row("whole scan: read, group, verify, cluster, write back", kept / ran.seconds, "sentences/s"),
        at_most("scan: peak of the process tree, --memory 1GiB", ran.peak / 2**30, "GiB", MEMORY / 2**30 + 0.5),
        Row("forecast, 135.8 M sentences: scan here", WIKIPEDIA / (kept / ran.seconds) / 3600, "hours"),
    ]
    with opened(address) as store:
        return [*rows, *questions(store), *_naive(bench, store, kept, ran.seconds)]


def _bare_scroll(store: Any) -> int:
    ask, index, seen = store._open.connection.ask, store._open.names["sentences"], 0
    body = {"size": PAGE, "sort": ["_doc"], **signature_fields("any", earlier=False).body()}
    answer = ask("POST", f"/{index}/_search", body, scroll="5m")
    while answer["hits"]["hits"]:
        seen += len(answer["hits"]["hits"])
        answer = ask("POST", "/_search/scroll", {"scroll_id": answer["_scroll_id"], "scroll": "5m"})
    ask("DELETE", "/_search/scroll", {"scroll_id": answer["_scroll_id"]})
    return seen


def _point_in_time(store: Any) -> int:
    ask, index, seen = store._open.connection.ask, store._open.names["sentences"], 0
    identity = ask("POST", f"/{index}/_pit", keep_alive="5m")["id"]
    body = {"size": PAGE, "sort": [{"_doc": "asc"}, {"_shard_doc": "asc"}], "track_total_hits": False}
    body |= {"pit": {"id": identity, "keep_alive": "5m"}, **signature_fields("any", earlier=False).body()}
    while hits := ask("POST", "/_search", body)["hits"]["hits"]:
        seen += len(hits)
        body["search_after"] = hits[-1]["sort"]
    ask("DELETE", "/_pit", {"id": identity})
    return seen


def _read_and_group(store: ServerStore) -> int:
    with Database(memory=MEMORY * 2 // 5, threads=2) as scratch:
        sentences = Sentences(
            store.signing.tokens, lambda done: store.corpus.signatures("any", done), store.corpus.texts
        )
        return LocalEngine(scratch, sentences, MEMORY // 5, Resources().processes).collide(HOT_LIMIT).tokens


def questions(store: ServerStore) -> list[Row]:
    source = random.Random(1)
    members = [member["text"] for cluster in esdedup.clusters(store=store, limit=2000) for member in cluster["members"]]
    texts = source.sample(members, min(QUESTIONS, len(members)))
    edited = [text.replace(" ", "  ", 1) + " And so on." for text in texts]
    prefixes = [text[: source.randint(4, 30)] for text in texts]
    return [
        *_asked(store, "similar", edited, lambda text: esdedup.similar(text, store=store, limit=20)),
        *_asked(store, "suggest", prefixes, lambda text: esdedup.suggest(text, store=store)),
    ]


def _asked(store: Any, what: str, questions: list[str], ask: Callable[[str], Any]) -> list[Row]:
    """Milliseconds: the server's own (`took`), and as they are seen from here."""
    original, took, seen = store._open.connection.ask, [], []

    def noted(*arguments: Any, **parameters: Any) -> Any:
        answer = original(*arguments, **parameters)
        if isinstance(answer, dict) and "took" in answer:
            took[-1] += answer["took"]
        return answer

    store._open.connection.ask = noted
    for question in questions:
        took.append(0)
        began = time.perf_counter()
        ask(question)
        seen.append(1000 * (time.perf_counter() - began))
    store._open.connection.ask = original
    name = f"{what}, {len(questions)} questions"
    return [
        at_most(f"{name}: server's time, median", median(took), "ms", 10),
        at_most(f"{name}: server's time, 99th percentile", float(np.percentile(took, 99)), "ms", 30),
        Row(f"{name}: seen by the client, median", median(seen), "ms"),
        Row(f"{name}: seen by the client, 99th percentile", float(np.percentile(seen, 99)), "ms"),
    ]


def _naive(bench: Bench, store: Any, kept: int, scanned: float) -> list[Row]:
    """One query a sentence, as systems on search engines did, against one scan."""
    asked = SMALL_NAIVE if bench.small else NAIVE
    questions = _first_tokens(store, asked)
    assert len(questions) == asked  # none is asked twice, which a server would have its caches for
    began = time.perf_counter()
    for tokens in questions:
        should = [{"term": {"tokens": token}} for token in tokens.split()]
        store._open.reader.search(
            store._open.names["sentences"], {"size": 10, "_source": False, "query": {"bool": {"should": should}}}
        )
    each = (time.perf_counter() - began) / asked
    return [
        Row(f"one query a sentence: {asked:,} of them", 1 / each, "sentences/s"),
        Row("one query a sentence for all, times our whole scan", each * kept / scanned, "x"),
    ]


def _first_tokens(store: Any, wanted: int) -> list[str]:
    """The tokens of the first sentences, which come in pages."""
    tokens: list[str] = []
    body: dict[str, Any] = {"sort": [{"number": "asc"}], **signature_fields("any", earlier=False).body()}
    while len(tokens) < wanted:
        page = body | {"size": min(PAGE, wanted - len(tokens))}
        hits = store._open.reader.search(store._open.names["sentences"], page)["hits"]["hits"]
        if not hits:
            break
        tokens += [hit["_source"]["tokens"] for hit in hits]
        body["search_after"] = hits[-1]["sort"]
    return tokens


@contextmanager
def opened(address: str) -> Iterator[Any]:
    with esdedup.open_store(address, {}, memory=MEMORY * 3 // 10, threads=2) as store:
        yield store


@contextmanager
def _dropped(address: str) -> Iterator[Any]:
    """A new store, which is dropped afterwards."""
    with opened(address) as store:
        try:
            yield store
        finally:
            store.drop()
