"""How long commands take to begin, and whether compiled code is kept."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from scripts.benchmarks.bench import ROOT, Bench
from scripts.benchmarks.processes import ESDEDUP, run
from scripts.benchmarks.rows import Row, at_most

HEAVY = ("duckdb", "lxml", "PIL", "numba", "numpy", "pyarrow", "rapidfuzz")

_IMPORTED = f"""
import sys
from esdedup.cli import main
try:
    main(["--help"])
except SystemExit:
    print(*sorted(sys.modules.keys() & {set(HEAVY)!r}), sep="\\n", file=sys.stderr)
    sys.exit(any(name in sys.modules for name in {HEAVY!r}))
"""

_READ_ONLY = """
import os, sys
from pathlib import Path
import esdedup
from esdedup.cli import main
folder = Path(esdedup.__file__).parent
assert str(folder).startswith(os.getcwd()), folder
for inner in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
    assert not os.access(inner, os.W_OK), f"{inner} can be written"
main()
"""


def measure(bench: Bench) -> list[Row]:
    helped = [run([*ESDEDUP, "--help"]).seconds for _ in range(bench.runs)]
    try:
        run([sys.executable, "-c", _IMPORTED])
        heavy = 0.0
    except RuntimeError:
        heavy = 1.0
    bare = [run([sys.executable, "-c", ""]).seconds for _ in range(bench.runs)]
    with tempfile.TemporaryDirectory(prefix="esdedup-bench-") as name:
        folder = Path(name)
        source = folder / "few.tsv"
        source.write_text("".join(f"{row}\t{_text(row)}\n" for row in range(300)), "utf-8")
        checkout = _first_and_second(folder, source, list(ESDEDUP), "checkout")
        read_only = _read_only(folder, source)
    return [
        Row("esdedup --help", median(helped), "s"),
        Row("python alone", median(bare), "s"),
        at_most(f"esdedup --help imports any of {', '.join(HEAVY)} (0: none)", heavy, "", 0),
        *_cached("a small job", checkout),
        *_cached("a small job, package folder read-only", read_only),
    ]


def _text(row: int) -> str:
    return f"Sentence {row // 2} says, at some length, what the record of number {row // 2 * 7919} is about" + "!" * (
        row % 2
    )


def _first_and_second(folder: Path, source: Path, command: list[str], name: str) -> tuple[float, float]:
    """Seconds of two runs that share a cache, empty at first."""
    job = [*command, "run", source, "--unit", "record", "--out", folder / f"{name}-out", "--fresh", "--quiet"]
    cache = {"ESDEDUP_CACHE_DIR": str(folder / f"{name}-cache")}
    first, second = (run(job, environment=cache, folder=folder).seconds for _ in range(2))
    return first, second


def _read_only(folder: Path, source: Path) -> tuple[float, float]:
    """The same with the package installed from a wheel, in a folder where nothing can be written."""
    place = folder / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--no-deps", "--no-build-isolation", "--target", place, ROOT])
    package = place / "esdedup"
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    command = [sys.executable, "-c", _READ_ONLY]
    if os.getuid() == 0 and shutil.which("setpriv"):
        # who may override permissions would not notice them
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    try:
        os.environ["PYTHONPATH"] = str(place)
        return _first_and_second(folder, source, command, "read-only")
    finally:
        del os.environ["PYTHONPATH"]
        for path in folders:
            path.chmod(0o755)


def _cached(what: str, seconds: tuple[float, float]) -> list[Row]:
    """Compiling takes tens of seconds: a second run that takes half of the first has found it done."""
    first, second = seconds
    return [
        Row(f"{what}: first run, nothing compiled", first, "s"),
        Row(f"{what}: second run", second, "s"),
        at_most(f"{what}: second run, times the first", second / first, "x", 0.5),
    ]
