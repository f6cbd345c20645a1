"""`evaluate`: how good are the clusters of a store?"""

from __future__ import annotations

from pathlib import Path

import click

from esdedup.cli.options import json_option, store_option, talk_options


@click.command()
@store_option
@click.option(
    "--golden",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="The right clusters: one a line, ids parted by white space, as in clusters.txt.",
)
@json_option
@talk_options  # fmt: skip
def evaluate(store: str, golden: Path, as_json: bool, quiet: bool) -> None:
    """Compare the clusters of the store with those that are known to be right.

    \b
    Example:
      esdedup evaluate --store found/store.duckdb --golden truth.txt
    """
    import esdedup
    from esdedup.cli.show_scores import golden_text
    from esdedup.exports.tables import compact_json

    found = esdedup.evaluate(store=store, golden=golden)
    click.echo(compact_json(found) if as_json else golden_text(found["golden"], found["sentences"]))
