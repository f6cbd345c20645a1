"""`run`, `index`, `scan`, `add`: the commands that process sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.completion import complete_files
from esdedup.cli.declared import kinds_option, part_option, scan_options, signing_options, source_options
from esdedup.cli.defaults import Command
from esdedup.cli.option_makers import verb_option
from esdedup.cli.printing import done_by, finish, raise_damage, show
from esdedup.cli.shared_options import (
    ADDRESSES,
    OUTPUT,
    STORE,
    any_store_option,
    defaults_options,
    fresh_option,
    generations_option,
    json_option,
    lookup_option,
    out_option,
    report_option,
    resource_options,
    sources_argument,
    store_option,
    table_option,
    talk_options,
)
from esdedup.formats.protocol import FORMATS

_OUT = out_option("Folder for the files.", required=True)


@click.command(cls=Command)
@sources_argument
@_OUT
@click.option(
    "--store", metavar="ADDRESS", envvar="ESDEDUP_STORE", panel="Store", shell_complete=complete_files,
    help=f"{ADDRESSES}.  [default: DIR/store.duckdb; on Spark DIR/lake]",
)  # fmt: skip
@fresh_option
@generations_option
@lookup_option
@table_option
@report_option
@json_option
@source_options
@signing_options
@scan_options
@kinds_option
@resource_options
@defaults_options
@talk_options
def run(sources: tuple[str, ...], out: Path, as_json: bool, **options: Any) -> None:
    """Index SOURCEs, find near-duplicates, and write the results to DIR.

    A source is a file, a folder, a glob or - for standard input, compressed or not, in one of these formats:
    {formats}. If you run the same job again, only its files are written again.

    \b
    Example:
      esdedup run enwiki-latest-pages-articles.xml.bz2 --out found
    """
    summary, nothing = done_by(lambda: esdedup.run(*sources, out=out, **options))
    from esdedup.cli.show import summary_text
    from esdedup.jobs.lakes import store_in

    store = options["store"] or store_in(out, options["engine"] or "local")
    show(summary, as_json, lambda: summary_text(summary, out, store), quiet=options["quiet"])
    finish(summary["damaged"], nothing)


run.help = str(run.help).format(formats=", ".join(FORMATS.names))


@click.command(cls=Command)
@sources_argument
@store_option
@fresh_option
@generations_option
@lookup_option
@json_option
@source_options
@part_option
@signing_options
@resource_options
@defaults_options
@talk_options
def index(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Read, split, sign and store SOURCEs.

    Documents that are already in the store are skipped; documents whose text has changed are replaced.

    \b
    Example:
      esdedup index articles.jsonl.zst --store news.duckdb
    """
    from esdedup.cli.show import counts_text

    done = esdedup.index(*sources, **options)
    show(done, as_json, lambda: counts_text(done), quiet=options["quiet"])
    raise_damage(done["damaged"])


@click.command(cls=Command)
@any_store_option
@out_option("Also write the files to DIR.")
@table_option
@report_option
@json_option
@scan_options
@kinds_option
@resource_options
@defaults_options
@talk_options
def scan(as_json: bool, **options: Any) -> None:
    """Find pairs and clusters among everything in the store.

    \b
    Example:
      esdedup scan --store news.duckdb --jaccard 0.9 --out found
    """
    summary, nothing = done_by(lambda: esdedup.scan(**options))
    from esdedup.cli.show import summary_text
    from esdedup.store.registry import kind_of

    kept = options["store"] if kind_of(options["store"]).keeps_scans else None
    show(summary, as_json, lambda: summary_text(summary, options["out"], kept), quiet=options["quiet"])
    finish([], nothing)


@click.command(cls=Command)
@sources_argument
@store_option
@out_option("Also write the files to DIR.")
@verb_option(
    esdedup.add, "matches", "Maximum number of matches to print.", kind=click.IntRange(min=0), metavar="N", panel=OUTPUT
)
@click.option(
    "--complete", is_flag=True, panel=STORE,
    help="The sources are whole exports: remove the pages of their wikis that are not in them.",
)  # fmt: skip
@lookup_option
@table_option
@report_option
@json_option
@source_options
@signing_options
@scan_options
@kinds_option
@resource_options
@defaults_options
@talk_options
def add(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Index new or changed documents, bring pairs and clusters up to date, and list what matches.

    Only what has changed is scanned, with the options of the last scan.

    \b
    Example:
      esdedup add enwiki-december.xml.bz2 --store found/store.duckdb
    """
    from esdedup.cli.show import added_text

    summary = esdedup.add(*sources, **options)
    show(summary, as_json, lambda: added_text(summary, complete=options["complete"]), quiet=options["quiet"])
    raise_damage(summary["damaged"])
