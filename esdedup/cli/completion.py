"""What shells complete after an option or for an argument. Completion does not check values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def complete_files(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell complete names of files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type="file")]


def complete_names(names: Iterable[str]) -> Completion:
    """Offer these names."""

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names if name.startswith(typed)]

    return complete
