"""`run`, `index`, `scan`, `add`: the commands that process sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import esdedup
from esdedup.cli.made import command
from esdedup.cli.printing import done_by, finish, raise_damage, show
from esdedup.cli.shared_options import ADDRESSES, any_store_option, optional_store
from esdedup.formats.protocol import FORMATS


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
