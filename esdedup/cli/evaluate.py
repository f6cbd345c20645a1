"""`evaluate`: how good are the results of a scan?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from esdedup.cli.completion import complete_files
from esdedup.cli.defaults import Command
from esdedup.cli.printing import show
from esdedup.cli.shared_options import any_store_option, json_option, resource_options, talk_options


@click.command(cls=Command)
@any_store_option
@click.option(
    "--golden",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The correct clusters: one per line, ids separated by white space, as in clusters.txt.",
    panel="Correct results",
)
@click.option(
    "--truth",
    metavar="exact|FILE",
    shell_complete=complete_files,
    help="The correct pairs: exact to compute them all, or a file with two ids per line and, if known, their Jaccard, "
    "separated by tabs.",
    panel="Correct results",
)
@click.option(
    "--jaccard",
    type=float,
    metavar="S",
    help="Minimum similarity of a pair, with --truth exact.  [default: that of the scan]",
    panel="Correct results",
)
@json_option
@resource_options
@talk_options
def evaluate(as_json: bool, **options: Any) -> None:
    """Compare the results of the last scan of a store with the correct ones.

    \b
    Examples:
      esdedup evaluate --store found/store.duckdb --truth exact
      esdedup evaluate --store found/store.duckdb --golden right.txt
    """
    import esdedup
    from esdedup.cli.show_scores import evaluation_text

    found = esdedup.evaluate(**options)
    show(found, as_json, lambda: evaluation_text(found))
