"""`plan`: which settings to index with, and what they cost."""

from __future__ import annotations

from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.completion import complete_files
from esdedup.cli.declared import jaccard_option, signing_options, source_options
from esdedup.cli.defaults import Command
from esdedup.cli.option_makers import verb_option
from esdedup.cli.printing import show
from esdedup.cli.shared_options import (
    STORE,
    STORES,
    defaults_options,
    json_option,
    out_option,
    resource_options,
    talk_options,
)


@click.command(cls=Command)
@click.argument("sources", nargs=-1, metavar="[SOURCE…]", shell_complete=complete_files)
@click.option(
    "--store",
    metavar="ADDRESS",
    envvar="ESDEDUP_STORE",
    shell_complete=complete_files,
    help=f"A store to sample: {STORES}.",
    panel=STORE,
)
@jaccard_option
@click.option(
    "--tokens",
    type=int,
    metavar="N",
    help="Maximum number of tokens of a text.  [default: those of its unit]",
    panel="Plan",
)
@click.option(
    "--schemes",
    metavar="LIST",
    help="Schemes to compare: BANDSxROWS or DRAWSxDRAW/HASHES, separated by commas.",
    panel="Plan",
)
@verb_option(esdedup.plan, "recall", "Share of the pairs to find.", metavar="S", panel="Plan")
@verb_option(esdedup.plan, "sample", "Maximum number of sentences in the sample.", metavar="N", panel="Plan")
@click.option(
    "--sentences", type=int, metavar="N", help="Forecast time, memory and disk for N sentences.", panel="Plan"
)
@click.option("--cores", type=int, metavar="M", help="Forecast for a cluster of M cores, with --engine.", panel="Plan")
@out_option("Folder for a plot, s-curve.png.")
@json_option
@source_options
@signing_options
@resource_options
@defaults_options
@talk_options
def plan(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Compare ways to sign sentences: what each finds, in theory and in a sample of SOURCE or a store.

    \b
    Example:
      esdedup plan dump.xml.bz2 --jaccard 0.7 --sentences 136000000
    """
    from esdedup.cli.show_plan import plan_text

    answer = esdedup.plan(*sources, **options)
    show(answer, as_json, lambda: plan_text(answer, options["recall"]))
