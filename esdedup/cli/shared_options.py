"""Options that several commands share, except those declared elsewhere."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import rich_click as click

from esdedup.cli.defaults import use_config, use_preset
from esdedup.cli.option_makers import Decorator, bundle, complete_files, complete_names, one_option
from esdedup.jobs.presets import preset_names
from esdedup.resources import Resources
from esdedup.terminal import printable

OUTPUT, READING, STORE, _GENERAL = "Output", "Reading sources", "Store", "General"


class _OneLine(logging.Formatter):
    """Messages name sources, titles and ids, which cannot control a terminal then."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def _configure_log(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("esdedup: %(message)s"))
    logger = logging.getLogger("esdedup")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.ERROR if value else logging.INFO)
    return value


defaults_options = click.option(
    "--preset", metavar="NAME", is_eager=True, expose_value=False, callback=use_preset, panel=_GENERAL,
    shell_complete=complete_names(preset_names()),
    help=f"Use the settings of a published system, or for a kind of data: {', '.join(preset_names())}.",
)  # fmt: skip

talk_options = bundle(
    click.option(
        "--config", metavar="FILE.toml", type=click.Path(path_type=Path), expose_value=False, is_eager=True,
        callback=use_config, panel=_GENERAL,
        help="Read options from a TOML file, including es-api-key and other credentials. Options on the command line "
        "override it.",
    ),
    click.option("--quiet", is_flag=True, callback=_configure_log, panel=_GENERAL, help="Print errors only."),
    click.option(
        "--debug", is_flag=True, expose_value=False, panel=_GENERAL, help="Print a traceback with each error."
    ),
    click.help_option("--help", "-h", panel=_GENERAL),
)  # fmt: skip

ADDRESSES = "PATH.duckdb, http(s)://HOST:PORT/PREFIX or cloud:/PREFIX"

STORES = f"{ADDRESSES.replace(' or', ',')} or a lake (DIR/lake, made by a run on Spark)"
"""The addresses of stores that are only read."""


def _store_option(addresses: str) -> Decorator:
    return click.option(
        "--store", metavar="ADDRESS", envvar="ESDEDUP_STORE", required=True, panel=STORE,
        shell_complete=complete_files, help=f"{addresses}; or set ESDEDUP_STORE.",
    )  # fmt: skip


def optional_store(help_text: str, envvar: str | None = "ESDEDUP_STORE") -> Decorator:
    """Make the option for a store that need not be named."""
    return click.option(
        "--store", metavar="ADDRESS", envvar=envvar, panel=STORE, shell_complete=complete_files, help=help_text
    )


store_option = _store_option(ADDRESSES)

any_store_option = _store_option(STORES)


def port_option(default: int, help_text: str, *, panel: str) -> Decorator:
    """Make the option for a port."""
    return click.option(
        "--port", type=click.IntRange(0, 65535), default=default, show_default=True, metavar="N",
        help=f"{help_text}; 0 for any free one.", panel=panel,
    )  # fmt: skip


json_option = click.option("--json", "as_json", is_flag=True, panel=OUTPUT, help="Print the result as JSON.")

resource_options = bundle(*(one_option(option, "Resources") for option in Resources.declared()))
