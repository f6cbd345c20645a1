"""`similar`, `suggest`, `explain`, `clusters`, `overlap`: the commands that query a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.made import Shown, command
from esdedup.cli.option_makers import complete_files
from esdedup.cli.printing import first_rows, one_more, show, show_rows
from esdedup.cli.shared_options import any_store_option
from esdedup.errors import SourceError, UsageError
from esdedup.plurals import plural
from esdedup.terminal import printable_lines

_TOLD = 5


def read_questions(path: str) -> Iterator[tuple[str, str]]:
    """Yield id and text of each question. A question without an id gets the number of its line.

    Raise `SourceError` if the file cannot be read; at its end `UsageError`, if a line is no question.
    """
    from esdedup.store.ledger import STANDARD_INPUT

    others: list[int] = []
    try:
        with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                question = _question(line, number)
                if question is None:
                    others.append(number)
                else:
                    yield question
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    if others:
        named = ", ".join(map(str, others[:_TOLD])) + (", …" if len(others) > _TOLD else "")
        raise UsageError(
            f"{path}: {plural(len(others), 'line is no question', 'lines are no questions')} ({named}), and the others "
            'are answered; write one a line, as {"id": "1", "text": "…"}'
        )


def _question(line: bytes, number: int) -> tuple[str, str] | None:
    try:
        asked = json.loads(line)
        text = asked["text"]
        return (str(asked.get("id", number)), text) if isinstance(text, str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


_SELECTION = "Selection"
_LIMIT = click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", panel=_SELECTION,
    help="Maximum number of rows to print.",
)  # fmt: skip


@command(
    esdedup.similar,
    click.argument("text", required=False),
    click.option(
        "--file", "questions", metavar="FILE", shell_complete=complete_files, panel=_SELECTION,
        help="Ask for each line of FILE instead: JSON Lines with text, and perhaps id; - for standard input.",
    ),
    _LIMIT,
    panel=_SELECTION,
)  # fmt: skip
def similar(text: str | None, questions: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """A sentence is a match (*) if a scan would find it.

    \b
    Example:
      esdedup similar "The fox jumps over the dog." --store found/store.duckdb
    """
    from esdedup.cli.show import similar_text
    from esdedup.terminal import json_line

    if (text is None) == (questions is None):
        raise UsageError("give either TEXT or --file FILE")
    if text is not None:
        rows = esdedup.similar(text, **options)
        show_rows(rows, as_json, lambda: similar_text(rows))
        return
    for answer in esdedup.similar_to_each(read_questions(str(questions)), **options):
        if as_json:
            click.echo(json_line(answer.to_dict()))
        else:
            click.echo(printable_lines(f"{answer['id']}: {answer['text']}\n{similar_text(answer['similar'])}\n"))


@command(esdedup.suggest, _LIMIT, panel=_SELECTION)
def suggest(prefix: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup suggest "univ cambr" --store found/store.duckdb
    """
    from esdedup.cli.show import suggest_text

    rows = esdedup.suggest(prefix, **options)
    show_rows(rows, as_json, lambda: suggest_text(rows))


@command(esdedup.explain, store=any_store_option, shown={"a": Shown("ID_A"), "b": Shown("ID_B")})
def explain(a: str, b: str, store: str, as_json: bool, quiet: bool) -> None:
    """\b
    Example:
      esdedup explain 12:3 4071:0 --store found/store.duckdb
    """
    from esdedup.cli.show import explain_text

    found = esdedup.explain(a, b, store=store)
    show(found, as_json, lambda: explain_text(found))


@command(esdedup.clusters, _LIMIT, store=any_store_option, panel=_SELECTION, shown={"text": Shown("WORDS")})
def clusters(store: str, limit: int, as_json: bool, quiet: bool, **filters: Any) -> None:
    """\b
    Example:
      esdedup clusters --store found/store.duckdb --text "land use" --min-size 3
    """
    from esdedup.cli.show import cluster_text
    from esdedup.terminal import json_line

    none = True
    for cluster in first_rows(esdedup.clusters(store=store, **filters, limit=one_more(limit)), limit):
        click.echo(json_line(cluster.to_dict()) if as_json else printable_lines(cluster_text(cluster)))
        none = False
    if none and not as_json:
        click.echo("no clusters found")


@command(esdedup.overlap, _LIMIT, store=any_store_option, panel=_SELECTION)
def overlap(limit: int, as_json: bool, quiet: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup overlap --store found/store.duckdb --by sources
    """
    from esdedup.cli.show import overlap_text

    found = esdedup.overlap(**options, limit=one_more(limit))
    from esdedup.output.contents.base import Rows

    found = replace(found, rows=Rows(list(first_rows(found.rows, limit))))
    show_rows(found.rows, as_json, lambda: overlap_text(found))
