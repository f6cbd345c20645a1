"""Writes docs/commands.md from the command line itself; with --check, fails if it is out of date."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from esdedup.cli import cli
from esdedup.cli.layout import Declared

os.environ["COLUMNS"] = "80"  # the same everywhere
PAGE = Path(__file__).parents[1] / "docs" / "commands.md"


def reference() -> str:
    parts = ["# Commands\n\nMade by `python scripts/reference.py` from `--help`.\n"]
    context = cli.make_context("esdedup", ["run"], resilient_parsing=True)
    parts += _sections(cli, context)
    return "\n".join(parts)


def _sections(group: click.Group, context: click.Context) -> Iterator[str]:
    """The help of each command, and after that of a group the help of its commands."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, Declared) and option.owners:
                option.hidden = False  # as if each was chosen
        inner = command.context_class(command, info_name=name, parent=context)
        yield f"## {inner.command_path}\n\n```\n{command.get_help(inner)}\n```\n"
        if isinstance(command, click.Group):
            yield from _sections(command, inner)


if __name__ == "__main__":
    page = reference()
    if "--check" not in sys.argv:
        PAGE.write_text(page, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != page:
        sys.exit(f"{PAGE} is out of date; run python scripts/reference.py")
