"""The examples of the README and the docs, run as they stand, print what they show."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from esdedup.jobs.presets import preset_names
from esdedup.node.jars import VERSION
from tests.support.commands import said
from tests.support.pages import ROOT, SHOWN, Terminal, blocks


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ./scripts/demo leaves."""
    folder = tmp_path_factory.mktemp("demo")
    with chdir(folder):
        assert said("demo", "--out", "demo-out").code == 0
    return folder / "demo-out"


NODE = "data in /home/you/.local/share/esdedup/node"
KNOWN = {
    "esdedup node start": f"http://127.0.0.1:9200 started: Elasticsearch {VERSION}, process 4711, {NODE}; "
    "next: esdedup index SOURCE --store http://127.0.0.1:9200/NAME\n",
    "esdedup node stop": f"process 4711 stopped; its {NODE.replace('in', 'stays in', 1)}\n",
    "esdedup serve": f"esdedup: http://127.0.0.1:8765/ shows {SHOWN}; Ctrl-C ends it\n",
    "esdedup serve --store wiki.duckdb": "esdedup: http://127.0.0.1:8765/ shows wiki.duckdb; Ctrl-C ends it\n",
}
"""What commands print that go on until they are stopped: tests of the node and of the page start them."""


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/index.md",
        "docs/dedupe.md",
        "docs/text.md",
        "docs/tour.md",
        "docs/elasticsearch.md",
        "docs/search.md",
        "docs/records.md",
        "docs/sources.md",
        "docs/tutorials/corpus.md",
        "docs/tutorials/wiki.md",
        "docs/tutorials/records.md",
        "docs/tutorials/elasticsearch.md",
        "docs/bugs.md",
    ],
)
def test_commands_print_what_the_page_shows(
    tmp_path: Path, page: str, demo: Path, elastic_url: str, elastic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of `sh` are typed, too, in tutorials: what they print is not shown."""
    typed = [(kind, text) for kind, text in blocks(page) if kind == "console" or (kind == "sh" and "tutorials" in page)]
    terminal = Terminal(tmp_path, monkeypatch, f"{elastic_url}/{elastic_prefix}")
    if "tutorials" not in page:  # these need no clone
        (tmp_path / "docs").symlink_to(ROOT / "docs")
    if "demo-out" in "".join(text for _, text in typed):
        shutil.copytree(demo, "demo-out")
    assert any("$ " in text for _, text in typed)
    for kind, text in typed:
        assert kind == "sh" or terminal.printed(text, KNOWN) == text
        if kind == "sh":
            terminal.run(text)


def test_every_page_with_commands_is_tried() -> None:
    [tried] = [mark for mark in test_commands_print_what_the_page_shows.pytestmark if mark.name == "parametrize"]
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))]
    assert {page for page in pages if any(kind == "console" for kind, _ in blocks(page))} == set(tried.args[1])


def test_the_python_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    found = blocks("docs/tutorials/python.md")
    script = "".join(text for kind, text in found if kind == "python")
    shown = "".join(text for kind, text in found if kind == "text")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_the_python_example_runs(tmp_path: Path) -> None:
    [script] = [part.split("```")[0] for part in (ROOT / "README.md").read_text("utf-8").split("```python\n")[1:]]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 {'drift': 1, 'identical': 1}\n2 ['Alder Bridge")


@pytest.mark.parametrize("page", ["dedupe.md", "records.md"])
def test_tables_in_memory_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    script, shown = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_every_preset_has_a_command_that_runs(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "papers.md").read_text("utf-8")
    commands = text.split("```sh\n")[1].split("```")[0].splitlines()
    assert {line.split("--preset ")[1].split(" ")[0] for line in commands} == set(preset_names())
    for line in commands:
        name, *words = shlex.split(line.replace("DATA", str(data_folder)))
        assert name == "esdedup"
        done = said(*words)
        assert done.code == 0, done.err
        assert any((tmp_path / words[-1]).iterdir())
