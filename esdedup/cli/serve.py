"""`serve`: the web page."""

from __future__ import annotations

import os

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import port_option, store_option, talk_options
from esdedup.errors import needs_extra


@click.command(cls=Command)
@store_option
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="NAME", help="Address to listen on.", panel="Page"
)
@port_option(8765, "Port", panel="Page")
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Additional host name to accept; repeatable.",
    panel="Page",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Web page that may read the API from its scripts, such as https://example.com; repeatable.",
    panel="Page",
)
@click.option("--article-url", metavar="URL", help="URL of an article, with {title} or {id} in it.", panel="Page")
@click.option(
    "--memory",
    default="256MiB",
    show_default=True,
    metavar="SIZE",
    help="Memory for the database of a store in a file.",
    panel="Page",
)
@talk_options
def serve(
    store: str,
    host: str,
    port: int,
    names: tuple[str, ...],
    origins: tuple[str, ...],
    article_url: str | None,
    memory: str,
    quiet: bool,
) -> None:
    """Show a store as a web page: check a sentence as you type, browse clusters, contradictions, templates.

    Needs pip install 'esdedup[web]'. The page is read-only. By default it listens on this machine only. With another
    --host, set ESDEDUP_SERVE_TOKEN to the token that visitors must enter, and put the server behind a TLS proxy,
    because it has no encryption. For a store in a file it shows a copy, so that other commands can write to it.

    \b
    Example:
      esdedup serve --store found/store.duckdb
    """
    with needs_extra("web", "serve"):
        from esdedup.web.serving import serve as serve_store
    from esdedup.resources import parse_memory

    serve_store(
        store,
        host=host,
        port=port,
        names=names,
        origins=origins,
        token=os.environ.get("ESDEDUP_SERVE_TOKEN") or None,
        article_url=article_url,
        memory=parse_memory(memory),
    )
