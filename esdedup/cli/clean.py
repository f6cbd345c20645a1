"""`dedupe`: the command that rewrites a collection without its duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.analysis.kind_names import KINDS
from esdedup.cli.completion import complete_files
from esdedup.cli.declared import resource_options, scan_options, signing_options, source_options, verb_option
from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import (
    ADDRESSES,
    defaults_options,
    fresh_option,
    json_option,
    sources_argument,
    talk_options,
)
from esdedup.cli.work import raise_damage, show
from esdedup.matching.protocol import KEEPS


def _listed(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [kind.strip() for kind in value.split(",")]


@click.command(cls=Command)
@sources_argument
@click.option(
    "-o", "--out", metavar="OUTDIR", type=click.Path(path_type=Path), required=True, help="Folder for the files."
)
@click.option(
    "--store",
    metavar="ADDRESS",
    shell_complete=complete_files,
    help=f"{ADDRESSES}; its results become stars.  [default: OUTDIR/store.duckdb]",
)
@verb_option(esdedup.dedupe, "keep", "Which text of a cluster is kept.", kind=click.Choice(KEEPS))
@click.option(
    "--kinds",
    metavar="KIND,…",
    callback=_listed,
    help=f"Only drop from clusters of these kinds: {', '.join(KINDS)}.  [default: all]",
)
@click.option("--annotate", is_flag=True, help="Keep everything, and write beside each record what would become of it.")
@fresh_option
@json_option
@source_options
@signing_options
@scan_options
@resource_options
@defaults_options
@talk_options
def dedupe(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Write each SOURCE again without its duplicates: same name, format and compression.

    Whole records go with --unit record, otherwise sentences out of their texts. Wiki dumps become JSON Lines of
    cleaned documents. OUTDIR/drops.jsonl names everything that was dropped, and why. With --across sources,
    duplicates within one source stay.

    \b
    Examples:
      esdedup dedupe corpus.jsonl.zst -o clean --unit record
      esdedup dedupe train.tsv test.tsv -o clean --across sources
    """
    from esdedup.cli.show import deduped_text

    done = esdedup.dedupe(*sources, **options)
    show(done, as_json, lambda: deduped_text(done, options["out"]))
    raise_damage(done["damaged"])
