"""`similar`, `suggest`, `explain`, `clusters`, `overlap`: the commands that query a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import rich_click as click

import esdedup
from esdedup.analysis.kind_names import KINDS
from esdedup.cli.completion import complete_files
from esdedup.cli.defaults import Command
from esdedup.cli.first_rows import first_rows, one_more
from esdedup.cli.option_makers import verb_option
from esdedup.cli.questions_file import read_questions
from esdedup.cli.shared_options import any_store_option, json_option, store_option, talk_options
from esdedup.errors import UsageError
from esdedup.output.choices import OVERLAPS
from esdedup.store.cluster_queries import ORDERS
from esdedup.terminal import printable_lines

if TYPE_CHECKING:
    from esdedup.api.results import Result

_SELECTION = "Selection"
_LIMIT = click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Maximum number of rows to print.",
    panel=_SELECTION,
)
_LANG = click.option(
    "--lang", metavar="CODE", help="Only sentences in this language, such as en or de.", panel=_SELECTION
)
_SOURCE = click.option("--source", metavar="NAME", help="Only sentences of this source.", panel=_SELECTION)
_DOCUMENT = click.option("--document", metavar="ID", help="Only sentences of this document.", panel=_SELECTION)


@click.command(cls=Command)
@click.argument("text", required=False)
@store_option
@click.option(
    "--file", "questions", metavar="FILE", shell_complete=complete_files, panel=_SELECTION,
    help="Ask for each line of FILE instead: JSON Lines with text, and perhaps id; - for standard input.",
)  # fmt: skip
@click.option(
    "--jaccard",
    type=float,
    metavar="S",
    help="Minimum Jaccard similarity of a match.  [default: that of the last scan]",
    panel=_SELECTION,
)
@verb_option(
    esdedup.similar,
    "min_similarity",
    "Leave out what is less similar, unless it is a match.",
    kind=click.FloatRange(0, 1),
    metavar="S",
    panel=_SELECTION,
)
@_LANG
@_SOURCE
@_DOCUMENT
@_LIMIT
@json_option
@talk_options
def similar(text: str | None, questions: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """List stored sentences that are similar to TEXT, the most similar first.

    Case, accents and signs do not count. Typing errors, other words, another order and missing ends make a sentence
    less similar, but it is found. A sentence is a match (*) if a scan would find it.

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
        _answer(rows, as_json, lambda: similar_text(rows))
        return
    for answer in esdedup.similar_to_each(read_questions(str(questions)), **options):
        if as_json:
            click.echo(json_line(answer.to_dict()))
        else:
            click.echo(printable_lines(f"{answer['id']}: {answer['text']}\n{similar_text(answer['similar'])}\n"))


@click.command(cls=Command)
@click.argument("prefix")
@store_option
@_LANG
@_SOURCE
@_DOCUMENT
@_LIMIT
@json_option
@talk_options
def suggest(prefix: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """List stored texts that complete PREFIX, the best first.

    First those that begin with it; then those with its words anywhere. Words may be half typed or mistyped; case,
    accents and signs do not count.

    \b
    Example:
      esdedup suggest "univ cambr" --store found/store.duckdb
    """
    from esdedup.cli.show import suggest_text

    rows = esdedup.suggest(prefix, **options)
    _answer(rows, as_json, lambda: suggest_text(rows))


@click.command(cls=Command)
@click.argument("a", metavar="ID_A")
@click.argument("b", metavar="ID_B")
@any_store_option
@json_option
@talk_options
def explain(a: str, b: str, store: str, as_json: bool, quiet: bool) -> None:
    """Explain why two sentences did or did not match.

    \b
    Example:
      esdedup explain 12:3 4071:0 --store found/store.duckdb
    """
    from esdedup.cli.show import explain_text
    from esdedup.terminal import json_line

    found = esdedup.explain(a, b, store=store)
    click.echo(json_line(found.to_dict()) if as_json else printable_lines(explain_text(found)))


@click.command(cls=Command)
@any_store_option
@verb_option(
    esdedup.clusters,
    "min_size",
    "Minimum cluster size.",
    kind=click.IntRange(min=1),
    metavar="N",
    panel=_SELECTION,
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    metavar="KIND",
    help=f"Only clusters of one kind: {', '.join(KINDS)}.",
    panel=_SELECTION,
)
@click.option("--document", metavar="ID", help="Only clusters with a sentence of this document.", panel=_SELECTION)
@click.option("--text", metavar="WORDS", help="Only clusters whose texts contain all these words.", panel=_SELECTION)
@click.option("--lang", metavar="CODE", help="Only clusters with a sentence in this language.", panel=_SELECTION)
@verb_option(
    esdedup.clusters,
    "sort",
    "Sort by size, jaccard (of the weakest pair), confidence (of the kind), contradiction (its confidence) or copies "
    "(their number).",
    kind=click.Choice(list(ORDERS)),
    metavar="ORDER",
    panel=_SELECTION,
)
@click.option(
    "--since",
    metavar="DIR",
    shell_complete=complete_files,
    help="Only clusters that are new, larger or gone since the run that wrote its results to DIR.",
    panel=_SELECTION,
)
@_LIMIT
@click.option("--after", metavar="CLUSTER", help="Continue after the cluster with this id.", panel=_SELECTION)
@json_option
@talk_options
def clusters(store: str, limit: int, as_json: bool, quiet: bool, **filters: Any) -> None:
    """List clusters, largest first.

    \b
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


@click.command(cls=Command)
@any_store_option
@verb_option(
    esdedup.overlap,
    "by",
    "Compare documents or sources.",
    kind=click.Choice(OVERLAPS),
    panel=_SELECTION,
)
@click.option("--document", metavar="ID", help="Only pairs with this document (or source).", panel=_SELECTION)
@_LIMIT
@json_option
@talk_options
def overlap(limit: int, as_json: bool, quiet: bool, **options: Any) -> None:
    """List pairs of documents, or of sources, by how many sentences they share.

    \b
    Example:
      esdedup overlap --store found/store.duckdb --by sources
    """
    from esdedup.cli.show import overlap_text

    found = esdedup.overlap(**options, limit=one_more(limit))
    from esdedup.api.results import Rows

    found = replace(found, rows=Rows(list(first_rows(found.rows, limit))))
    _answer(found.rows, as_json, lambda: overlap_text(found))


def _answer(rows: Sequence[Result], as_json: bool, text: Callable[[], str]) -> None:
    """Print rows as JSON Lines, or as text."""
    from esdedup.terminal import json_line

    for line in (json_line(row.to_dict()) for row in rows) if as_json else [printable_lines(text())]:
        click.echo(line)
