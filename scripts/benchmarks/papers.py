"""What published systems report of themselves, measured with the presets named after them."""

from __future__ import annotations

from scripts.benchmarks.bench import Bench
from scripts.benchmarks.paper_bands import bands
from scripts.benchmarks.paper_documents import near_documents
from scripts.benchmarks.paper_projection import projection
from scripts.benchmarks.paper_records import records
from scripts.benchmarks.paper_sentences import sentences
from scripts.benchmarks.rows import Row


def measure(bench: Bench) -> list[Row]:
    return [*sentences(bench), *projection(bench), *records(bench), *bands(bench), *near_documents(bench)]
