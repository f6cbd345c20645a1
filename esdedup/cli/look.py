"""`status`, `clusters`: the commands that look into a store."""

from __future__ import annotations

from typing import Any

import click

from esdedup.cli.options import json_option, store_option, talk_options


@click.command()
@store_option
@json_option
@talk_options
def status(store: str, as_json: bool, quiet: bool) -> None:
    """Say what a store holds: counts, settings, sources, last scan, unfinished work, disk."""
    import esdedup
    from esdedup.cli.show import counts_text
    from esdedup.exports.tables import compact_json

    state = esdedup.status(store=store)
    if as_json:
        click.echo(compact_json(state))
        return
    click.echo(f"{state['store']}  {state['disk_bytes'] / 2**20:,.1f} MiB")
    click.echo(counts_text(state["counts"], state["skipped"]))
    click.echo("settings: " + ", ".join(f"{name} {value}" for name, value in state["settings"].items()))
    for source in state["sources"]:
        mark = "" if source["finished"] else "  (not finished: index it again)"
        click.echo(f"source: {source['name']}  {source['documents']:,} documents  {source['path']}{mark}")
    scanned = state["last_scan"]
    if scanned is None:
        click.echo(f"not scanned; next: esdedup scan --store {store}")
    else:
        click.echo("last scan: " + ", ".join(f"{name} {value}" for name, value in scanned["scanning"].items()))
        click.echo(counts_text(scanned["counts"], {}))


@click.command()
@store_option
@click.option(
    "--min-size",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Sentences in the cluster.",
)
@click.option("--document", metavar="ID", help="Only clusters with a sentence of this document.")
@click.option("--text", metavar="WORDS", help="Only clusters in whose texts all these words stand.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", help="At most N clusters."
)
@json_option
@talk_options
def clusters(store: str, as_json: bool, quiet: bool, **filters: Any) -> None:
    """List clusters, largest first.

    \b
    Example:
      esdedup clusters --store found/store.duckdb --text "agricultural land" --min-size 3
    """
    import esdedup
    from esdedup.cli.show import cluster_text
    from esdedup.exports.tables import compact_json

    for cluster in esdedup.clusters(store=store, **filters):
        click.echo(compact_json(cluster) if as_json else cluster_text(cluster))
