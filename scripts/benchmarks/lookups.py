"""Which lookup for a store in a file? Our own, tantivy by words and by letters, and a DuckDB table, on the same texts.

Measured are the share of originals in first place, the time of a question, the size and the time to build it. The size
of our own includes the texts, which the others do not have.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, text_column
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes, content_hashes
from esdedup.lookup.grams import grams_of
from esdedup.lookup.lookup_folder import LookupFolder, StoredTexts
from esdedup.lookup.search import Lookup
from esdedup.lookup.text_blocks import TEXTS
from esdedup.lookup.text_rows import Rows
from esdedup.text.search_form import search_form
from scripts.benchmarks.bench import Bench
from scripts.benchmarks.peer import Peer, PeerError
from scripts.benchmarks.questions import Questions
from scripts.benchmarks.rows import Row, without_value
from scripts.benchmarks.sample import read_lines

SMALL = 20_000
ASKED, SMALL_ASKED = 200, 20
KINDS = ("3 words replaced", "6 typing errors", "parted in 3 places", "words shuffled", "first 40 %")
THREADS = 2

Ask = Callable[[str], str | None]


def measure(bench: Bench) -> list[Row]:
    texts = sorted({text for _, text in read_lines(bench.data)})
    random.Random(1).shuffle(texts)
    texts = texts[: SMALL if bench.small else None]
    long = [text for text in texts if len(text) >= 75]
    originals = random.Random(2).sample(long, SMALL_ASKED if bench.small else ASKED)
    questions = Questions([word for text in texts[:2_000] for word in text.split()], seed=3)
    asked = {kind: [questions.of_all_kinds()[kind][0](text) for text in originals] for kind in KINDS}
    folder = bench.work / "lookups"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = _own(folder, texts, originals, asked)
    rows += _of_duckdb(folder, texts, originals, asked)
    for name, letters in (("tantivy by words", False), ("tantivy by 4 letters", True)):
        rows += _of_tantivy(name, letters, texts, originals, asked)
    shutil.rmtree(folder)
    return rows


def _own(folder: Path, texts: list[str], originals: list[str], asked: dict[str, list[str]]) -> list[Row]:
    column = text_column(texts)
    table = pa.table([pa.array(content_hashes(*text_buffers(column))), column], schema=TEXTS)

    def all_of_them(_: Hashes, first: int) -> Iterator[pa.RecordBatch]:
        yield from table.to_batches(max_chunksize=2**16)

    place = LookupFolder(folder / "own.lookup")
    began = time.perf_counter()
    no_rows = Rows(0, 0, lambda low, high: iter(()))
    place.update(StoredTexts("one", 0, all_of_them, lambda known: known[:0], no_rows), THREADS, lambda _: None)
    took = time.perf_counter() - began
    read = place.read("one")
    assert read is not None, "it was just made"
    lookup = Lookup(read.segments)

    def ask(text: str) -> str | None:
        found = lookup.alike(grams_of(search_form(text_column([text])))[0], 100, 1)
        return found.texts[0].as_py() if len(found.texts) else None

    return _rows("esdedup", len(texts), took, place.bytes(), *_asked(ask, originals, asked))


def _of_duckdb(folder: Path, texts: list[str], originals: list[str], asked: dict[str, list[str]]) -> list[Row]:
    """A table of grams, sorted by gram, which DuckDB looks up by its own zone maps."""
    began = time.perf_counter()
    path = folder / "grams.duckdb"
    with Database(path, memory=2**30, threads=THREADS) as db:
        grams, bounds = grams_of(search_form(text_column(texts)))
        owners = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(bounds))
        db.create("unsorted", pa.table({"gram": grams, "text": owners}), temporary=True)
        db.execute("CREATE TABLE grams AS SELECT * FROM unsorted ORDER BY gram, text")
    took = time.perf_counter() - began
    with Database(path, memory=2**30, threads=1, read_only=True) as db:

        def ask(text: str) -> str | None:
            some, _ = grams_of(search_form(text_column([text])))
            found = db.rows(
                "WITH found AS (SELECT gram, text FROM grams WHERE gram IN (SELECT unnest(?::UINTEGER[]))), "
                "weights AS (SELECT gram, ln(1 + ? / count(*)) AS weight FROM found GROUP BY gram) "
                "SELECT text FROM found JOIN weights USING (gram) GROUP BY text "
                "ORDER BY sum(weight) DESC, text LIMIT 1",
                [some.tolist(), len(texts)],
            )
            return texts[found[0][0]] if found else None

        answers = _asked(ask, originals, asked)
    return _rows("a table of DuckDB", len(texts), took, path.stat().st_size, *answers)


def _of_tantivy(
    name: str, letters: bool, texts: list[str], originals: list[str], asked: dict[str, list[str]]
) -> list[Row]:
    every = [text for some in asked.values() for text in some]
    try:
        with Peer("with_tantivy", [*texts, *every], cores=THREADS) as peer:
            took = peer.run("search", asked=0, letters=letters)
            found = peer.result("search", asked=len(every), letters=letters)
    except PeerError as error:
        return [without_value(name, str(error))]
    right = {
        kind: sum(
            texts[first] == original if first >= 0 else False
            for first, original in zip(found["first"][at * len(originals) :], originals, strict=False)
        )
        for at, kind in enumerate(asked)
    }
    return _rows(name, len(texts), took, int(found["bytes"]), right, len(originals), float(np.median(found["waits"])))


def _asked(ask: Ask, originals: list[str], asked: dict[str, list[str]]) -> tuple[dict[str, int], int, float]:
    right, waits = dict.fromkeys(asked, 0), []
    for kind, some in asked.items():
        for original, text in zip(originals, some, strict=True):
            began = time.perf_counter()
            right[kind] += ask(text) == original
            waits.append(time.perf_counter() - began)
    return right, len(originals), median(waits)


def _rows(name: str, texts: int, took: float, size: int, right: dict[str, int], asked: int, wait: float) -> list[Row]:
    return [
        Row(f"{name}: building, {texts:,} texts", took, "s"),
        Row(f"{name}: size of a text", size / texts, "bytes"),
        Row(f"{name}: a question, median", 1000 * wait, "ms"),
        *(Row(f"{name}: first place, {kind}", count / asked) for kind, count in right.items()),
    ]
