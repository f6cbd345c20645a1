"""The real sentences, and every true pair among them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SENTENCES = Path("sentences/debian-descriptions.tsv.gz")
TRUTH = Path("sentences/debian-truth-jaccard-0.8.tsv.gz")

LIKE_SENTENCES: dict[str, Any] = {
    "unit": "record", "normalize": "none", "min_chars": 75, "max_chars": 600, "shingle": "char:12", "bands": 10,
    "rows": 4, "jaccard": 0.8,
}  # fmt: skip
"""Options with which a table of these sentences is compared as sentences of a text are."""

SMALL = 60_000
"""Lines of the sentence file that a smoke test reads."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Distinct sentences of 75 to 600 characters in file order, and their pairs of Jaccard >= 0.8 as indices."""

    texts: list[str]
    a: Numbers
    b: Numbers
    jaccard: npt.NDArray[np.float64]

    def found(self, a: Numbers, b: Numbers) -> tuple[float, float]:
        """Recall and precision of distinct pairs, a < b."""
        size = len(self.texts)
        right = np.isin(self.a * size + self.b, a * size + b).sum()
        return float(right / len(self.a)), float(right / max(1, len(a)))

    def found_together(self, label: Numbers) -> tuple[float, float]:
        """Recall and precision of all pairs of texts of one label."""
        right = int((label[self.a] == label[self.b]).sum())
        sizes = np.unique(label, return_counts=True)[1]
        return right / len(self.a), right / max(1, int((sizes * (sizes - 1) // 2).sum()))


def read_lines(data: Path) -> Iterator[tuple[int, str]]:
    """The sentences with their line numbers, from 1."""
    with gzip.open(data / SENTENCES, "rt", encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            yield number, line.rstrip("\n").partition("\t")[2]


def read_sample(data: Path, small: bool) -> Sample:
    places: dict[str, int] = {}
    by_line: dict[int, int] = {}
    for number, text in islice(read_lines(data), SMALL if small else None):
        if 75 <= len(text) <= 600 and text not in places:
            by_line[number] = places[text] = len(places)
    pairs = [(by_line[a], by_line[b], jaccard) for a, b, jaccard in read_truth(data) if a in by_line and b in by_line]
    columns = np.array(pairs)
    return Sample(list(places), columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64), columns[:, 2])


def read_truth(data: Path) -> Iterator[tuple[int, int, float]]:
    """Line numbers (from 1) of both sentences, and their Jaccard."""
    with gzip.open(data / TRUTH, "rt", encoding="utf-8", newline="") as lines:
        for a, b, jaccard in csv.reader(lines, delimiter="\t"):
            yield int(a), int(b), float(jaccard)
