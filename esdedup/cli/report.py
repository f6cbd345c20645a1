"""`report`: the results as a page and plots."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import any_store_option, json_option, out_option, talk_options
from esdedup.terminal import printable_lines


@click.command(cls=Command)
@any_store_option
@out_option("Folder for the page and the pictures.", required=True)
@json_option
@talk_options
def report(store: str, out: Path, as_json: bool, quiet: bool) -> None:
    """Write a page about the results, report.html, and its plots as PNG and SVG.

    The page is one file that needs no network: counts, kinds, sizes, contradictions, the largest clusters, templates,
    what was skipped, the settings, and the commands that do it again. run writes it, too.

    \b
    Example:
      esdedup report --store found/store.duckdb --out found
    """
    import esdedup
    from esdedup.terminal import json_line

    paths = esdedup.report(store=store, out=out)
    if as_json:
        click.echo(json_line({"files": [str(path) for path in paths]}))
        return
    for path in paths:
        click.echo(printable_lines(f"wrote {path}"))
