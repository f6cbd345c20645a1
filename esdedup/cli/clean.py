"""`dedupe`: the command that rewrites a collection without its duplicates."""

from __future__ import annotations

from typing import Any

import rich_click as click

import esdedup
from esdedup.analysis.kind_names import KINDS
from esdedup.cli.completion import complete_files
from esdedup.cli.declared import scan_options, signing_options, source_options
from esdedup.cli.defaults import Command
from esdedup.cli.option_makers import hiding, verb_option
from esdedup.cli.printing import done_by, finish, show
from esdedup.cli.shared_options import (
    ADDRESSES,
    STORE,
    defaults_options,
    fresh_option,
    json_option,
    out_option,
    resource_options,
    sources_argument,
    talk_options,
)
from esdedup.errors import UsageError
from esdedup.matching.protocol import KEEPS


def _listed(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [kind.strip() for kind in value.split(",")]


@hiding("linkage", "limit")
@click.command(cls=Command)
@sources_argument
@out_option("Folder for the files; not needed with --dry-run.", metavar="OUTDIR")
@click.option(
    "--store",
    metavar="ADDRESS",
    shell_complete=complete_files,
    help=f"{ADDRESSES}; its clusters become stars.  [default: OUTDIR/store.duckdb; on Spark OUTDIR/lake]",
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
@click.option(
    "--against",
    metavar="REFERENCE",
    multiple=True,
    shell_complete=complete_files,
    help="Also drop what stands in this source or store, which is only read. May be repeated.",
    panel="What is dropped",
)
@click.option(
    "--against-only",
    is_flag=True,
    help="Drop only what stands in a reference; leave other duplicates alone.",
    panel="What is dropped",
)
@click.option(
    "--against-text-column",
    metavar="COLUMN",
    help="Column of texts of the references.  [default: as of the sources]",
    panel="What is dropped",
)
@click.option(
    "--containing",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="S",
    help="Also drop what has at least this share of the shingles of a text in a reference.",
    panel="What is dropped",
)
@click.option(
    "--contained",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="S",
    help="Also drop what stands with at least this share of its shingles inside a longer text.",
    panel="What is dropped",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Write nothing; print the counts and the ten largest clusters.",
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

    Rows, JSON records and text files are compared as wholes. Of wiki dumps, or with --unit sentence, sentences are
    removed from their texts. Wiki dumps become JSON Lines of cleaned documents. OUTDIR/drops.jsonl lists everything
    that was dropped, and why. With --across sources, duplicates within one source are kept.

    \b
    Examples:
      esdedup dedupe corpus.jsonl.zst -o clean
      esdedup dedupe new.jsonl -o clean --against old.jsonl --against news.duckdb
      esdedup dedupe products.csv --text-column name,brand --dry-run
    """
    from esdedup.cli.show import deduped_text

    if options["out"] is None and not options["dry_run"]:
        raise UsageError("--out OUTDIR is missing; to see what would happen, give --dry-run")
    done, nothing = done_by(lambda: esdedup.dedupe(*sources, **options))
    show(done, as_json, lambda: deduped_text(done, options["out"]), quiet=options["quiet"])
    finish(done["damaged"], nothing)
