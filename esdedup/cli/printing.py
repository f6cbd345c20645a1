"""Print what a verb answers, how much of it there is, and end with its exit code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from esdedup.errors import NothingCompared, SourceError
from esdedup.terminal import printable_lines

if TYPE_CHECKING:
    from esdedup.output.contents.base import Result

R = TypeVar("R", bound="Result")
T = TypeVar("T")

_log = logging.getLogger("esdedup")


def raise_damage(damaged: list[str]) -> None:
    """Exit with code 1 if --keep-going has skipped something, or a server has rejected something."""
    refused = [place for place in damaged if "refused by the server" in place]
    if refused:
        raise SourceError(f"{refused[0]}; the rest is done")
    if damaged:
        raise SourceError(f"{len(damaged)} damaged or missing source{'s' * (len(damaged) > 1)}; the rest is done")


def done_by(verb: Callable[[], R]) -> tuple[R, NothingCompared | None]:
    """Return what a verb has done, and the error to raise after it is printed."""
    try:
        return verb(), None
    except NothingCompared as error:
        return error.result, error


def show(answer: Result, as_json: bool, text: Any, *, quiet: bool = False) -> None:
    """Print an answer as JSON, or as text unless `quiet`."""
    from esdedup.terminal import json_line

    if as_json:
        click.echo(json_line(answer.to_dict()))
    elif not quiet:
        click.echo(printable_lines(text()))


def show_rows(rows: Sequence[Result], as_json: bool, text: Callable[[], str]) -> None:
    """Print rows as JSON Lines, or as text."""
    from esdedup.terminal import json_line

    for line in (json_line(row.to_dict()) for row in rows) if as_json else [printable_lines(text())]:
        click.echo(line)


def finish(damaged: list[str], nothing: NothingCompared | None = None) -> None:
    """Exit with code 1 if a source was damaged or everything was left out."""
    raise_damage(damaged)
    if nothing is not None:
        raise nothing


def one_more(limit: int | None) -> int | None:
    """Return how many rows to ask for, so that `first_rows` can tell whether `limit` are all."""
    return None if limit is None else limit + 1


def first_rows(rows: Iterable[T], limit: int | None) -> Iterator[T]:
    """Yield up to `limit` rows. If there is one more, say so."""
    left = iter(rows)
    yield from islice(left, limit)
    if limit is not None and next(left, None) is not None:
        _log.warning("there are more than these %s; list more with --limit", f"{limit:,}")
