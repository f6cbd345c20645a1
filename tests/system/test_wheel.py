"""The wheel as it is built of the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from esdedup.files import user_cache

ROOT = Path(__file__).parents[2]


def test_it_works_without_the_checkout(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    (tmp_path / "two.txt").write_text("The same sentence stands twice in this small file. " * 2, "utf-8")
    code = (
        "import esdedup, sys\n"
        "assert esdedup.__file__.startswith(sys.argv[1]), esdedup.__file__\n"
        "summary = esdedup.run('two.txt', out='out', min_chars=10)\n"
        "assert summary['counts']['clusters'] == 1, summary\n"
        "from esdedup.node.jars import VERSION, locked_jars\n"
        "assert VERSION in {jar.version for jar in locked_jars()}\n"
    )
    # compiled code is kept by its content, so it is not compiled once more
    environment = {"PYTHONPATH": str(installed), "PATH": "", "XDG_CACHE_HOME": str(user_cache().parent)}
    subprocess.run([sys.executable, "-c", code, str(installed)], cwd=tmp_path, env=environment, check=True)
