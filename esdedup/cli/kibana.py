"""`kibana`: import a dashboard about a store on a server into Kibana."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import OUTPUT, json_option, store_option, talk_options
from esdedup.errors import UsageError

_DEFAULT = "http://127.0.0.1:5601"


@click.group()
def kibana() -> None:
    """Show a store on a server in Kibana: clusters, kinds, articles, contradictions."""


@kibana.command("import", cls=Command)
@store_option
@click.option(
    "--kibana",
    metavar="URL",
    help=f"URL of Kibana; for a space, add /s/SPACE.  [default: {_DEFAULT}]",
    panel="Kibana",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE.ndjson",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the objects to a file instead of importing them, for Kibana's Saved Objects page.",
    panel=OUTPUT,
)
@json_option
@talk_options
def import_(store: str, kibana: str | None, out: Path | None, as_json: bool, quiet: bool) -> None:
    """Import the dashboard of a store into Kibana, replacing an earlier import.

    It consists of data views, two searches and a dashboard, named after the store's prefix. The store is not read.
    Credentials come from the same variables as for the store: ES_API_KEY, or ES_USERNAME and ES_PASSWORD.

    \b
    Examples:
      esdedup kibana import --store http://127.0.0.1:9200/wiki
      esdedup kibana import --store http://es/news --kibana http://kibana/s/press
      esdedup kibana import --store http://127.0.0.1:9200/wiki --out wiki.ndjson
    """
    from esdedup.files import whole_file
    from esdedup.kibana.saved_objects import import_dashboards, saved_objects
    from esdedup.store.registry import address_of
    from esdedup.terminal import json_line

    prefix = address_of(store).prefix
    if prefix is None:
        raise UsageError(f"{store}: Kibana shows stores on a server; give --store http://HOST:PORT/PREFIX")
    if out is None:
        done = import_dashboards(store, kibana or _DEFAULT)
        click.echo(json_line(done) if as_json else f"imported {done['objects']} objects: {done['dashboard']}")
        return
    if kibana is not None:
        raise UsageError("--out writes a file and --kibana imports; use one of them")
    if out.suffix != ".ndjson":
        raise UsageError(f"--out {out}: Kibana accepts only files with the extension .ndjson")
    objects = saved_objects(prefix)
    with whole_file(out) as part:
        part.write_bytes(objects)
    done = {"objects": objects.count(b"\n"), "file": str(out)}
    click.echo(json_line(done) if as_json else f"wrote {done['objects']} objects to {out}")
