"""Search as you type: what is found of questions that nothing was tuned on, how fast, and what the lookup costs.

The originals of the questions have an odd content hash; those with an even one were used while the lookup was made.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz import fuzz, process

import esdedup
from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.hashing import content_hashes
from esdedup.jobs.searching import Alike, alike, completions, similar_rows
from esdedup.lookup.search import WEIGHTS, parts
from esdedup.lookup.text_blocks import squeezed
from esdedup.matching.lsh.collide import jaccards
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.node.control import running_node
from esdedup.store.store import Store
from esdedup.text.search_form import search_form
from esdedup.web.answers.check import check_text
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.peer import Peer, PeerError
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.questions import Questions
from scripts.benchmarks.rows import Row, at_least, at_most, without_value
from scripts.benchmarks.sample import read_lines

COLLECTION, SMALL_COLLECTION = 20_000, 4_000
LARGE, SMALL_LARGE = 1_000_000, 30_000
ASKED, LARGE_ASKED, SMALL_ASKED = 500, 200, 40
"""Questions of each kind: at 20,000 sentences, at a million, and in a smoke test."""

RECALLED = 1_000
PASTED = 20_000
"""Characters of a text that is checked sentence by sentence, as the page does."""

PEERS_ASKED = 100
HEAP = 2 * 2**30
UNIQUE = 0.6
"""An original has no other stored text as similar as this, by Jaccard."""

WIKIS = ("elwiki-2023-head.xml.bz2", "ukwiki-2023-head.xml.bz2", "berlin/fr.xml.bz2", "berlin/de.xml.bz2")
SHARE = 0.7  # of the collection are English descriptions, the rest sentences of these wikis
OPTIONS: dict[str, Any] = {"unit": "record", "min_chars": 0, "max_chars": 600, "jaccard": 0.8}


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "similar"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stored, absent = _collection(bench, folder)
    with running_node(folder / "node", heap=HEAP) as server:
        places = {"file": str(folder / "small.duckdb"), "server": f"{server}/small"}
        rows = _small(bench, folder, places, stored, absent)
        rows += _large(bench, folder, server, stored)
    shutil.rmtree(folder)
    return rows


def _collection(bench: Bench, folder: Path) -> tuple[list[str], list[str]]:
    """Distinct real sentences, and others that are not among them."""
    source = random.Random(1)
    english = sorted({text for _, text in read_lines(bench.data) if 75 <= len(text) <= 600})
    foreign: set[str] = set()
    for name in WIKIS:
        read = esdedup.extract(bench.data / "wiki" / name, sentences=True)
        foreign |= {row.text for row in read if 75 <= len(row.text) <= 600}
    others = sorted(foreign)
    source.shuffle(english)
    source.shuffle(others)
    size = SMALL_COLLECTION if bench.small else COLLECTION
    ours = int(size * SHARE)
    return english[:ours] + others[: size - ours], english[ours : ours + 1_000]


def _table(path: Path, texts: Sequence[str]) -> Path:
    path.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)), "utf-8")
    return path


# -- 20,000 sentences -------------------------------------------------------------------------------------------


def _small(bench: Bench, folder: Path, places: dict[str, str], stored: list[str], absent: list[str]) -> list[Row]:
    for place in places.values():
        esdedup.index(_table(folder / "small.tsv", stored), store=place, quiet=True, **_signing())
    count = SMALL_ASKED if bench.small else ASKED
    with esdedup.open_store(places["file"], read_only=True) as file, esdedup.open_store(places["server"]) as server:
        originals = _originals(file, stored, count)
        rows = _found(f"{len(stored):,} sentences", {"file": file, "server": server}, stored, originals)
        rows += _typed(f"{len(stored):,} sentences", {"file": file, "server": server}, stored, originals)
        wrong = sum(bool(alike(file, text, 0.8).match.any()) for text in absent if not _matches(file, stored, text))
        rows.append(at_most("not in the collection: wrongly called a match, of 1,000", wrong, "", 0))
        rows += _by_part(file, stored, originals)
        rows += _recall(bench, file, server, stored)
        rows += _peers(bench, server, stored, originals)
    return rows


def _signing() -> dict[str, Any]:
    return {name: value for name, value in OPTIONS.items() if name != "jaccard"}


def _originals(store: Store, stored: list[str], count: int) -> list[int]:
    """Texts to ask for: not tuned on, and without a similar text in the store."""
    hashes = content_hashes(*text_buffers(text_column(stored)))
    found: list[int] = []
    for at in random.Random(2).sample(range(len(stored)), len(stored)):
        if len(found) == count:
            break
        if hashes[at] % 2:
            like = alike(store, stored[at], jaccard=0.01)
            own = like.hashes == hashes[at]
            if not (like.jaccard[~own] >= UNIQUE).any():
                found.append(at)
    return found


def _found(what: str, stores: dict[str, Store], stored: list[str], originals: list[int]) -> list[Row]:
    questions = Questions([word for text in stored[:2_000] for word in text.split()], seed=3)
    rows, same, asked, matches = [], 0, 0, 0
    for kind, (change, aim) in questions.of_all_kinds().items():
        texts = [(at, change(stored[at])) for at in originals]
        texts = [(at, text) for at, text in texts if kind != "no accents" or text != stored[at]]
        answers = {name: [_first(alike(store, text)) for _, text in texts] for name, store in stores.items()}
        for name, firsts in answers.items():
            right = sum(first == stored[at] for first, (at, _) in zip(firsts, texts, strict=True))
            rows.append(
                at_least(f"{what}, {name}: {kind} ({len(texts)} questions)", right / max(1, len(texts)), "", aim)
            )
        if len(answers) > 1:
            same += sum(one == other for one, other in zip(*answers.values(), strict=True))
            asked += len(texts)
            for _, text in texts[:100]:
                one, other = (alike(store, text) for store in stores.values())
                matches += set(one.hashes[one.match].tolist()) != set(other.hashes[other.match].tolist())
    if asked:
        rows.append(at_least(f"{what}: both stores give the same first answer", same / asked, "", 0.98))
        rows.append(at_most(f"{what}: questions with other matches on the other store", matches, "", 0))
    return rows


def _by_part(store: Store, stored: list[str], originals: list[int]) -> list[Row]:
    """What each part of the similarity would put in first place, and all together."""
    questions = Questions([word for text in stored[:2_000] for word in text.split()], seed=8)
    ranks = {"containment": [1, 0, 0], "words in order": [0, 1, 0], "Jaccard": [0, 0, 1], "all three": WEIGHTS}
    kinds = ("5 words replaced", "words shuffled", "first 40 %", "last 50 %")
    right = dict.fromkeys(ranks, 0)
    for kind in kinds:
        change, _ = questions.of_all_kinds()[kind]
        for at in originals:
            text = change(stored[at])
            found = alike(store, text, min_similarity=0)
            shares = parts(_form(text), search_form(found.texts))
            for name, weights in ranks.items() if len(found) else ():
                best = int(np.argmax(np.round(shares @ np.array(weights, float), 9)))
                right[name] += found.texts[best].as_py() == stored[at]
    return [
        Row(f"first place by {name}: {', '.join(kinds)}", count / (len(kinds) * len(originals)))
        for name, count in right.items()
    ]


def _form(text: str) -> str:
    return str(search_form(text_column([text]))[0].as_py())


def _first(found: Alike) -> str | None:
    return found.texts[0].as_py() if len(found) else None


def _typed(what: str, stores: dict[str, Store], stored: list[str], originals: list[int]) -> list[Row]:
    questions = Questions(stored[0].split(), seed=4)
    keys = sorted(squeezed(search_form(text_column(stored))).to_pylist())
    rows = []
    for kind, (change, aim) in questions.typed().items():
        texts = [(at, change(stored[at])) for at in originals]
        unsure = [(at, text) for at, text in texts if _sharing(keys, stored[at][: len(text)]) <= 5]
        for name, store in stores.items():
            right = sum(stored[at] in {row["text"] for row in completions(store, text, 5)} for at, text in unsure)
            share = f"{len(unsure) / max(1, len(texts)):.0%} of the questions"
            rows.append(at_least(f"{what}, {name}: suggest, {kind} ({share})", right / max(1, len(unsure)), "", aim))
    return rows


def _sharing(keys: list[str], prefix: str) -> int:
    """How many texts begin in this way."""
    low = str(squeezed(search_form(text_column([prefix])))[0].as_py())
    at = np.searchsorted(keys, [low, low + "\U0010ffff"])
    return int(at[1] - at[0])


def _recall(bench: Bench, file: Store, server: Store, stored: list[str]) -> list[Row]:
    """What `similar` calls a match, against comparing the question with every text."""
    source, rows = random.Random(5), []
    questions = Questions([word for text in stored[:2_000] for word in text.split()], seed=6)
    kinds = [change for change, _ in questions.of_all_kinds().values()]
    asked = [source.choice(kinds)(text) for text in source.sample(stored, SMALL_ASKED if bench.small else RECALLED)]
    for limit in (0.8, 0.5):
        true, found = 0, {"file": 0, "server": 0}
        for text in asked:
            matches = _matches(file, stored, text, limit)
            true += len(matches)
            for name, store in (("file", file), ("server", server)):
                like = alike(store, text, jaccard=limit)
                found[name] += len(matches & set(like.texts.filter(pa.array(like.match)).to_pylist()))
        for name, count in found.items():
            rows.append(at_least(f"{name}: matches at Jaccard {limit}, of {true:,}", count / max(1, true), "", 1))
    return rows


_SETS: dict[int, Any] = {}


def _matches(store: Store, stored: list[str], text: str, limit: float = 0.8) -> set[str]:
    """The stored texts at or above a Jaccard index, by brute force."""
    signer = TextSigner(store.signing)
    every = TextSigner(store.signing, 0)
    if id(stored) not in _SETS:
        _SETS.clear()
        _SETS[id(stored)] = signer.sets(every.views(text_column(stored)))
    flat, bounds, kind = _SETS[id(stored)]
    mine, ends, own = signer.sets(every.views(text_column([text])))
    together = _with_question(flat, bounds, kind, mine, ends, own)
    scores = jaccards(*together, np.zeros(len(stored), np.int64), np.arange(1, len(stored) + 1))
    return {stored[at] for at in np.flatnonzero(scores >= limit)}


def _with_question(flat: Any, bounds: Any, kind: Any, mine: Any, ends: Any, own: Any) -> tuple[Any, Any, Any]:
    """The sets of a question, in each view, before those of all texts."""
    count, views = len(kind), (len(bounds) - 1) // len(kind)
    parts, sizes = [], []
    for view in range(views):
        parts += [mine[ends[view] : ends[view + 1]], flat[bounds[view * count] : bounds[(view + 1) * count]]]
        sizes += [
            ends[view + 1 : view + 2] - ends[view : view + 1],
            np.diff(bounds[view * count : (view + 1) * count + 1]),
        ]
    return np.concatenate(parts), np.concatenate(([0], np.cumsum(np.concatenate(sizes)))), np.concatenate((own, kind))


def _peers(bench: Bench, server: Store, stored: list[str], originals: list[int]) -> list[Row]:
    """What others put in first place, on the same questions."""
    questions = Questions([word for text in stored[:2_000] for word in text.split()], seed=3)
    chosen = originals[: 10 if bench.small else PEERS_ASKED]
    kinds = ("3 words replaced", "6 typing errors", "capitals", "words shuffled", "first 40 %")
    asked = {kind: [questions.of_all_kinds()[kind][0](stored[at]) for at in chosen] for kind in kinds}
    opened: Any = server
    index, reader = opened._open.names["sentences"], opened._open.reader

    def searched(query: Callable[[str], dict[str, Any]]) -> Callable[[str], str | None]:
        def ask(text: str) -> str | None:
            hits = reader.search(index, {"size": 1, "query": query(text)})["hits"]["hits"]
            return hits[0]["_source"]["text"] if hits else None

        return ask

    like = {"fields": ["text"], "min_term_freq": 1, "min_doc_freq": 1, "max_query_terms": 50}
    peers: dict[str, Callable[[str], str | None]] = {
        "Elasticsearch match (BM25)": searched(lambda text: {"match": {"text": text}}),
        "Elasticsearch more_like_this": searched(lambda text: {"more_like_this": {**like, "like": text}}),
        "rapidfuzz extract (WRatio)": lambda text: process.extractOne(text, stored, scorer=fuzz.WRatio)[0],
        "esdedup": lambda text: _first(alike(server, text)),
    }
    rows = []
    for name, ask in peers.items():
        for kind, texts in asked.items():
            few = texts[: max(1, len(texts) // 5)] if "rapidfuzz" in name else texts
            began = time.perf_counter()
            right = sum(ask(text) == stored[at] for at, text in zip(chosen, few, strict=False))
            took = 1000 * (time.perf_counter() - began) / len(few)
            rows.append(Row(f"{name}: {kind} ({took:.0f} ms a question)", right / len(few)))
    try:
        with Peer("with_datasketch", [*stored, *(text for texts in asked.values() for text in texts)]) as peer:
            first = peer.result("nearest", asked=len(chosen) * len(kinds))["first"]
        for number, kind in enumerate(kinds):
            some = first[number * len(chosen) : (number + 1) * len(chosen)]
            rows.append(Row(f"datasketch MinHashLSH (Jaccard ≥ .5): {kind}", float((some == np.array(chosen)).mean())))
    except PeerError as error:
        rows.append(without_value("datasketch", str(error)))
    return rows


# -- a million sentences ----------------------------------------------------------------------------------------


def _large(bench: Bench, folder: Path, server: str, stored: list[str]) -> list[Row]:
    fill = dump(bench, articles_of_sentences(bench, SMALL_LARGE if bench.small else LARGE))
    sources = [_table(folder / "small.tsv", stored), fill]
    rows = []
    for name, place in (("file", str(folder / "large.duckdb")), ("server", f"{server}/large")):
        seconds, sizes = {}, {}
        for lookup in (False, True):
            how = [] if lookup else ["--no-lookup"]
            command = [*ESDEDUP, "index", *sources, "--store", place, "--fresh", "--quiet", "--unit", "sentence"]
            seconds[lookup] = run([*command, *how, "--lang", "en"]).seconds
            sizes[lookup] = esdedup.status(store=place)["disk_bytes"]
        more = 1.6 if name == "file" else 1.25
        rows += [
            Row(f"{name}: loading with its lookup", seconds[True], "s"),
            at_most(f"{name}: loading with its lookup ÷ without", seconds[True] / seconds[False], "x", 1.3),
            at_most(f"{name}: disk with its lookup ÷ without", sizes[True] / sizes[False], "x", more),
        ]
        with esdedup.open_store(place, read_only=True) as store:
            kept = store.corpus.counts()["sentences_kept"]
            originals = _originals(store, stored, SMALL_ASKED if bench.small else LARGE_ASKED)
            rows += _found(f"{kept:,} sentences", {name: store}, stored, originals)
            rows += _latency(f"{kept:,} sentences, {name}", store, stored, originals, file=name == "file")
    return rows


def _latency(what: str, store: Store, stored: list[str], originals: list[int], *, file: bool) -> list[Row]:
    questions = Questions([word for text in stored[:2_000] for word in text.split()], seed=7)
    asked = [change(stored[at]) for at in originals for change in (questions.inflected, questions.joined, str.upper)]
    waits: dict[str, list[float]] = {"similar": [], "suggest": []}
    for text in asked:
        began = time.perf_counter()
        similar_rows(store, alike(store, text), 20)
        waits["similar"].append(time.perf_counter() - began)
        began = time.perf_counter()
        completions(store, text[:25], 10)
        waits["suggest"].append(time.perf_counter() - began)
    rows = []
    for verb, took in waits.items():
        cut = quantiles(took[5:], n=100)  # the first ones read the store
        if file:
            rows.append(at_most(f"{what}: {verb}, median", 1000 * cut[49], "ms", 15))
        rows.append(at_most(f"{what}: {verb}, 99 of 100", 1000 * cut[98], "ms", 100 if file else 150))
    pasted = " ".join(questions.replaced(text, 1) for text in stored)[:PASTED]
    began = time.perf_counter()
    told = check_text(store, pasted)
    seconds = time.perf_counter() - began
    name = f"{what}: a pasted text of {len(pasted):,} characters, a word replaced in each sentence"
    rows.append(at_most(name, seconds, "s", 2))
    rows.append(Row(f"{what}: of its {told['looked_up']} sentences, found", told["copied"]))
    return rows
