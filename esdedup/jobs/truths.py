"""Compare the pairs of a store with the truth: every pair there is, or the pairs in a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from esdedup.columns.database import Database, private_database
from esdedup.errors import EvaluationError
from esdedup.evaluation.score import score_pairs
from esdedup.jobs.scanning import find_pairs, named_pairs
from esdedup.jobs.scratch import scratch_database
from esdedup.matching.protocol import Scanning
from esdedup.resources import Resources
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store

EXACT = "exact"

_PAIRS = "(a UBIGINT, b UBIGINT, jaccard DOUBLE)"


def against_exact(store: Store, resources: Resources, jaccard: float | None = None, *, quiet: bool) -> dict[str, Any]:
    """Compare the pairs of the last scan with all at or above `jaccard`, by default the threshold of that scan.

    The answer includes the `threshold`. If something else than Jaccard decided the pairs, a precision by Jaccard has no
    meaning and is omitted.
    """
    scanning = Scanning.from_described(store.ledger.last_scanning() or {})
    exact = Scanning.of(
        jaccard=scanning.jaccard if jaccard is None else jaccard,
        word_edit_distance=scanning.word_edit_distance,
        across=scanning.across,
        candidates=EXACT,
    )
    sentences = store.corpus.counts()["sentences_kept"]
    with scratch_database(store, exact, resources, sentences) as scratch:
        find_pairs(store, scratch, exact, resources, "exact", quiet=quiet)
        scratch.execute(f"CREATE OR REPLACE TABLE truth {_PAIRS}")
        for batch in named_pairs(scratch, exact):
            scratch.insert("truth", pa.Table.from_batches([batch]).select(["a", "b", "jaccard"]))
        found = {"threshold": exact.jaccard, **_scored(scratch, store)}
        by_jaccard = scanning.verifier.least(scanning.jaccard) >= exact.jaccard
        return found if by_jaccard else {**found, "precision": None}


def against_file(store: Store, path: Path) -> dict[str, Any]:
    """Compare the pairs of the last scan with those of a file: two ids on each line and, if known, their Jaccard.

    Columns are separated by tabs. Ids of equal texts mean the same pair. A line with two ids of one text is counted
    under `same_text` and otherwise ignored. Raise `EvaluationError` for a line without two ids, an invalid number, or
    an id that the store does not have.
    """
    with private_database() as db:
        db.execute(f"CREATE TABLE named {_PAIRS}")
        lines = list(_read(path))
        hashes = _hashes(store, {identity for _, *ids, _ in lines for identity in ids})
        rows: list[tuple[int, int, float | None]] = []
        same = 0
        for line, one, two, jaccard in lines:
            for identity in (one, two):
                if identity not in hashes:
                    raise EvaluationError(
                        f"{path}, line {line}: no sentence {identity:.80} in {store.address}; it was never "
                        "read, or it is too short or too long"
                    )
            a, b = hashes[one], hashes[two]
            if a == b:
                same += 1
            else:
                rows.append((min(a, b), max(a, b), jaccard))
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        named = pa.table(
            {
                "a": pa.array(columns[0], pa.uint64()),
                "b": pa.array(columns[1], pa.uint64()),
                "jaccard": pa.array(columns[2], pa.float64()),
            }
        )
        db.insert("named", named)
        db.execute("CREATE TABLE truth AS SELECT a, b, max(jaccard) AS jaccard FROM named GROUP BY a, b")
        return {**_scored(db, store), "same_text": same}


def _scored(db: Database, store: Store) -> dict[str, Any]:
    db.execute(f"CREATE OR REPLACE TABLE found {_PAIRS}")
    for batch in store.results.pair_hashes():
        db.insert("found", pa.Table.from_batches([batch]).select(["a", "b", "jaccard"]))
    # some stores sort the texts of a pair by name, others by hash
    db.execute("UPDATE found SET a = b, b = a WHERE a > b")
    return score_pairs(db)


def _hashes(store: Store, ids: Collection[str]) -> dict[str, int]:
    """Return the texts of those ids that the store has."""
    found = store.corpus.sentences(SentenceQuery(ids=sorted(ids)))
    return dict(zip(found["id"].to_pylist(), found["hash"].to_pylist(), strict=True))


def _read(path: Path) -> Iterator[tuple[int, str, str, float | None]]:
    """Yield line numbers, ids and Jaccard of the pairs in a file."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line == "\n":
                    continue
                row = line.removesuffix("\n").split("\t")
                if len(row) not in (2, 3) or not row[0] or not row[1]:
                    raise EvaluationError(
                        f"{path}, line {number}: write two ids and, if known, their Jaccard, separated by tabs"
                    )
                yield number, row[0], row[1], _jaccard(row[2], f"{path}, line {number}") if row[2:] else None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "is not UTF-8"
        raise EvaluationError(f"{path}: {why}; use a file of pairs") from error


def _jaccard(text: str, where: str) -> float:
    with suppress(ValueError):
        jaccard = float(text)
        if 0 < jaccard <= 1:
            return jaccard
    raise EvaluationError(
        f"{where}: {text:.60} is not a Jaccard similarity (greater than 0, up to 1); write two ids and the similarity"
    )
