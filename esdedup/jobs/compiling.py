"""While a job compiles what reads its sources, another process compiles what it needs later, from its end on."""

from __future__ import annotations

import multiprocessing
import tempfile
from contextlib import suppress
from pathlib import Path

from esdedup.columns import kernels
from esdedup.files import compact_json
from esdedup.jobs.prepare import get_ready
from esdedup.jobs.workers import without_main

_LAST = "esdedup.analysis."
"""What a job runs last takes a quarter of the time to compile, and what reads a wiki half of it. The rest follows:
either process finds what the other one has compiled.
"""
_TEXTS = (
    "Aldau is a parish of the district of Sulona and had 1,204 residents in the census of the year 1920.",
    "Barwood is a parish of the district of Sulona and had 1,936 residents in the census of the year 1920.",
    "Varburg is a parish of the district of Sulona and had 1,411 residents in the census of the year 1920.",
    "The bridge over the Hula was built of red brick in May 1898, and it was closed to carts after the great flood.",
    "The bridge over the Hula was built of red brick in May 1899, and it was closed to carts after the great flood.",
    "Ida Dorn taught at the old university of Varbach until March 1835, and her pupils founded the first schools.",
    "Ida Dorn taught at the university of Varbach until March 1835, and her pupils founded no schools.",
)


def compile_ahead() -> None:
    """Compile in another process, as soon as this one begins to. If nothing must be compiled, nothing happens."""
    kernels.when_compiling(_start)


def _start() -> None:
    childless = multiprocessing.current_process().daemon  # such a process of a caller may start no others
    if not childless and not kernels.is_compiled(f"{_LAST}changes"):
        with suppress(OSError), without_main():
            multiprocessing.get_context("spawn").Process(target=_compile, daemon=True).start()


def _compile() -> None:
    get_ready()
    with suppress(Exception):  # the job itself will say what is wrong
        for modules in (_LAST, "esdedup."):
            compile_by_a_run(modules)


def compile_by_a_run(modules: str) -> None:
    """Run a job on a few texts. Kernels of modules whose names begin with `modules` are compiled; Python runs the
    others.
    """
    import esdedup

    kernels.compile_only(modules)
    rows = [{"id": str(at), "title": text[:9], "text": text} for at, text in enumerate(_TEXTS)]
    # a process that is ended leaves its folder, which is removed where compiled code is
    with tempfile.TemporaryDirectory(prefix="ahead-", dir=kernels.cache_root()) as folder:
        source = Path(folder) / "texts.jsonl"
        source.write_text("".join(f"{compact_json(row)}\n" for row in rows), "utf-8")
        out = Path(folder) / "out"
        esdedup.run(source, out=out, unit="sentence", jaccard=0.5, workers=1, report=False, quiet=True)
