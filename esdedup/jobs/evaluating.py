"""The clusters that are known to be right, beside those of a store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from esdedup.errors import EvaluationError
from esdedup.evaluation.score import ALONE, Labels
from esdedup.output.result_files import listed_id
from esdedup.store.corpus import SentenceQuery
from esdedup.store.store import Store

_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


class Golden:
    """The right clusters, from a file with one on each line: ids, separated by white space, in the spelling of
    clusters.txt. A line with one id is a sentence that is in no cluster.

    Windows line ends, a byte order mark and empty lines are accepted. Raises `EvaluationError` for a file that cannot
    be read, and for an id that occurs twice: clusters that overlap cannot be compared.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: dict[str, int] = {}
        for number, ids in _read(path):
            for name in ids:
                if name in self._lines:
                    before = self._lines[name]
                    where = "stands there twice" if before == number else f"is also in line {before}"
                    raise self._error(number, name, f"{where}; a sentence can be in one cluster only")
                self._lines[name] = number

    def against(self, store: Store) -> tuple[Labels, Labels]:
        """Return labels (n,) in the golden file, its lines, and labels in the store, for all clustered sentences.

        Raises `EvaluationError` with the file, the line and the id if an id is not in the store.
        """
        waiting = dict(self._lines)
        golden, output = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        clusters: dict[int, int] = {}  # ids are hashes of 64 bits: replace them by small numbers
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
        # sentences in no cluster are only found by looking them up
        asked = sorted({*waiting, *map(_spelled, waiting)})
        there = set(store.corpus.sentences(SentenceQuery(ids=asked))["id"].to_pylist())
        for name, line in waiting.items():
            if not {name, _spelled(name)} & there:
                why = "it was never read, or is too short or too long; remove it from the file"
                what = f"is not in {store.address}: {why}"
                raise self._error(line, name, what)
        golden.append(np.fromiter(waiting.values(), np.int64, len(waiting)))
        output.append(np.full(len(waiting), ALONE, np.int64))
        return np.concatenate(golden), np.concatenate(output)

    def _error(self, line: int, name: str, what: str) -> EvaluationError:
        return EvaluationError(f"--golden {self._path}, line {line}: {name:.80} {what}")


def _read(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, with their numbers from 1."""
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
        raise EvaluationError(f"--golden {path}: {error.strerror}; use a file with one cluster on each line") from error


def _spelled(name: str) -> str:
    """Return the id that clusters.txt writes like this: decode white space from percent-encoding, and nothing else."""

    def white(match: re.Match[str]) -> str:
        text = bytes.fromhex(match[0].replace("%", "")).decode(errors="replace")
        return text if text.isspace() else match[0]

    return _ENCODED.sub(white, name)
