"""`evaluate`: how good are the clusters of a store, by what is known to be right?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from esdedup.errors import EvaluationError, UsageError
from esdedup.evaluation.score import ALONE, Labels, score
from esdedup.jobs.questions import opened_results
from esdedup.jobs.settings import Settings
from esdedup.jobs.steps import Address
from esdedup.jobs.truths import EXACT, against_exact, against_file
from esdedup.output.result_files import listed_id
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store

_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def evaluate(
    *,
    store: Address | Store,
    golden: Path | str | None,
    truth: Path | str | None,
    jaccard: float | None,
    quiet: bool,
    **options: Any,
) -> dict[str, Any]:
    """Compare what the last scan of a store has found with what is right.

    `golden` is a file with one cluster a line: ids, parted by white space, which inside an id is written in percents,
    as in clusters.txt. A line with one id is a sentence that is in no cluster; sentences that the file does not name
    are neither. `truth` is `exact` (every pair at or above `jaccard`, else the threshold of that scan, found by
    comparing all with all) or a file of pairs: two ids a line and, if known, their Jaccard, parted by tabs. Line ends
    of Windows, a byte order mark and empty lines make no difference.

    The answer has `sentences`, how many there are in the store; under `golden` the fields of
    `esdedup.evaluation.score.Score`, over all of these sentences; under `truth` what
    `esdedup.evaluation.recall.score_pairs` tells. An `EvaluationError` names the file, the line and the id where an id
    is not in the store, or stands twice in `golden`: clusters that share a sentence, or name one that was never read,
    cannot be compared. `StoreError` where nothing was scanned, or something has changed since. `options` are `workers`
    and `memory`.
    """
    if golden is None and truth is None:
        raise UsageError("evaluate needs something to compare with; name a file as golden or truth, or truth exact")
    resources = Settings.of(**options).resources
    known = None if golden is None else _Golden(Path(golden))
    with opened_results(store) as opened:
        sentences = opened.corpus.counts()["sentences_kept"]
        answer: dict[str, Any] = {"sentences": sentences}
        if known is not None:
            answer["golden"] = asdict(score(*known.against(opened), sentences))
        if truth is not None:
            exact = str(truth) == EXACT
            answer["truth"] = (
                against_exact(opened, resources, jaccard, quiet=quiet) if exact else against_file(opened, Path(truth))
            )
        return answer


class _Golden:
    """The clusters of a file: for each id as it is written, its line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: dict[str, int] = {}
        for number, ids in _read(path):
            for name in ids:
                if name in self._lines:
                    before = self._lines[name]
                    where = "stands there twice" if before == number else f"stands in line {before} too"
                    raise self._error(number, name, f"{where}; a sentence is in one cluster")
                self._lines[name] = number

    def against(self, store: Store) -> tuple[Labels, Labels]:
        """Labels (n,) in the golden file, its lines, and in the store of all sentences in a cluster of either."""
        waiting = dict(self._lines)
        golden, output = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        clusters: dict[int, int] = {}  # ids are hashes of 64 bits: numbers in their place
        for batch in store.results.memberships():
            named = [waiting.pop(listed_id(name), ALONE) for name in batch["id"].to_pylist()]
            golden.append(np.array(named, np.int64))
            output.append(
                np.array(
                    [
                        ALONE if cluster is None else clusters.setdefault(cluster, len(clusters))
                        for cluster in batch["cluster"].to_pylist()
                    ],
                    np.int64,
                )
            )
        # sentences in no cluster are only found when they are asked for
        asked = sorted({*waiting, *map(_spelled, waiting)})
        there = set(store.corpus.sentences(SentenceQuery(ids=asked))["id"].to_pylist())
        for name, line in waiting.items():
            if not {name, _spelled(name)} & there:
                what = f"is not in {store.address}, as never read, or too short or too long; take it out of the file"
                raise self._error(line, name, what)
        golden.append(np.fromiter(waiting.values(), np.int64, len(waiting)))
        output.append(np.full(len(waiting), ALONE, np.int64))
        return np.concatenate(golden), np.concatenate(output)

    def _error(self, line: int, name: str, what: str) -> EvaluationError:
        return EvaluationError(f"--golden {self._path}, line {line}: {name:.80} {what}")


def _read(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Lines that name something, with their numbers from 1."""
    number = 0
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                ids = line.decode("utf-8-sig" if number == 1 else "utf-8").split()
                if ids:
                    yield number, ids
    except UnicodeDecodeError as error:
        raise EvaluationError(f"--golden {path}, line {number}: not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise EvaluationError(f"--golden {path}: {error.strerror}; name a file with a cluster a line") from error


def _spelled(name: str) -> str:
    """The id that clusters.txt writes so: percents into the white space that they stand for, and nothing else."""

    def white(match: re.Match[str]) -> str:
        text = bytes.fromhex(match[0].replace("%", "")).decode(errors="replace")
        return text if text.isspace() else match[0]

    return _ENCODED.sub(white, name)
