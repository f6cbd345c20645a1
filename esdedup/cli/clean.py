"""`dedupe`: the command that rewrites a collection without its duplicates."""

from __future__ import annotations

from typing import Any

import rich_click as click

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.cli.declared import GROUPS
from esdedup.cli.made import Shown, command
from esdedup.cli.option_makers import complete_files
from esdedup.cli.printing import done_by, finish, show
from esdedup.cli.shared_options import ADDRESSES, OUTPUT, defaults_options, optional_store
from esdedup.errors import UsageError

_PANEL = "What is dropped"


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
