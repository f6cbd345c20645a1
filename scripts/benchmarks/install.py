"""A stranger's first minute: the wheel installed in an empty environment, and the demo in an empty folder."""

from __future__ import annotations

import json
import shutil
import sys

from scripts.benchmarks.bench import ROOT, Bench
from scripts.benchmarks.processes import run
from scripts.benchmarks.rows import Row, at_most

_INSTALLED = """
import json, os, sysconfig
from importlib.metadata import distributions
packages = {one.name for one in distributions()} - {"pip", "setuptools", "esdedup"}
walked = (os.path.join(at, name) for at, _, names in os.walk(sysconfig.get_path("purelib")) for name in names)
print(json.dumps([len(packages), sum(os.lstat(file).st_blocks * 512 for file in walked)]))
"""


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "install"
    shutil.rmtree(folder, ignore_errors=True)
    empty = folder / "empty"
    empty.mkdir(parents=True)
    python = folder / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    clean = {"PYTHONPATH": "", "ESDEDUP_CACHE_DIR": str(folder / "compiled")}
    run([sys.executable, "-m", "venv", folder / "env"])
    run([*pip, "wheel", "--no-deps", "-w", folder, ROOT])
    [wheel] = folder.glob("*.whl")
    bare = json.loads(run([python, "-c", _INSTALLED]).output)
    installed = run([*pip, "install", "--no-cache-dir", wheel], environment=clean)
    shown = run([python.with_name("esdedup"), "demo"], environment=clean, folder=empty)
    again = run([python.with_name("esdedup"), "demo"], environment=clean, folder=empty)
    packages, size = json.loads(run([python, "-c", _INSTALLED]).output)
    return [
        at_most(f"pip install of the wheel, and `esdedup demo`, Python {'.'.join(map(str, sys.version_info[:2]))}",
                installed.seconds + shown.seconds, "s", 60),
        Row("pip install alone", installed.seconds, "s"),
        Row("the first `esdedup demo`, which compiles", shown.seconds, "s"),
        Row("the second", again.seconds, "s"),
        at_most("packages installed, without extras", packages, "", 40),
        at_most("their size on disk, with compiled Python", (size - bare[1]) / 1e6, "MB", 550),
    ]  # fmt: skip
