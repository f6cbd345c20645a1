"""The layout of the help: at 80 columns, no name, choice or example is broken inside a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich_click as click

_WIDE = 22
"""Longest list of choices, or pair of flags, for the columns beside the help text."""

LAYOUT = {
    "options_table_column_types": ["required", "opt_short", "opt_long", "metavar_short", "help"],
    "text_paragraph_linebreaks": "\n\n",
    "padding_helptext_first_line": (0, 0, 1, 0),
}


class _Formatter(click.RichHelpFormatter):
    """A formatter that keeps the indentation of examples."""

    def rich_text(self, text: Any, style: Any = "") -> Any:
        """Style a text. rich-click would remove the indentation that all lines after the first have in common."""
        if not isinstance(text, str):
            return super().rich_text(text, style)
        flush = "-\n-\n"  # two lines without indentation
        styled: Any = super().rich_text(flush + text, style)
        return styled[len(flush) :]


class Context(click.RichContext):
    """The context of a command, with our formatter."""

    formatter_class = _Formatter


class Declared(click.RichOption):
    """An option that is declared. The help shows a long pair of flags on two lines, and options of `owners` only where
    one of these is chosen.
    """

    def __init__(self, *words: Any, owners: Iterable[str] = (), **settings: Any) -> None:
        self.owners = frozenset(owners)
        super().__init__(*words, hidden=bool(self.owners), **settings)

    def get_rich_table_row(self, ctx: Any, formatter: Any, panel: Any = None) -> Any:
        """Break the cell of a long pair after the slash."""
        from rich.text import Text as Cell

        row = super().get_rich_table_row(ctx, formatter, panel)
        return [
            Cell("/\n").join(cell.split("/")) if isinstance(cell, Cell) and _is_long_pair(cell.plain) else cell
            for cell in row
        ]


def _is_long_pair(names: str) -> bool:
    return len(names) > _WIDE and names.startswith("--") and "/--" in names


def choices_shown(choices: Iterable[str], help_text: str, unit: str = "") -> tuple[str | None, str]:
    """Return the placeholder of an option with choices, and its help. A long list of choices is in the help instead
    of the placeholder.
    """
    names = list(choices)
    if len("|".join(names)) + 2 <= _WIDE:
        return None, help_text
    named = all(f" {name}" in help_text for name in names)
    return unit or "NAME", help_text if named else f"{help_text} One of {', '.join(names)}."
