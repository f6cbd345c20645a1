"""Help fits a terminal, wrong words get the nearest right ones, shells complete."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from esdedup import errors
from esdedup.cli import COMMANDS, cli, main
from esdedup.errors import EsdedupError
from tests.support.commands import esdedup as typed

ROOT = Path(__file__).parents[3]
ENTRY = Path(sys.executable).with_name("esdedup")


def esdedup(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    if not environment:
        return typed(*arguments, cwd=Path.cwd(), COLUMNS="80")
    return subprocess.run(
        [ENTRY, *arguments], env={**os.environ, "COLUMNS": "80", **environment}, capture_output=True, text=True
    )


ALL = ["", *COMMANDS, "node start", "node status", "node stop", "kibana import"]


@pytest.mark.parametrize("command", ALL)
def test_help_fits_80_columns_and_cuts_nothing(command: str) -> None:
    shown = esdedup(*command.split(), "--help")
    assert shown.returncode == 0
    assert max(len(line.rstrip()) for line in shown.stdout.splitlines()) <= 80
    assert "…  " not in shown.stdout.replace("SOURCE…", "").replace("N,N…", "").replace("ID…", "").replace(
        "KIND,…", ""
    ).replace("RULE,…", "")
    assert "..." not in shown.stdout.replace("[ARGS]...", "")


@pytest.mark.parametrize("command", ALL)
def test_help_breaks_no_name_no_choice_and_no_example(command: str) -> None:
    words = command.split()
    used: click.Command = cli
    for word in words:
        assert isinstance(used, click.Group)
        found = used.get_command(click.Context(used), word)
        assert found is not None
        used = found
    shown = esdedup(*words, "--help").stdout
    on_a_line = set(re.findall(r"[\w-]+", shown))
    for parameter in used.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            choices = parameter.type.choices if isinstance(parameter.type, click.Choice) else ()
            assert {*parameter.opts, *parameter.secondary_opts, *choices} <= on_a_line, parameter.name
    lines = {line.rstrip() for line in shown.splitlines()}
    for example in re.findall(r"^  esdedup .+", inspect.cleandoc(used.help or ""), re.MULTILINE):
        assert f" {example}" in lines
    assert "x>=" not in shown
    assert "<=x" not in shown


def test_what_is_required_stands_first() -> None:
    for command, first, usage in (
        ("run", "Output", "esdedup run [OPTIONS] SOURCE… --out DIR"),
        ("scan", "Store", "esdedup scan [OPTIONS] --store ADDRESS"),
        ("kibana import", "Store", "esdedup kibana import [OPTIONS] --store ADDRESS"),
    ):
        lines = esdedup(*command.split(), "--help").stdout.splitlines()
        assert lines[1].strip() == f"Usage: {usage}"
        assert f"─ {first} ─" in next(line for line in lines if line.startswith("╭"))
        assert not any("─ Options ─" in line for line in lines)


def test_options_stand_in_groups() -> None:
    shown = esdedup("run", "--help").stdout
    for group in ("Reading sources", "What is compared", "Finding pairs", "Resources"):
        assert f"─ {group} ─" in shown
    assert "─ With --" not in shown
    assert "--window" not in shown
    for words in (["--candidates", "projection"], ["--candidates=projection"]):
        assert "─ With --candidates projection ─" in esdedup("run", *words, "--help").stdout


def test_the_nearest_command_and_option_are_named() -> None:
    assert esdedup("scna").stderr == "esdedup: No such command 'scna'. Did you mean 'scan'? (see esdedup --help)\n"
    said = esdedup("scan", "--jacard", "1").stderr
    assert said == "esdedup: No such option '--jacard'. Did you mean '--jaccard'? (see esdedup scan --help)\n"
    assert "Did you mean '--help'?" in esdedup("help").stderr
    assert "Did you mean '--jaccard'?" in esdedup("dedupe", "a.txt", "--threshold", "0.8").stderr
    assert "mean" not in esdedup("status", "--threshold", "0.8").stderr
    assert esdedup("scan", "--jacard", "1").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("clusters --store s.duckdb --limit x", "'--limit': 'x' is not a whole number (see"),
        ("clusters --store s.duckdb --limit -1", "-1 is out of range; allowed: 0 or more (see"),
        ("serve --store s.duckdb --port 70000", "70000 is out of range; allowed: 0 to 65535 (see"),
        ("scan --store s.duckdb --jaccard much", "'much' is not a number (see"),
        ("status", "Missing option '--store'; for example --store found/store.duckdb, or set ESDEDUP_STORE (see"),
        ("run a.tsv", "Missing option '--out'; for example --out found (see"),
        ("status s.duckdb", "Unexpected argument 's.duckdb'; if it is the store, write --store s.duckdb (see"),
        ("clusters --store s.duckdb more", "Unexpected argument 'more'"),
        ("explain 1:1 2:2 s.duckdb", "write --store s.duckdb (see"),
    ],
)
def test_a_usage_error_says_what_to_write(arguments: str, words: str) -> None:
    refused = esdedup(*arguments.split())
    assert refused.returncode == 2
    assert words in refused.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_from_the_installed_program(shell: str) -> None:
    script = esdedup(_ESDEDUP_COMPLETE=f"{shell}_source")
    assert script.returncode == 0
    assert "_ESDEDUP_COMPLETE" in script.stdout
    words = {"COMP_WORDS": "esdedup scan --jac", "COMP_CWORD": "--jac" if shell == "fish" else "2"}
    found = esdedup(_ESDEDUP_COMPLETE=f"{shell}_complete", **words)
    assert "--jaccard" in found.stdout
    assert "--rows" not in found.stdout


def test_help_says_how_to_switch_completion_on() -> None:
    assert "_ESDEDUP_COMPLETE=bash_source esdedup" in esdedup("--help").stdout


def completed(*words: str) -> list[str]:
    """What bash is offered for the last word: type and value."""
    found = esdedup(
        _ESDEDUP_COMPLETE="bash_complete", COMP_WORDS="\n".join(("esdedup", *words)), COMP_CWORD=str(len(words))
    )
    return found.stdout.splitlines()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "./a"),
        ("run", "-o", "./a"),
        ("run", "first.tsv", "./a"),
        ("plan", "./a"),
        *((("scan", option, "./a")) for option in ("--store", "--ignore", "--vectors", "--config", "--out")),
        ("dedupe", "--store", "./a"),
        ("evaluate", "--truth", "./a"),
    ],
    ids=" ".join,
)
def test_names_of_files_complete(words: tuple[str, ...]) -> None:
    assert completed(*words) == ["file,./a"]


def test_names_of_presets_and_commands_complete_in_the_order_of_the_help() -> None:
    assert completed("scan", "--preset", "we") == ["plain,weissman"]
    assert len(completed("run", "--preset", "")) > 1
    assert completed("") == [f"plain,{name}" for name in COMMANDS]
    shown = esdedup("--help").stdout
    places = [shown.index(f"│ {name} ") for name in COMMANDS]
    assert places == sorted(places)


def test_the_name_alone_says_what_to_type_first() -> None:
    done = esdedup()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 8
    assert max(map(len, lines)) <= 80
    assert {line.split()[1] for line in lines[2:]} <= {"--help", *COMMANDS}


def test_an_error_in_a_terminal_names_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, EsdedupError)]
    assert {each.page for each in kinds} <= {path.stem for path in (ROOT / "docs").glob("*.md")}
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with pytest.raises(SystemExit):
        main(["run", "nowhere.tsv", "--out", "x"])
    assert capsys.readouterr().err.splitlines()[1:] == [
        "         more about this: docs/sources.md, or sources.html of the site"
    ]
