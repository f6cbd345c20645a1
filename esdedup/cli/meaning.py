"""`drift`, `templates`, `lineage`, `fill`: the commands about the meaning of clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.made import Shown, command
from esdedup.cli.printing import first_rows, one_more
from esdedup.cli.shared_options import OUTPUT, any_store_option
from esdedup.errors import UsageError
from esdedup.terminal import printable_lines

_SHOWN = 20
_SELECTION = "Selection"
_NO_CORRECTIONS = (
    "no corrections that did not arrive; esdedup sees them in the history of pages (--revisions all), "
    "or in dumps of two dates"
)
_LIMIT = click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", panel=_SELECTION,
    help=f"Maximum number to print.  [default: {_SHOWN} as text, all in other forms]",
)  # fmt: skip


@command(
    esdedup.drift,
    _LIMIT,
    click.option(
        "--review", type=click.Choice(["wikitext", "markdown"]), panel=OUTPUT,
        help="Print a list for a talk page in this markup.",
    ),
    store=any_store_option,
    panel=_SELECTION,
    shown={"since": Shown("DATE")},
)  # fmt: skip
def drift(review: str | None, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """esdedup edits nothing. After each dump, use --since to list what is new for review. The date of a sentence is
    the last edit of its page or, with --revisions all, the edit that added it.

    \b
    Example:
      esdedup drift --store s.duckdb --since 2026-11-01 --review wikitext
    """
    from esdedup.cli.show_meaning import drift_text
    from esdedup.terminal import json_line

    if review is not None and as_json:
        raise UsageError("json and review are two forms of one list; choose one")
    if limit is None and review is None and not as_json:
        limit = _SHOWN
    found = esdedup.drift(**options, limit=one_more(limit))
    rows = list(first_rows(found, limit))
    nothing = _NO_CORRECTIONS if options["stale"] else "no contradictions"
    if as_json:
        for row in rows:
            click.echo(json_line(row.to_dict()))
    elif review is not None and rows:
        from esdedup.output import meaning_files

        click.echo(printable_lines(getattr(meaning_files, review)(rows)), nl=False)
    else:
        click.echo(printable_lines(drift_text(rows) or nothing))
    if found.note and review is None:
        click.echo(printable_lines(found.note), err=as_json)


@command(
    esdedup.templates,
    _LIMIT,
    click.option(
        "-o", "--out", metavar="DIR", type=click.Path(path_type=Path), help="Write each table to DIR.", panel=OUTPUT
    ),
    click.option(
        "--table", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True, panel=OUTPUT,
        help="Format of the tables.",
    ),
    store=any_store_option,
    panel=_SELECTION,
)  # fmt: skip
def templates(out: Path | None, table: str, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """In CSV, a cell that begins like a formula gets a leading apostrophe, so that a spreadsheet reads it as text; fill
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
        from esdedup.output.meaning_files import write_tables

        for path in write_tables(found, out, table):
            click.echo(printable_lines(f"wrote {path}"))
        return
    none = True
    for template in found:
        click.echo(json_line(_as_dict(template)) if as_json else printable_lines(template_text(template)))
        none = False
    if none and not as_json:
        click.echo("no templates found")


@command(
    esdedup.lineage,
    _LIMIT,
    click.option(
        "--graphml", metavar="FILE", type=click.Path(path_type=Path), help="Also write the trees as a graph.",
        panel=OUTPUT,
    ),
    store=any_store_option,
    panel=_SELECTION,
)  # fmt: skip
def lineage(graphml: Path | None, limit: int | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """For the time of each edit, index a dump with full history (--revisions all); other dumps contain only the last
    edit of each page.

    \b
    Example:
      esdedup lineage --store found/store.duckdb --graphml copies.graphml
    """
    from esdedup.cli.show_meaning import lineage_text
    from esdedup.terminal import json_line

    if limit is None and graphml is None and not as_json:
        limit = _SHOWN
    found = esdedup.lineage(**options, limit=one_more(limit))
    listed = "unattributed" if "unattributed" in found else "trees"
    found = replace(found, **{"trees": found["trees"][:limit], listed: list(first_rows(found[listed], limit))})
    click.echo(json_line(found.to_dict()) if as_json else printable_lines(lineage_text(found)))
    if graphml is not None:
        from esdedup.output.meaning_files import write_graphml

        write_graphml(found["trees"], graphml)
        if not as_json:
            click.echo(printable_lines(f"wrote {graphml}"))


@command(esdedup.fill, as_json=False)
def fill(frame: str, table: Path, quiet: bool) -> None:
    """\b
    Example:
      esdedup fill "In {year} {name} had {number} people." towns.csv
    """
    for sentence in esdedup.fill(frame, table):
        click.echo(printable_lines(sentence))


def _as_dict(template: Any) -> dict[str, Any]:
    """Convert a table to JSON, with its slots as objects."""
    fields: dict[str, Any] = template._asdict()
    return {**fields, "columns": [column._asdict() for column in template.columns]}
