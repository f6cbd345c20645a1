"""`run`, `index`, `scan`, `add`, `dedupe`: the commands that process sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.cli.declared import GROUPS
from esdedup.cli.made import Shown, command
from esdedup.cli.option_makers import complete_files
from esdedup.cli.printing import done_by, finish, raise_damage, show
from esdedup.cli.shared_options import ADDRESSES, OUTPUT, any_store_option, defaults_options, optional_store
from esdedup.errors import UsageError
from esdedup.formats.protocol import FORMATS

_PANEL = "What is dropped"


@command(esdedup.run, optional_store(f"{ADDRESSES}.  [default: DIR/store.duckdb; on Spark DIR/lake]"))
def run(sources: tuple[str, ...], out: Path, as_json: bool, **options: Any) -> None:
    """A source is a file, a folder, a glob or - for standard input, compressed or not, in one of these formats:
    {formats}.

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


@command(esdedup.index)
def index(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup index articles.jsonl.zst --store news.duckdb
    """
    from esdedup.cli.show import counts_text

    done = esdedup.index(*sources, **options)
    show(done, as_json, lambda: counts_text(done), quiet=options["quiet"])
    raise_damage(done["damaged"])


@command(esdedup.scan, store=any_store_option)
def scan(as_json: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup scan --store news.duckdb --jaccard 0.9 --out found
    """
    summary, nothing = done_by(lambda: esdedup.scan(**options))
    from esdedup.cli.show import summary_text
    from esdedup.store.registry import kind_of

    kept = options["store"] if kind_of(options["store"]).keeps_scans else None
    show(summary, as_json, lambda: summary_text(summary, options["out"], kept), quiet=options["quiet"])
    finish([], nothing)


@command(esdedup.add)
def add(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup add enwiki-december.xml.bz2 --store found/store.duckdb
    """
    from esdedup.cli.show import added_text

    summary = esdedup.add(*sources, **options)
    show(summary, as_json, lambda: added_text(summary, complete=options["complete"]), quiet=options["quiet"])
    raise_damage(summary["damaged"])


def _listed(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [kind.strip() for kind in value.split(",")]


@command(
    esdedup.dedupe,
    optional_store(
        f"{ADDRESSES}; its clusters become stars.  [default: OUTDIR/store.duckdb; on Spark OUTDIR/lake]", None
    ),
    click.option(
        "--kinds", metavar="KIND,…", callback=_listed, panel=_PANEL,
        help=f"Only drop from clusters of these kinds: {', '.join(KINDS)}.  [default: all]",
    ),
    click.option(
        "--against", metavar="REFERENCE", multiple=True, shell_complete=complete_files, panel=_PANEL,
        help="Also drop what stands in this source or store, which is only read. May be repeated.",
    ),
    panel=_PANEL,
    groups=(*GROUPS["DedupeOptions"], defaults_options),
    without=["id_column"],
    hidden=["linkage", "limit"],
    shown={"out": Shown("OUTDIR", OUTPUT, help="Folder for the files; not needed with --dry-run.")},
)  # fmt: skip
def dedupe(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """\b
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
