"""`dedupe`: the command that rewrites a collection without its duplicates."""

from __future__ import annotations

from typing import Any

import rich_click as click

import esdedup
from esdedup.analysis.kind_names import KINDS
from esdedup.cli.completion import complete_files
from esdedup.cli.declared import resource_options, scan_options, signing_options, source_options, verb_option
from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import (
    ADDRESSES,
    STORE,
    defaults_options,
    fresh_option,
    json_option,
    out_option,
    sources_argument,
    talk_options,
)
from esdedup.cli.work import raise_damage, show
from esdedup.matching.protocol import KEEPS


def _listed(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [kind.strip() for kind in value.split(",")]


@click.command(cls=Command)
@sources_argument
@out_option("Folder for the files.", metavar="OUTDIR", required=True)
@click.option(
    "--store",
    metavar="ADDRESS",
    shell_complete=complete_files,
    help=f"{ADDRESSES}; its clusters become stars.  [default: OUTDIR/store.duckdb]",
    panel=STORE,
)
@verb_option(esdedup.dedupe, "keep", "Text of a cluster to keep.", kind=click.Choice(KEEPS), panel="What is dropped")
@click.option(
    "--kinds",
    metavar="KIND,…",
    callback=_listed,
    help=f"Only drop from clusters of these kinds: {', '.join(KINDS)}.  [default: all]",
    panel="What is dropped",
)
@click.option(
    "--annotate",
    is_flag=True,
    help="Keep everything, and mark each record with what would happen to it.",
    panel="What is dropped",
)
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

    With --unit record, whole records are dropped; otherwise, sentences are removed from their texts. Wiki dumps
    become JSON Lines of cleaned documents. OUTDIR/drops.jsonl lists everything that was dropped, and why. With
    --across sources, duplicates within one source are kept.

    \b
    Examples:
      esdedup dedupe corpus.jsonl.zst -o clean --unit record
      esdedup dedupe train.tsv test.tsv -o clean --across sources
    """
    from esdedup.cli.show import deduped_text

    done = esdedup.dedupe(*sources, **options)
    show(done, as_json, lambda: deduped_text(done, options["out"]))
    raise_damage(done["damaged"])
