"""The command line: one small file for each group of commands. Each command is a thin wrapper around a Python verb."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click
import rich_click

import esdedup
from esdedup._version import __version__
from esdedup.cli.interrupts import INTERRUPTED, INTERRUPTED_WORDS, interruptible
from esdedup.cli.layout import LAYOUT
from esdedup.cli.wrong_usage import usage_message
from esdedup.errors import EsdedupError, UsageError
from esdedup.terminal import printable

_PANELS = {
    "Find duplicates": "work.run work.dedupe measure.verify",
    "Keep a store": "work.index work.scan work.add upkeep.remove upkeep.status upkeep.doctor upkeep.drop",
    "Ask a store": "ask.similar ask.suggest ask.explain ask.clusters ask.overlap",
    "What clusters mean": "meaning.drift meaning.templates meaning.fill meaning.lineage",
    "Plain text": "extract.extract",
    "Quality": "measure.plan measure.evaluate measure.report",
    "Look at it": "demo.demo serve.serve kibana.kibana node.node",
}
"""The commands of each panel of the help, each with its file."""

_HOMES = {name: home for names in _PANELS.values() for home, name in (each.split(".") for each in names.split())}

COMMANDS = tuple(_HOMES)


class _Commands(rich_click.RichGroup):
    """A group that imports a command's file only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    _listed = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listed = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listed = False

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _HOMES:
            return None
        # in the list, only what it does is shown: making its options would take longer
        if self._listed and callable(verb := getattr(esdedup, cmd_name, None)):
            from esdedup.cli.made import about

            return rich_click.RichCommand(name=cmd_name, help=about(verb))
        command: click.Command = getattr(import_module(f"esdedup.cli.{_HOMES[cmd_name]}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None


_COMPLETION = "_ESDEDUP_COMPLETE"

_EPILOG = f"""
Tab completion of commands, options and file names: put the line for your shell into ~/.bashrc, ~/.zshrc or
~/.config/fish/config.fish.

bash: eval "$({_COMPLETION}=bash_source esdedup)"

zsh: eval "$({_COMPLETION}=zsh_source esdedup)"

fish: {_COMPLETION}=fish_source esdedup | source
"""


_FIRST = """\
esdedup finds what texts say twice, or nearly twice. What to type first:

  esdedup demo                                  what is found in a made-up wiki
  esdedup dedupe table.csv                      write it without its duplicates
  esdedup run dump.xml.bz2 --out found          find what texts say twice
  esdedup clusters --store found/store.duckdb   list what was found
  esdedup --help                                all commands"""


@rich_click.group(
    cls=_Commands, epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "rich_help_config": LAYOUT},
)  # fmt: skip
@rich_click.version_option(__version__)
def cli() -> None:
    """Find copied and near-duplicate sentences in large text collections."""


for _panel, _commands in _PANELS.items():
    cli.add_panel(rich_click.RichCommandPanel(_panel, commands=[each.split(".")[1] for each in _commands.split()]))


class _NoPandas:
    """pyarrow imports pandas, where it is installed, at the first list that it is given: a quarter of a second, and no
    command uses it.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


_RETURNED, _M_MMAP_THRESHOLD = 2**22, -3


def _return_memory() -> None:
    """Have arrays of so many bytes returned to the system when they are freed. The C library of Linux otherwise keeps
    larger and larger ones, which takes a third of the memory of a scan.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _RETURNED)


def command() -> NoReturn:
    """The program `esdedup`."""
    sys.meta_path.insert(0, _NoPandas)
    _return_memory()
    # rows are many small objects and no cycles: to look for garbage more often takes a tenth of the time of a command
    gc.set_threshold(50_000, 20, 100)
    interruptible(main)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; exit code 0 done, 1 could not be done, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _COMPLETION in os.environ:
        cli.main(prog_name="esdedup", complete_var=_COMPLETION)  # prints what a shell completion needs, and exits
    if not given:
        click.echo(_FIRST)
        sys.exit(0)
    try:
        with cli.make_context("esdedup", list(given)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(_say(INTERRUPTED_WORDS, INTERRUPTED))
    except click.ClickException as error:
        sys.exit(_say(usage_message(error), 2, UsageError.page))
    except EsdedupError as error:
        if "--debug" in given:
            raise
        if _was_interrupted(error):
            sys.exit(_say(INTERRUPTED_WORDS, INTERRUPTED))
        sys.exit(_say(str(error), error.exit_code, error.page))
    except BrokenPipeError:
        # the reader of our output has closed the pipe
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if _was_interrupted(error):
            sys.exit(_say(INTERRUPTED_WORDS, INTERRUPTED))
        if not _is_circumstance(error) or "--debug" in given:
            raise
        if (own := sys.__stdout__) is not None and sys.stdout is own:
            with suppress(OSError):  # or the interpreter's end would try again to write what could not be written
                own.close()
        from esdedup.columns.database import reason_without_memory  # takes long to import, for a help text

        if (reason := reason_without_memory(error)) is not None:
            sys.exit(_say(f"{reason}; increase --memory and run the same command again", 1))
        sys.exit(_say(f"{_cause(error)}; fix this and run the same command again", 1))
    sys.exit(0)


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused the error. DuckDB turns an interrupt during a query, or while it reads from Python, into
    its own error.
    """
    while error is not None:
        interrupted = isinstance(error, RuntimeError) and "interrupted" in str(error).lower()
        interrupted = interrupted or (_is_of_duckdb(error) and "KeyboardInterrupt" in str(error))
        if interrupted or isinstance(error, KeyboardInterrupt) or type(error).__name__ == "InterruptException":
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_circumstance(error: Exception) -> bool:
    """Whether the machine caused the error: files, disk or memory, including errors that libraries report."""
    return isinstance(error, OSError | MemoryError) or _is_of_duckdb(error)


def _is_of_duckdb(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in ("_duckdb", "duckdb")


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    # a library that calls Python code appends the traceback of that code
    return str(error).partition("Detail: Python exception")[0].strip() or type(error).__name__


def _say(message: str, code: int, page: str = "") -> int:
    click.echo(f"esdedup: {' '.join(printable(message).split())}", err=True)
    if page and sys.stderr.isatty():  # a log has one line for each error
        click.echo(f"         more about this: docs/{page}.md, or {page}.html of the site", err=True)
    return code
