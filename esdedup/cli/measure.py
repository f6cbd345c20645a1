"""`plan`, `evaluate`, `report`: what to index with, how good the results are, and how they look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.declared import jaccard_option, signing_options, source_options
from esdedup.cli.made import command
from esdedup.cli.option_makers import complete_files
from esdedup.cli.printing import show
from esdedup.cli.shared_options import STORES, any_store_option, defaults_options, optional_store, resource_options
from esdedup.terminal import printable_lines


@command(
    esdedup.plan,
    click.argument("sources", nargs=-1, metavar="[SOURCE…]", shell_complete=complete_files),
    optional_store(f"A store to sample: {STORES}."),
    jaccard_option,
    panel="Plan",
    groups=(source_options, signing_options, resource_options, defaults_options),
)
def plan(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup plan dump.xml.bz2 --jaccard 0.7 --sentences 136000000
    """
    from esdedup.cli.show_plan import plan_text

    answer = esdedup.plan(*sources, **options)
    show(answer, as_json, lambda: plan_text(answer, options["recall"]))


@command(esdedup.evaluate, store=any_store_option, panel="Correct results")
def evaluate(as_json: bool, **options: Any) -> None:
    """\b
    Examples:
      esdedup evaluate --store found/store.duckdb --truth exact
      esdedup evaluate --store found/store.duckdb --golden right.txt
    """
    from esdedup.cli.show_plan import evaluation_text

    found = esdedup.evaluate(**options)
    show(found, as_json, lambda: evaluation_text(found))


@command(esdedup.report, store=any_store_option)
def report(store: str, out: Path, as_json: bool, quiet: bool) -> None:
    """\b
    Example:
      esdedup report --store found/store.duckdb --out found
    """
    from esdedup.terminal import json_line

    paths = esdedup.report(store=store, out=out)
    if as_json:
        click.echo(json_line({"files": [str(path) for path in paths]}))
        return
    for path in paths:
        click.echo(printable_lines(f"wrote {path}"))
