"""Generated dumps, kept under the bench's folder until the generator changes."""

from __future__ import annotations

import zlib
from pathlib import Path

import esdedup
from scripts.benchmarks.bench import ROOT, Bench
from scripts.wiki.writing import generate_files

SEED = 1
PROBE = 400
"""Articles from which sizes are extrapolated."""


def dump(bench: Bench, articles: int, ending: str = ".xml", seed: int = SEED) -> Path:
    """A dump of `articles` generated articles; `.xml` or `.xml.bz2`."""
    state = 0
    generator = ROOT / "scripts" / "wiki"
    for path in sorted([*generator.rglob("*.py"), *generator.rglob("*.txt")]):
        state = zlib.crc32(path.read_bytes(), state)
    folder = bench.work / "corpora"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{articles}{'' if seed == SEED else f'-{seed}'}-{state:08x}{ending}"
    for old in folder.iterdir():
        if f"-{state:08x}." not in old.name:
            old.unlink()  # by another state of the generator
    if not path.exists():
        generate_files(articles, seed, path)
    return path


def articles_of_bytes(bench: Bench, size: int) -> int:
    """Articles that make a dump of `size` bytes, uncompressed."""
    return PROBE * size // dump(bench, PROBE).stat().st_size + 1


def articles_of_sentences(bench: Bench, sentences: int) -> int:
    """Articles that make so many sentences to compare."""
    counts = esdedup.run(dump(bench, PROBE), out=bench.work / "probe", fresh=True)["counts"]
    return int(PROBE * sentences // counts["sentences_kept"]) + 1
