"""One honest visitor, who clicks ten times a second, while somebody else tries to keep the page from everybody.

Open loop: clicks are made when they are due, whether those before were answered or not, and a wait counts from then.
They go in turns over one connection that is kept, as a browser keeps it, and over new ones.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import psutil

import esdedup
from scripts.benchmarks.attackers import ATTACKS, HOST
from scripts.benchmarks.bench import ROOT, Bench
from scripts.benchmarks.corpora import dump
from scripts.benchmarks.processes import serving
from scripts.benchmarks.rows import Row, at_most

ARTICLES, SMALL_ARTICLES = 400, 100
COPIES, SMALL_COPIES = 20_000, 2_000  # of the cluster whose file is the large answer
SECONDS, SMALL_SECONDS = 12, 3
BETWEEN = 0.1  # seconds from one click to the next
BEFORE = 1.0  # seconds of attack before the first click
PATIENCE = 30.0
TOKEN = "a-token-of-the-benchmark"
PAGE = "/clusters"

_COPY = (
    "The parish has a school for the children of the village, a market on the first Tuesday of each month, a bridge "
    "across the river, and {} houses."
)
_NOBODY = "nobody"


class Visit(NamedTuple):
    waits: list[float]  # seconds of each answer, from when its click was due
    errors: int
    again: int  # clicks that met a kept connection which had just been closed, and went over a new one


def measure(bench: Bench) -> list[Row]:
    store = _store(bench)
    with esdedup.open_store(store, read_only=True) as opened:
        [largest] = esdedup.clusters(store=opened, limit=1)
    rows = []
    for name in (_NOBODY, *ATTACKS):
        rows += _attacked(bench, store, name, f"/api/clusters/{largest['id']}/export")
    return rows


def _store(bench: Bench) -> Path:
    """A small store with one large cluster."""
    folder = bench.work / "attack"
    folder.mkdir(parents=True, exist_ok=True)
    copies = folder / "copies.tsv"
    count = SMALL_COPIES if bench.small else COPIES
    copies.write_text("".join(f"p{at}\t{_COPY.format(1_000 + at % 50)}\n" for at in range(count)), "utf-8")
    wiki = dump(bench, SMALL_ARTICLES if bench.small else ARTICLES)
    store = folder / "store.duckdb"
    esdedup.run(wiki, copies, out=folder / "out", store=store, unit="sentence", fresh=True)
    return store


def _attacked(bench: Bench, store: Path, name: str, large: str) -> list[Row]:
    lasting = SMALL_SECONDS if bench.small else SECONDS
    # only the flood has to do with the token; who has none reaches nothing else
    environment = {"ESDEDUP_SERVE_TOKEN": TOKEN if name.startswith("flood") else ""}
    with serving(store, **environment) as (port, process):
        asyncio.run(_visit(port, 1.0, process.pid))  # what is made once for the first visitor
        attacking = None
        if name != _NOBODY:
            arguments = [name, str(port), str(BEFORE + lasting), large]
            attacking = subprocess.Popen(
                [sys.executable, "-m", "scripts.benchmarks.attackers", *arguments], stdout=subprocess.PIPE, cwd=ROOT
            )
        time.sleep(BEFORE)
        before = sum(psutil.Process(process.pid).cpu_times()[:2])
        visit, peak = asyncio.run(_visit(port, lasting, process.pid))
        used = sum(psutil.Process(process.pid).cpu_times()[:2]) - before
        if attacking is not None:
            print(f"{name}: {json.loads(attacking.communicate(timeout=60)[0])}", file=sys.stderr)
        if process.poll() is not None:
            raise RuntimeError(f"{name}: the server ended with {process.poll()}")
    title = f"attack by {name}"
    cuts = quantiles(visit.waits or [PATIENCE] * 2, n=100)
    return [
        at_most(f"{title}: errors of {len(visit.waits) + visit.errors:,} clicks", visit.errors, "", 0),
        Row(f"{title}: kept connections closed between two clicks, and opened again", visit.again),
        Row(f"{title}: median", 1000 * cuts[49], "ms"),
        at_most(f"{title}: 99th percentile", 1000 * cuts[98], "ms", 500),
        Row(f"{title}: processor time of the server in a second", used / lasting, "s"),
        at_most(f"{title}: peak memory of the server", peak / 2**30, "GiB", 1),
    ]


async def _visit(port: int, lasting: float, pid: int) -> tuple[Visit, int]:
    """The visit, and the most memory that the server had during it."""
    ended, server = asyncio.Event(), psutil.Process(pid)
    peak = server.memory_info().rss

    async def watch() -> None:
        nonlocal peak
        while not ended.is_set():
            peak = max(peak, server.memory_info().rss)
            await asyncio.sleep(0.05)

    watching = asyncio.ensure_future(watch())
    browser = _Browser(port)
    begin, clicks = time.perf_counter(), []
    for turn in range(int(lasting / BETWEEN)):
        due = begin + turn * BETWEEN
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        clicks.append(asyncio.ensure_future(browser.click(due, kept=turn % 2 == 0)))
    waits = await asyncio.gather(*clicks)
    browser.close()
    ended.set()
    await watching
    answered = [wait for wait in waits if wait is not None]
    return Visit(answered, len(waits) - len(answered), browser.again), peak


class _Browser:
    def __init__(self, port: int) -> None:
        self._port = port
        self._kept: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.again = 0

    async def click(self, due: float, *, kept: bool) -> float | None:
        """Seconds from when a click was due to the end of its answer; None without one."""
        try:
            answered = await asyncio.wait_for(self._ask(kept), PATIENCE)
        except (OSError, EOFError, TimeoutError):
            return None
        return time.perf_counter() - due if answered else None

    async def _ask(self, kept: bool) -> bool:
        line, self._kept = (self._kept, None) if kept else (None, self._kept)
        if line is not None:
            try:
                return await self._answer(*line, kept)
            except (OSError, EOFError) as error:
                line[1].close()
                if getattr(error, "partial", b""):
                    return False
                self.again += 1  # as browsers do, if not a byte was answered
        return await self._answer(*await asyncio.open_connection(HOST, self._port), kept)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bool) -> bool:
        end = "keep-alive" if kept else "close"
        lines = (f"GET {PAGE} HTTP/1.1", f"Host: {HOST}", f"Connection: {end}", f"Cookie: esdedup-token={TOKEN}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        if kept and self._kept is None:
            self._kept = reader, writer
        else:
            writer.close()
        return head.startswith(b"HTTP/1.1 200 ")

    def close(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
