"""`drop`: the command that ends a store."""

from __future__ import annotations

import click

from esdedup.cli.options import store_option, talk_options
from esdedup.errors import UsageError


@click.command()
@store_option
@click.option("--yes", is_flag=True, help="Really delete.")
@talk_options
def drop(store: str, yes: bool, quiet: bool) -> None:
    """Delete what esdedup made in a store, and nothing else."""
    if not yes:
        raise UsageError(f"drop deletes everything esdedup made in {store}; add --yes if that is meant")
    import esdedup

    esdedup.drop(store=store)
    click.echo(f"{store}: dropped")
