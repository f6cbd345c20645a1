"""Writes docs/commands.md from the command line itself; with --check, fails if it is out of date."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from esdedup.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"


def reference() -> str:
    context = click.Context(cli, info_name="esdedup", max_content_width=100)
    parts = ["# Commands\n\nMade by `python scripts/reference.py` from `--help`.\n"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, max_content_width=100, terminal_width=100)
        parts.append(f"## esdedup {name}\n\n```\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    page = reference()
    if "--check" not in sys.argv:
        PAGE.write_text(page, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != page:
        sys.exit(f"{PAGE} is out of date; run python scripts/reference.py")
