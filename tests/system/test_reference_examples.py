"""The examples of docs/python.md, which are those of the docstrings, run, and so do those of other pages."""

from __future__ import annotations

import bz2
import doctest
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import esdedup
from esdedup.files import compact_json
from tests.support.pages import ROOT, blocks

SHOWN = [text for page in ("docs/python.md", "docs/text.md") for kind, text in blocks(page) if kind == "pycon"]
EXAMPLES = [text for text in SHOWN if "esdedup.plan(" not in text]
"""All but that of `plan`, which measures for half a minute; tests/system/jobs/test_plan.py does."""
BRIDGE = "Alder Bridge was built in 1898 by the engineer Maria Holt and carried trams until the summer of {}."
OTHERS = (
    "The council met in the hall of the guild every second Monday, and wrote down what it had decided in two books.",
    "A ferry left the harbour of the island at nine with forty passengers, the mail and two horses of the miller.",
    "The quick brown fox of the University of Cambridge stands in the yard, and was cast in bronze by an unknown hand.",
    "Nobody has found the letters that the painter sent to her sister in the year before the war began in the north.",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples read."""
    folder = tmp_path_factory.mktemp("examples")
    with chdir(folder):
        export = (ROOT / "docs" / "examples" / "towns.xml").read_bytes()
        for name in ("dump", "december"):
            Path(f"{name}.xml.bz2").write_bytes(bz2.compress(export, 1))
        articles = {
            "12": [*OTHERS, BRIDGE.format(1954)],
            "4071": [BRIDGE.format(1956)],
            "1204": OTHERS,
            "8817": OTHERS[:1],
        }
        for name, rows in {
            "articles": [{"id": name, "text": " ".join(said)} for name, said in articles.items()],
            "corpus": esdedup.sample("documents").rows[:9],
        }.items():
            lines = b"".join(compact_json(row).encode() + b"\n" for row in rows)
            with pa.output_stream(f"{name}.jsonl.zst", compression="zstd") as out:
                out.write(lines)
        Path("towns.csv").write_text("name,number\nLorn,1204\n", "utf-8")
        esdedup.run("dump.xml.bz2", out="found", jaccard=0.7, revisions="all", quiet=True)
        esdedup.index("articles.jsonl.zst", store="news.duckdb", unit="sentence", quiet=True)
        esdedup.scan(store="news.duckdb", quiet=True)
        esdedup.dedupe("corpus.jsonl.zst", out="clean", certificate="clean/cert.json", quiet=True)
    return folder


def copied(files: Path, folder: Path, example: str) -> Path:
    """The files for one example, without the folders that it makes."""
    place = shutil.copytree(files, folder / "files", symlinks=True)
    for made in ("found", "clean"):
        if f'out="{made}"' in example:
            shutil.rmtree(place / made)
    return place


@pytest.mark.parametrize("example", EXAMPLES, ids=[text.split("(")[0].split(".")[-1] for text in EXAMPLES])
def test_example(example: str, files: Path, tmp_path: Path) -> None:
    names: dict[str, Any] = {"esdedup": esdedup}
    with chdir(copied(files, tmp_path, example)):
        for part in doctest.DocTestParser().get_examples(example):
            try:
                value = eval(part.source, names)
            except SyntaxError:
                value = exec(part.source, names)
            assert not part.want or repr(value) == part.want.strip()


def test_the_tour_in_python_runs(files: Path, tmp_path: Path) -> None:
    [script] = [text for kind, text in blocks("docs/tour.md") if kind == "python"]
    with chdir(copied(files, tmp_path, script)):
        exec(script, {})
