"""`plan`, `evaluate`, `report`: what to index with, how good the results are, and how they look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

import esdedup
from esdedup.cli.declared import jaccard_option, signing_options, source_options
from esdedup.cli.made import Shown, command
from esdedup.cli.option_makers import complete_files
from esdedup.cli.printing import show
from esdedup.cli.shared_options import STORES, any_store_option, defaults_options, optional_store, resource_options
from esdedup.errors import UsageError
from esdedup.plurals import plural
from esdedup.terminal import printable, printable_lines


@command(
    esdedup.plan,
    click.argument("sources", nargs=-1, metavar="[SOURCE…]", shell_complete=complete_files),
    optional_store(f"A store to sample: {STORES}."),
    jaccard_option,
    panel="Plan",
    groups=(source_options, signing_options, resource_options, defaults_options),
)
def plan(sources: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """\b
    Example:
      esdedup plan dump.xml.bz2 --jaccard 0.7 --sentences 136000000
    """
    from esdedup.cli.show_plan import plan_text

    answer = esdedup.plan(*sources, **options)
    show(answer, as_json, lambda: plan_text(answer, options["recall"]))


@command(esdedup.evaluate, store=any_store_option, panel="Correct results")
def evaluate(as_json: bool, **options: Any) -> None:
    """\b
    Examples:
      esdedup evaluate --store found/store.duckdb --truth exact
      esdedup evaluate --store found/store.duckdb --golden right.txt
    """
    from esdedup.cli.show_plan import evaluation_text

    found = esdedup.evaluate(**options)
    show(found, as_json, lambda: evaluation_text(found))


@command(esdedup.report, store=any_store_option)
def report(store: str, out: Path, as_json: bool, quiet: bool) -> None:
    """\b
    Example:
      esdedup report --store found/store.duckdb --out found
    """
    from esdedup.terminal import json_line

    paths = esdedup.report(store=store, out=out)
    if as_json:
        click.echo(json_line({"files": [str(path) for path in paths]}))
        return
    for path in paths:
        click.echo(printable_lines(f"wrote {path}"))


def _share(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return a share that is given as a number or in percent."""
    del context, parameter
    try:
        return float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        raise UsageError(f"--sample is {value!r}; give a share, as in 1% or 0.01") from None


@command(
    esdedup.verify,
    click.option(
        "--input", metavar="PATH", multiple=True, shell_complete=complete_files, panel="Verify",
        help="File or folder of inputs. May be repeated.  [default: where they were]",
    ),
    click.option(
        "--sample", metavar="SHARE", callback=_share, default="100%", show_default=True, panel="Verify",
        help="Compare only this share of the removed texts again.",
    ),
    panel="Verify",
    shown={"certificate": Shown("CERTIFICATE"), "output": Shown("OUTDIR")},
)  # fmt: skip
def verify(certificate: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """If something is not true, the exit code is 1.

    \b
    Example:
      esdedup verify cert.json --input corpus.jsonl --output clean
    """
    found = esdedup.verify(certificate, **options)
    lines = [*found.problems, *(f"not checked: {each}" for each in found.not_checked)]
    counted = f"{plural(found.rows, 'removed text')}, {found.compared:,} compared again"
    lines.append(f"{counted}: {plural(len(found.problems), 'problem') if found.problems else 'the certificate holds'}")
    show(found, as_json, lambda: "\n".join(map(printable, lines)), quiet=quiet)
    if found.problems:
        raise SystemExit(1)
