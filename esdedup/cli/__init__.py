"""The command line: one small file a group of commands, each a thin wrapper around a Python verb."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NoReturn

import click
import rich_click

from esdedup._version import __version__
from esdedup.cli.interrupts import INTERRUPTED, interruptible
from esdedup.errors import EsdedupError

_HOMES = {
    "run": "work",
    "index": "work",
    "scan": "work",
    "add": "work",
    "remove": "upkeep",
    "status": "upkeep",
    "similar": "ask",
    "suggest": "ask",
    "explain": "ask",
    "clusters": "ask",
    "overlap": "ask",
    "drift": "meaning",
    "templates": "meaning",
    "fill": "meaning",
    "lineage": "meaning",
    "report": "report",
    "dedupe": "clean",
    "plan": "plan",
    "evaluate": "evaluate",
    "serve": "serve",
    "demo": "demo",
    "node": "node",
    "kibana": "kibana",
    "drop": "upkeep",
}


class _Commands(rich_click.RichGroup):
    """A group that imports a command's file when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _HOMES:
            return None
        command: click.Command = getattr(import_module(f"esdedup.cli.{_HOMES[cmd_name]}"), cmd_name)
        return command


@rich_click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def cli() -> None:
    """Find sentences that are said twice, or nearly twice, in large text collections."""


def command() -> NoReturn:
    """The program `esdedup`."""
    interruptible(main)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; exit code 0 done, 1 could not be done, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with cli.make_context("esdedup", list(given)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(_say(_INTERRUPTED, INTERRUPTED))
    except click.ClickException as error:
        if not given:
            error.show()  # the help
            sys.exit(2)
        sys.exit(_say(_usage(error), 2))
    except EsdedupError as error:
        if "--debug" in given:
            raise
        if _was_interrupted(error):
            sys.exit(_say(_INTERRUPTED, INTERRUPTED))
        sys.exit(_say(str(error), error.exit_code))
    except BrokenPipeError:
        # the reader of our output has seen enough
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if _was_interrupted(error):
            sys.exit(_say(_INTERRUPTED, INTERRUPTED))
        if not _is_circumstance(error) or "--debug" in given:
            raise
        sys.exit(_say(f"{_cause(error)}; mend that and run the same command again", 1))
    sys.exit(0)


_INTERRUPTED = "interrupted; run the same command again to finish"


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: DuckDB turns one that comes during a query, or while it reads from Python,
    into an error of its own."""
    while error is not None:
        told = isinstance(error, RuntimeError) and "interrupted" in str(error).lower()
        told = told or (_is_of_duckdb(error) and "KeyboardInterrupt" in str(error))
        if told or isinstance(error, KeyboardInterrupt) or type(error).__name__ == "InterruptException":
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_circumstance(error: Exception) -> bool:
    """Whether the machine is to blame: files, disk, memory, also as the libraries below report them."""
    return isinstance(error, OSError | MemoryError) or _is_of_duckdb(error)


def _is_of_duckdb(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in ("_duckdb", "duckdb")


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    # a library that was fed by Python code appends the traceback of that code
    return str(error).partition("Detail: Python exception")[0].strip() or type(error).__name__


def _usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{error.format_message().rstrip('.')} (see {context.command_path if context else 'esdedup'} --help)"


def _say(message: str, code: int) -> int:
    line = "".join(character if character.isprintable() else " " for character in message)
    click.echo(f"esdedup: {' '.join(line.split())}", err=True)
    return code
