"""The recipes of CONTRIBUTING.md work: followed word for word in a copy, and used from the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"^`(\S+)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^In `([A-Z_]+)` of `(\S+)`[^\n]*:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ABOVE = re.compile(r"^Above `([^\n]+)` in `(\S+)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the recipes were followed."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("esdedup", "mappings", "scripts", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    files, lines, above = FILE.findall(text), LINE.findall(text), ABOVE.findall(text)
    assert (len(files), len(lines), len(above)) == (4, 5, 2)
    for path, content in files:
        assert not (folder / path).exists()
        (folder / path).write_text(content, "utf-8")
    for name, path, line in lines:
        known = (folder / path).read_text("utf-8")
        found = re.search(rf"^{name}\b.*?(?=^ *}})", known, re.MULTILINE | re.DOTALL)
        assert found is not None, f"{path} has no {name}"
        (folder / path).write_text(f"{known[: found.end()]}{line}{known[found.end() :]}", "utf-8")
    for line, path, more in above:
        known = (folder / path).read_text("utf-8")
        assert known.count(line) == 1, f"{path} has not one {line}"
        place = known.rindex("\n", 0, known.index(line)) + 1
        (folder / path).write_text(f"{known[:place]}{more}{known[place:]}", "utf-8")
    return folder


def python(copy: Path, *arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd or copy, env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "80"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_format_is_one_file_and_a_line(copy: Path, tmp_path: Path) -> None:
    text = "The bridge over the river was built in 1898 and carried trams until the summer of 1954."
    other = "Another sentence, which is long enough to be compared with others, stands here by itself."
    lines = [f"One: {text}", f"Two: {text}", f"Three: {other}"]
    (tmp_path / "a.titled").write_text("\n".join(lines) + "\n")
    dedupe = ("-m", "esdedup", "dedupe", "a.titled", "-o", "out", "--unit", "record")
    assert "1 dropped (1 identical)" in python(copy, *dedupe, cwd=tmp_path)
    assert (tmp_path / "out" / "a.titled").read_text() == f"{lines[0]}\n{lines[2]}\n"
    (tmp_path / "b.txt").write_text(lines[0].replace(":", "=") + "\n")
    run = ("-m", "esdedup", "run", "b.txt", "--format", "titled", "--sign", "=", "--out", "found")
    assert "1  documents" in python(copy, *run, cwd=tmp_path)
    assert "--sign" in python(copy, "-m", "esdedup", "run", "--help")
    python(
        copy,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/contract/formats/test_formats_contract.py",
        "-k",
        "titled",
    )


def test_a_signer_is_one_file_and_a_line(copy: Path, tmp_path: Path) -> None:
    text = "Sentence {} of this file is long enough to be signed, and stands here almost twice{}"
    rows = [f"{n}\t{text.format(n // 2, '.' * (n % 2))}\n" for n in range(8)]  # so few that nothing is compiled
    (tmp_path / "a.tsv").write_text("".join(rows))
    run = ("-m", "esdedup", "run", "a.tsv", "--out", "out", "--signer", "simhash", "--parts", "16",
           "--normalize", "none", "--shingle", "char:12", "--jaccard", "0.8", "--json")  # fmt: skip
    told = python(copy, *run, cwd=tmp_path)
    assert '"pairs":4,' in told
    settings = json.loads(told)["settings"]
    assert (settings["signer"], settings["parts"]) == ("simhash", 16)
    assert "--parts" in python(copy, "-m", "esdedup", "run", "--signer", "simhash", "--help")


def test_a_verb_is_a_function_and_a_command_and_a_field_is_declared_once(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("1\tThe same text.\n2\tThe same text.\n3\tThe same text.\n4\tAnother one.\n")
    run = ("run", "a.tsv", "--out", "out", "--min-chars", "0", "--quiet")
    python(copy, "-m", "esdedup", *run, cwd=tmp_path)
    store = ("--store", "out/store.duckdb")
    assert python(copy, "-m", "esdedup", "sizes", *store, cwd=tmp_path) == "         1 × 3\n"
    assert python(copy, "-m", "esdedup", "sizes", "--json", *store, cwd=tmp_path) == '{"size":3,"clusters":1}\n'
    assert python(copy, "-m", "esdedup", "sizes", "--min-size", "4", *store, cwd=tmp_path).strip() == ""
    told = python(copy, "-m", "esdedup", "sizes", "--help")
    assert "Count clusters by their size, the smallest first." in told
    assert "Fewest sentences of a cluster. [default: 2]" in told
    assert '"tokens":28,"disk_bytes":' in python(copy, "-m", "esdedup", "status", "--json", *store, cwd=tmp_path)


def test_generated_files_are_made_from_the_declarations(copy: Path) -> None:
    python(copy, "scripts/keywords.py")
    python(copy, "scripts/reference.py")
    assert "sign: str | None" in (copy / "esdedup" / "api" / "keywords.py").read_text("utf-8")
    assert "--parts" in (copy / "docs" / "commands.md").read_text("utf-8")
