"""Deduplication of long documents, of short rows, and against a reference: what is found, and beside other libraries.

All texts are generated (`scripts.wiki.copies`). The copies are planted, so what should be found is known.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import esdedup
from esdedup.columns.arrays import text_column
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.matching.units import UNITS
from scripts.benchmarks.bench import Bench, seconds
from scripts.benchmarks.memory import peak
from scripts.benchmarks.peer import Peer, PeerError
from scripts.benchmarks.processes import ESDEDUP, Ran, run
from scripts.benchmarks.rows import Row, at_least, at_most, without_value
from scripts.wiki.copies import DOCUMENT_KINDS, LEAK_KINDS, Text, documents, new_texts, references, short_rows

SEED = 2026
SMALL = 50
"""Of a smoke test, everything has so many times fewer texts."""

DOCUMENTS, ROWS, SAMPLE, REFERENCES, NEW, EVERY = 20_000, 1_000_000, 50_000, 1_000_000, 100_000, 100
PEERS = {"text-dedup": "with_text_dedup", "datasketch": "with_datasketch", "datatrove": "with_datatrove"}
AIMS = {"words_5": 0.98, "words_10": 0.85}
THRESHOLD = UNITS["record"].jaccard


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    scale = SMALL if bench.small else 1
    rows = [
        *_long_documents(folder, DOCUMENTS // scale),
        *_short_rows(folder, ROWS // scale, SAMPLE // scale),
        *_leaks(folder, NEW // scale, REFERENCES // scale),
    ]
    shutil.rmtree(folder)
    return rows


def _long_documents(folder: Path, count: int) -> list[Row]:
    what = f"{count:,} documents"
    texts = list(documents(count, SEED))
    source = _written(texts, folder / "documents.parquet")
    ran, drops = _dedupe(source, folder / "out")
    rows = [
        Row(f"{what}: dedupe, the whole command", ran.seconds, "s"),
        peak(f"{what}: its peak memory", ran),
        *_found(what, texts, lambda copy: str(copy.number) in drops, DOCUMENT_KINDS),
        *_wrong(what, texts, drops),
    ]
    for name, script in PEERS.items():
        try:
            with Peer(script, [text.text for text in texts]) as peer:
                took = peer.run("documents")
                kept = peer.result("documents")["kept"]
        except PeerError as error:
            rows.append(without_value(f"{what}: {name}", str(error)))
            continue
        rows += [
            Row(f"{what}: {name}", took, "s"),
            at_most(f"{what}: dedupe, times the time of {name}", ran.seconds / took, "x", 1),
            *_found(
                f"{what}, {name}", texts, lambda copy, kept=kept: not (kept[copy.number] and kept[copy.origin]),
                DOCUMENT_KINDS, aims=False,
            ),
        ]  # fmt: skip
        planted = {number for text in texts if text.origin is not None for number in (text.number, text.origin)}
        rows.append(Row(f"{what}, {name}: dropped without a copy", len(set(np.flatnonzero(~kept).tolist()) - planted)))
    return rows


def _found(what: str, texts: Iterable[Text], found: Any, kinds: Iterable[str], *, aims: bool = True) -> list[Row]:
    """The share of the planted copies that are found, by kind."""
    planted, right = Counter[str](), Counter[str]()
    for text in texts:
        if text.origin is not None:
            planted[text.kind] += 1
            right[text.kind] += bool(found(text))
    rows = []
    for kind in kinds:
        measure, share = f"{what}, {kind}: found of {planted[kind]:,}", right[kind] / max(1, planted[kind])
        aim = 1 if kind == "identical" else AIMS.get(kind, 0.99)
        rows.append(at_least(measure, share, "", aim) if aims else Row(measure, share))
    return rows


def _wrong(what: str, texts: list[Text], drops: dict[str, dict[str, Any]]) -> list[Row]:
    """Drops whose Jaccard with what is kept is below the threshold, and drops of what was not planted."""
    signer = TextSigner(Signing.of(unit="record"))
    below = 0
    for drop in drops.values():
        pair = text_column([texts[int(drop["id"])].text, texts[int(drop["kept"])].text])
        sets = signer.sets(signer.views(pair))
        kind = int(sets.kind.min()) * 2
        one, two = (sets.flat[sets.bounds[kind + each] : sets.bounds[kind + each + 1]] for each in (0, 1))
        shared = len(np.intersect1d(one, two))
        below += shared / (len(one) + len(two) - shared) < THRESHOLD
    strangers = sum(texts[int(number)].origin is None for number in drops)
    return [
        at_most(f"{what}: drops below Jaccard {THRESHOLD:g}, compared again", below, "", 0),
        Row(f"{what}: drops that were not planted", strangers),
    ]


def _short_rows(folder: Path, count: int, sample: int) -> list[Row]:
    what = f"{count:,} short rows"
    texts = list(short_rows(count, SEED))
    source = _written(texts, folder / "rows.parquet")
    ran, drops = _dedupe(source, folder / "out")
    frame = pl.read_parquet(source)
    few = frame["text"].to_list()[:sample]
    exact, by_tokens = (_pairs(esdedup.dedupe(few, quiet=True, **way)) for way in ({"candidates": "exact"}, {}))
    in_memory = seconds(lambda: esdedup.dedupe(frame, quiet=True))
    command = run([*ESDEDUP, "dedupe", source, "--dry-run", "--quiet"]).seconds
    unique = seconds(lambda: frame.unique("text", keep="first", maintain_order=True))
    near = [str(text.number) for text in texts if text.kind not in ("", "identical")]
    rows = [
        Row(f"{what}: dedupe, the whole command", ran.seconds, "s"),
        peak(f"{what}: its peak memory", ran),
        *_found(what, texts, lambda copy: str(copy.number) in drops, ["identical"]),
        Row(f"{what}: dropped of {len(near):,} near copies", len(drops.keys() & near) / len(near)),
        at_least(
            f"{sample:,} of them: pairs found of {len(exact):,} by comparing all with all",
            len(exact & by_tokens) / max(1, len(exact)), "", 0.99,
        ),
        Row(f"{what}: polars, unique", unique, "s"),
        Row(f"{what}: a polars frame in memory", in_memory, "s"),
        at_most(f"{what}: a polars frame, times the command without writing", in_memory / command, "x", 1.3),
    ]  # fmt: skip
    try:
        with Peer(PEERS["text-dedup"], [text.text for text in texts]) as peer:
            rows.append(Row(f"{what}: text-dedup", peer.run("documents"), "s"))
    except PeerError as error:
        rows.append(without_value(f"{what}: text-dedup", str(error)))
    return rows


def _pairs(found: Any) -> set[tuple[int, int]]:
    pairs = found.pairs
    return set(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))


def _leaks(folder: Path, new: int, old: int) -> list[Row]:
    what = f"{new:,} new texts, {old:,} references"
    known, store = _written(references(old, SEED), folder / "references.parquet"), folder / "references.duckdb"
    before = known.read_bytes()
    texts = list(new_texts(new, old, SEED, EVERY))
    source = _written(texts, folder / "new.parquet")
    index = run([*ESDEDUP, "index", known, "--store", store, "--quiet"])
    state = store.read_bytes()
    ran, drops = _dedupe(source, folder / "out", "--against", store, "--contained", "0.9")
    rows = [
        Row(f"{old:,} references: index", index.seconds, "s"),
        Row(f"{what}: dedupe --against --contained 0.9, the whole command", ran.seconds, "s"),
        peak(f"{what}: its peak memory", ran),
        *_found(what, texts, lambda copy: str(copy.number) in drops, LEAK_KINDS),
        at_most(f"{what}: files of the reference that were changed",
                (known.read_bytes() != before) + (store.read_bytes() != state), "", 0),
    ]  # fmt: skip
    leaked = {str(text.number) for text in texts if text.origin is not None}
    others = sum(drop["reason"] in ("in_reference", "contained") for name, drop in drops.items() if name not in leaked)
    return [*rows, Row(f"{what}: dropped for the reference, but not planted", others)]


def _written(texts: Iterable[Text], path: Path) -> Path:
    pl.DataFrame(
        [(str(text.number), text.text) for text in texts], schema={"id": pl.String, "text": pl.String}, orient="row"
    ).write_parquet(path)
    return path


def _dedupe(source: Path, out: Path, *options: str | Path) -> tuple[Ran, dict[str, dict[str, Any]]]:
    """The command as sampled from outside, and what it dropped, by id."""
    shutil.rmtree(out, ignore_errors=True)
    ran = run([*ESDEDUP, "dedupe", source, "-o", out, "--quiet", *options], sampled=True)
    with (out / "drops.jsonl").open(encoding="utf-8") as lines:
        return ran, {drop["id"]: drop for drop in map(json.loads, lines)}
