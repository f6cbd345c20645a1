"""What is compiled is kept for every copy of the same code, and nobody is told to wait when it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import esdedup

SCRIPT = """
import numpy as np
from esdedup.columns import kernels
kernels.when_compiling(lambda: print("takes long"))
from esdedup.columns.hashing import mix
made = mix.make()
made(np.uint64(1))
print(sum(made._cache_hits.values()), sum(made._cache_misses.values()))
"""


def test_another_copy_of_the_package_compiles_nothing(tmp_path: Path) -> None:
    """As on each worker of Spark, which unpacks the package anew."""
    package = Path(esdedup.__file__).parent
    said = []
    for name in ("one", "two"):
        shutil.copytree(package, tmp_path / name / "esdedup", ignore=shutil.ignore_patterns("__pycache__"))
        where = {**os.environ, "PYTHONPATH": str(tmp_path / name), "ESDEDUP_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=where, capture_output=True, text=True, check=True
        )
        said.append(done.stdout.split("\n")[:-1])
    assert said == [["takes long", "0 1"], ["1 0"]]
