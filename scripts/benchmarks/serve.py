"""The page under load: people who type, at a million sentences, on a file and on a node of this machine.

Open loop: requests leave when they are due, whether those before were answered or not, and a wait counts from then.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psutil

import esdedup
from esdedup.node.control import running_node
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.corpora import articles_of_sentences, dump
from scripts.benchmarks.processes import ESDEDUP, serving
from scripts.benchmarks.rows import Row, at_most

SENTENCES, SMALL_SENTENCES = 1_000_000, 20_000
SECONDS, SMALL_SECONDS = 60, 5
PEOPLE = 50
KEYS = 500  # of the person who types alone
FIRST = 2_000  # keys that are not counted: Java compiles what it runs often, and needs twice the time until then
HASTE = 200  # keys, each of which overtakes the one before
HEAP = 2 * 2**30

_STEPS = 6  # requests in which a sentence is typed
_SAMPLE = 2_400  # sentences; the first 2,000 are asked for while it counts


class Load(NamedTuple):
    """What was seen: seconds of each answer, from when its request was due; and answers that were none."""

    waits: list[float]
    errors: int


def measure(bench: Bench) -> list[Row]:
    sentences = SMALL_SENTENCES if bench.small else SENTENCES
    wiki = dump(bench, articles_of_sentences(bench, sentences))
    folder = bench.work / "serve"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    store = folder / "store.duckdb"
    kept = esdedup.run(wiki, out=folder / "out", store=store)["counts"]["sentences_kept"]
    typed = list(_typed(_sample(store)))
    more = dump(bench, 300 if bench.small else 5_000)
    rows = _served(bench, f"file, {kept:,} sentences", str(store), typed, more)
    with running_node(folder / "node", heap=HEAP) as server:
        esdedup.run(wiki, out=folder / "out", store=f"{server}/serve")
        rows += _served(bench, f"server, {kept:,} sentences", f"{server}/serve", typed, more)
    shutil.rmtree(folder)
    return rows


def _served(bench: Bench, what: str, store: str, typed: Sequence[str], more: Path) -> list[Row]:
    lasting = SMALL_SECONDS if bench.small else SECONDS
    typed, first = typed[:-FIRST], typed[-FIRST:]
    with serving(store) as (port, process):
        asyncio.run(_alone(port, first, FIRST // 10 if bench.small else FIRST))
        alone = asyncio.run(_alone(port, typed, KEYS // 10 if bench.small else KEYS))
        hasty = asyncio.run(_hasty(port, typed))
        crowd = asyncio.run(_crowd(port, typed, lasting))
        command = [*ESDEDUP, "add", more, "--source-name", "more", "--store", store, "--quiet"]
        adding = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        beside = asyncio.run(_crowd(port, typed, lasting, people=PEOPLE // 10, goes_on=lambda: adding.poll() is None))
        added = adding.wait()
        held = psutil.Process(process.pid).memory_info().rss
    if added:
        raise RuntimeError(f"add ended with {added}")
    return [
        *_rows(f"{what}: a person who types alone", alone, {99: 0.1}),
        at_most(f"serve, {what}: {HASTE} keys 2 ms apart, wait after the last", hasty, "ms", 100),
        *_rows(f"{what}: {PEOPLE} people, one request a second each", crowd, {50: 0.1, 99: 0.5}),
        *_rows(f"{what}: {PEOPLE // 10} people while another process adds", beside, {}),
        Row(f"serve, {what}: memory of the server behind all this", held / 2**30, "GiB"),
    ]


def _rows(what: str, load: Load, aims: dict[int, float]) -> list[Row]:
    cuts = quantiles(load.waits, n=100)
    rows = []
    for percent, name in ((50, "median"), (99, "99th percentile")):
        value = 1000 * cuts[percent - 1]
        title = f"serve, {what}: {name}"
        aim = aims.get(percent)
        rows.append(Row(title, value, "ms") if aim is None else at_most(title, value, "ms", 1000 * aim))
    return [*rows, at_most(f"serve, {what}: errors of {len(load.waits) + load.errors:,}", load.errors, "", 0)]


# -- who types -----------------------------------------------------------------------------------------------


def _sample(store: Path) -> list[str]:
    with esdedup.open_store(store, read_only=True) as opened:
        held: Any = opened
        rows = held._db.rows(f"SELECT text FROM sentences ORDER BY hash LIMIT {_SAMPLE}")
    return [text for (text,) in rows]


def _typed(texts: Sequence[str]) -> Iterator[str]:
    """What stands in the box, request after request: sentences of the collection with a word changed, and new ones."""
    chosen = random.Random(1)
    for text in texts:
        words = text.split()
        if chosen.random() < 0.5:
            words[chosen.randrange(len(words))] = "another"
        else:
            chosen.shuffle(words)
        for step in range(1, _STEPS + 1):
            yield " ".join(words[: max(1, len(words) * step // _STEPS)])


async def _crowd(
    port: int,
    typed: Sequence[str],
    lasting: float,
    people: int = PEOPLE,
    goes_on: Callable[[], bool] = lambda: True,
) -> Load:
    """Each person asks once a second, all of them spread over it."""
    begin = time.perf_counter() + 0.2
    share = len(typed) // people
    loads = await asyncio.gather(
        *(
            _person(port, typed[person * share : (person + 1) * share], begin + person / people, int(lasting), goes_on)
            for person in range(people)
        )
    )
    return Load([wait for load in loads for wait in load.waits], sum(load.errors for load in loads))


async def _person(port: int, typed: Sequence[str], begin: float, requests: int, goes_on: Callable[[], bool]) -> Load:
    waits: list[float] = []
    tasks = []
    for turn in range(requests):
        due = begin + turn
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if not goes_on():
            break
        tasks.append(asyncio.ensure_future(_ask(port, typed[turn % len(typed)], due)))
    for answer in await asyncio.gather(*tasks):
        if answer is not None:
            waits.append(answer)
    return Load(waits, len(tasks) - len(waits))


async def _alone(port: int, typed: Sequence[str], keys: int) -> Load:
    """One request as soon as the one before is answered."""
    answers = [await _ask(port, text, time.perf_counter()) for text in typed[:keys]]
    waits = [answer for answer in answers if answer is not None]
    return Load(waits, keys - len(waits))


async def _hasty(port: int, typed: Sequence[str]) -> float:
    """Milliseconds from the last key to its answer, where each key calls off what was asked before it."""
    asked: asyncio.Task[float | None] | None = None
    for text in typed[:HASTE]:
        if asked is not None:
            asked.cancel()
        asked = asyncio.ensure_future(_ask(port, text, time.perf_counter()))
        await asyncio.sleep(0.002)
    assert asked is not None
    waited = await asked
    if waited is None:
        raise RuntimeError("the last key has no answer")
    return 1000 * waited


async def _ask(port: int, text: str, due: float) -> float | None:
    """Seconds from when the request was due to the end of its answer; None without an answer."""
    body = urlencode({"text": text}).encode()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /check HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        try:
            answer = await asyncio.wait_for(reader.read(), 30)
        finally:
            writer.close()
    except (OSError, TimeoutError):
        return None
    return time.perf_counter() - due if answer.startswith(b"HTTP/1.1 200 ") else None
