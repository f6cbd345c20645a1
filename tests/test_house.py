"""The rules of the house: who may import whom, what is public, what the wheel carries."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import esdedup

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "esdedup"
EVERYWHERE = {"errors", "records", "settings", "compiled", "hashing", "flat", "database", "folders"}
ROOMS = [
    "sources", "wikitext", "sentences", "signers", "pairs", "clustering", "node", "stores", "meaning", "evaluation",
    "exports", "reports", "demo",
]  # fmt: skip
WIRING = {"pipeline", "cli", "web"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = [node.module]
        rooms |= {name.split(".")[1] for name in names if name.startswith("esdedup.")}
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in WIRING or room.startswith("__"):
        return
    allowed = EVERYWHERE if room in EVERYWHERE else EVERYWHERE | set(ROOMS[: ROOMS.index(room) + 1])
    assert imported_rooms(path) <= allowed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_holds_one_idea(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 420


def test_public_names_are_sorted_and_there() -> None:
    assert esdedup.__all__ == sorted(esdedup.__all__)
    for name in esdedup.__all__:
        assert getattr(esdedup, name) is not None
    with pytest.raises(AttributeError):
        _ = esdedup.nothing  # type: ignore[attr-defined]


def test_import_and_help_load_nothing_heavy() -> None:
    code = (
        "import sys, esdedup\n"
        "from esdedup.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'numpy', 'numba', 'pyarrow', 'duckdb', 'lxml', 'matplotlib', 'tqdm'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_command_reference_is_up_to_date() -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "reference.py", "--check"], check=True)


def test_changelog_names_this_version() -> None:
    assert f"## {esdedup.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_locks_are_hashed_and_name_no_address() -> None:
    for lock in sorted((ROOT / "locks").glob("*.txt")):
        text = lock.read_text("utf-8")
        assert "://" not in text
        pins = [line for line in text.splitlines() if "==" in line]
        assert pins
        assert text.count("--hash=sha256:") >= len(pins)


def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
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
    )
    environment = {"PYTHONPATH": str(installed), "PATH": "", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(installed)], cwd=tmp_path, env=environment, check=True)
