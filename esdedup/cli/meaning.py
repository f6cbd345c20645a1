"""`drift`, `templates`, `lineage`, `fill`: the commands about the meaning of clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.defaults import Command
from esdedup.cli.first_rows import first_rows, one_more
from esdedup.cli.option_makers import verb_option
from esdedup.cli.shared_options import OUTPUT, any_store_option, json_option, out_option, talk_options
from esdedup.terminal import printable_lines

_SHOWN = 20
_SELECTION = "Selection"
_LIMIT = click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Maximum number to print.  [default: {_SHOWN} as text, all in other forms]",
    panel=_SELECTION,
)
_DOCUMENT = click.option(
    "--document", metavar="ID", help="Only clusters with a sentence of this document.", panel=_SELECTION
)


@click.command(cls=Command)
@any_store_option
@click.option(
    "--since", metavar="DATE", help="Only contradictions with a page edited since this date.", panel=_SELECTION
)
@_DOCUMENT
@click.option(
    "--review",
    type=click.Choice(["wikitext", "markdown"]),
    help="Print a list for a talk page in this markup.",
    panel=OUTPUT,
)
@_LIMIT
@json_option
@talk_options
def drift(review: str | None, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """List contradictions: sentences about one subject that state different facts, surest first.

    esdedup edits nothing. After each dump, use --since to list what is new for review. The date of a sentence is
    the last edit of its page or, with --revisions all, the edit that added it.

    \b
    Example:
      esdedup drift --store s.duckdb --since 2026-11-01 --review wikitext
    """
    from esdedup.cli.show_meaning import drift_text
    from esdedup.terminal import json_line

    if limit is None and review is None and not as_json:
        limit = _SHOWN
    rows = list(first_rows(esdedup.drift(**options, limit=one_more(limit)), limit))
    if review is not None:
        from esdedup.output import reviews

        click.echo(printable_lines(getattr(reviews, review)(rows)), nl=False)
    elif as_json:
        for row in rows:
            click.echo(json_line(row.to_dict()))
    else:
        click.echo(printable_lines(drift_text(rows)))


@click.command(cls=Command)
@any_store_option
@verb_option(
    esdedup.templates,
    "min_subjects",
    "Minimum number of distinct texts of a template.",
    kind=click.IntRange(min=2),
    metavar="N",
    panel=_SELECTION,
)
@_DOCUMENT
@out_option("Write each table to DIR.")
@click.option(
    "--table",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="Format of the tables.",
    panel=OUTPUT,
)
@_LIMIT
@json_option
@talk_options
def templates(out: Path | None, table: str, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """List templates: the frame of each cluster, and a table of what fills its slots.

    In CSV, a cell that begins like a formula gets a leading apostrophe, so that a spreadsheet reads it as text; fill
    leaves it out again. Parquet has the cells unchanged.

    \b
    Example:
      esdedup templates --store found/store.duckdb --out tables
    """
    from esdedup.cli.show_meaning import template_text
    from esdedup.terminal import json_line

    if limit is None and out is None and not as_json:
        limit = _SHOWN
    found = first_rows(esdedup.templates(**options, limit=one_more(limit)), limit)
    if out is not None:
        from esdedup.output.template_tables import write_tables

        for path in write_tables(found, out, table):
            click.echo(printable_lines(f"wrote {path}"))
        return
    none = True
    for template in found:
        click.echo(json_line(_as_dict(template)) if as_json else printable_lines(template_text(template)))
        none = False
    if none and not as_json:
        click.echo("no templates found")


@click.command(cls=Command)
@any_store_option
@_DOCUMENT
@click.option(
    "--graphml", metavar="FILE", type=click.Path(path_type=Path), help="Also write the trees as a graph.", panel=OUTPUT
)
@_LIMIT
@json_option
@talk_options
def lineage(graphml: Path | None, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Show which sentence came first: a tree for each cluster that was copied from page to page.

    The parent of a sentence is the most similar earlier one. For the time of each edit, index a dump with full
    history (--revisions all); other dumps contain only the last edit of each page.

    \b
    Example:
      esdedup lineage --store found/store.duckdb --graphml copies.graphml
    """
    from esdedup.cli.show_meaning import lineage_text
    from esdedup.terminal import json_line

    if limit is None and graphml is None and not as_json:
        limit = _SHOWN
    found = esdedup.lineage(**options, limit=one_more(limit))
    found = replace(found, trees=list(first_rows(found["trees"], limit)))
    click.echo(json_line(found.to_dict()) if as_json else printable_lines(lineage_text(found)))
    if graphml is not None:
        from esdedup.output.graphml import write_graphml

        write_graphml(found["trees"], graphml)
        if not as_json:
            click.echo(printable_lines(f"wrote {graphml}"))


@click.command(cls=Command)
@click.argument("frame")
@click.argument("table", type=click.Path(path_type=Path))
@talk_options
def fill(frame: str, table: Path, quiet: bool) -> None:
    """Write the sentences of FRAME and TABLE, a CSV file whose columns are named like the slots.

    \b
    Example:
      esdedup fill "In {year} {name} had {number} people." towns.csv
    """

    for sentence in esdedup.fill(frame, table):
        click.echo(printable_lines(sentence))


def _as_dict(template: Any) -> dict[str, Any]:
    """Convert a table to JSON, with its slots as objects."""
    fields: dict[str, Any] = template._asdict()
    return {**fields, "columns": [column._asdict() for column in template.columns]}
