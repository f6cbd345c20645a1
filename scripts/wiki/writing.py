"""Write a generated wiki to a file, compressed according to its name, with the planted truth beside it."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from esdedup.files import whole_file
from scripts.wiki.wiki import generate


def generate_files(articles: int, seed: int, wiki: Path) -> None:
    """Write an export to `wiki` (compressed if it ends in .bz2 or .gz), and its truth to `truth_beside(wiki)`."""
    with (
        whole_file(truth_beside(wiki)) as truth_part,
        whole_file(wiki) as part,
        truth_part.open("w", encoding="utf-8", newline="\n") as truth,
        _opened(part, wiki.suffix) as out,
    ):
        generate(articles, seed, out, truth)


def truth_beside(wiki: Path) -> Path:
    """Return the path of the truth about `wiki`: demo.truth.jsonl beside demo.xml.bz2."""
    name = wiki.name.removesuffix(".bz2").removesuffix(".gz").removesuffix(".xml")
    return wiki.with_name(f"{name}.truth.jsonl")


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".bz2":
        with bz2.open(path, "wb") as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".gz":
        # no name and no time inside, so that the same content gives the same bytes
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped:
            yield cast(BinaryIO, zipped)
    else:
        with path.open("wb") as plain:
            yield plain
