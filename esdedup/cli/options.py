"""Options that several commands share, as bundles of decorators, and how presets and config files fill them.

Nothing here is imported that takes time: `--help` must be instant.
"""

from __future__ import annotations

import logging
import os
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from esdedup.errors import UsageError
from esdedup.settings import (
    ACROSS,
    CANDIDATES,
    FORMATS,
    HEEDED_BY,
    LINKAGES,
    NORMALIZATIONS,
    QUERIES,
    REVISIONS,
    UNITS,
    VERIFICATIONS,
    VERIFIED_BY,
    WIKITEXT_PATHS,
)

F = TypeVar("F", bound=Callable[..., Any])
Bundle = Callable[[F], F]


def _bundle(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_CREDENTIALS = {"es_api_key", "es_username", "es_password", "es_ca_certs", "es_ca_fingerprint", "es_cloud_id"}
_BANDED = {"bands", "rows"}
_POOLED = {"hashes", "draw", "draws"}


def _read_defaults(context: click.Context, layer: str, label: str, text: str) -> None:
    """Fill the command's defaults from TOML; keys are option names with - or _. `layer`: `preset` or `config`."""
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{label}: {error}; write one option a line, as in jaccard = 0.9") from error
    everywhere = _all_option_names(context)
    named = {key.replace("-", "_"): value for key, value in values.items()}
    if layer == "config":
        for name in _CREDENTIALS & named.keys():  # the environment wins
            os.environ.setdefault(name.upper(), str(named.pop(name)))
    for name in named:
        if name not in everywhere:
            raise UsageError(f"{label}: no option is called {name}; esdedup COMMAND --help lists them")
    # the two may come in any order on the command line; the config file wins over the preset
    layers = context.meta.setdefault("esdedup.defaults", {"preset": {}, "config": {}})
    layers[layer] = named
    preset, config = layers["preset"], layers["config"]
    if _BANDED & config.keys():
        preset = {name: value for name, value in preset.items() if name not in _POOLED}
    flags = {option.name: getattr(option, "is_flag", False) for option in context.command.params}
    context.default_map = {
        name: value if flags[name] and isinstance(value, bool) else str(value)
        for name, value in (preset | config).items()
        if name in flags
    }


def _unless_other_scheme(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    """Flags for one scheme, bands or a pool of hashes, win over the other from a preset or config file."""
    name = parameter.name or ""
    from_file = context.get_parameter_source(name) == ParameterSource.DEFAULT_MAP
    others = _POOLED if name in _BANDED else _BANDED
    flagged = any(context.get_parameter_source(other) == ParameterSource.COMMANDLINE for other in others)
    return None if from_file and flagged else value


def _unless_other_candidates(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Flags that say which pairs are looked at, and how they are verified, win over what a preset or config file says
    for others."""
    source = context.get_parameter_source
    if source(parameter.name or "") != ParameterSource.DEFAULT_MAP:
        return value
    # flags are read before files
    flags = {name for name in ("candidates", "exact", "verify") if source(name) == ParameterSource.COMMANDLINE}
    chosen = "exact" if "exact" in flags else context.params["candidates"] if "candidates" in flags else None
    verify = context.params["verify"] if "verify" in flags else None
    if parameter.name == "candidates":
        return None if "exact" in flags else value
    if parameter.name == "verify":
        by = ("exact",) if chosen == "exact" else VERIFICATIONS
        return value if value in by and chosen in (None, *VERIFIED_BY.get(str(value), CANDIDATES)) else None
    if parameter.name == "cosine" and verify not in (None, "cosine"):
        return None
    heeding = VERIFIED_BY["cosine"] if parameter.name == "cosine" else HEEDED_BY[parameter.name or ""]
    return value if chosen in (None, *heeding) else None


def _all_option_names(context: click.Context) -> set[str]:
    from esdedup.cli import cli

    return _option_names(cli, context)


def _option_names(command: click.Command | None, context: click.Context) -> set[str]:
    """The options of a command, or of all commands of a group."""
    names = {parameter.name for parameter in command.params if parameter.name} if command else set()
    if isinstance(command, click.Group):
        inner = (_option_names(command.get_command(context, name), context) for name in command.list_commands(context))
        return names.union(*inner)
    return names


def presets() -> list[str]:
    """The names of the presets that come with the package."""
    folder = resources.files("esdedup") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _use_preset(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        entry = resources.files("esdedup") / "presets" / f"{value}.toml"
        if not entry.is_file():
            raise UsageError(f"--preset {value}: allowed: {', '.join(presets())}")
        _read_defaults(context, "preset", f"preset {value}", entry.read_text("utf-8"))
    return value


def _use_config(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None:
        try:
            text = value.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--config {value}: {error}; name a TOML file") from error
        _read_defaults(context, "config", str(value), text)
    return value


def _numbers(context: click.Context, _: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(part) for part in str(value).split(","))
    except ValueError:
        raise UsageError(f"--namespaces {value}: allowed: numbers separated by commas, as in 0,14") from None


def _configure_log(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("esdedup: %(message)s"))
    logger = logging.getLogger("esdedup")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.ERROR if value else logging.INFO)
    return value


defaults_options = _bundle(
    click.option("--preset", metavar="NAME", is_eager=True, expose_value=False, callback=_use_preset,
                 help="Options of a published system: " + ", ".join(presets()) + "."),
)  # fmt: skip

talk_options = _bundle(
    click.option("--config", metavar="FILE.toml", type=click.Path(path_type=Path), expose_value=False,
                 is_eager=True, callback=_use_config,
                 help="Options from a file, also es-api-key and the like; flags win over it."),
    click.option("--quiet", is_flag=True, callback=_configure_log, help="Errors only."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show where an error comes from."),
)  # fmt: skip

sources_argument = click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")

fresh_option = click.option("--fresh", is_flag=True, help="Begin again with an empty store.")

generations_option = click.option(
    "--keep-generations", type=int, default=0, metavar="N", help="With --fresh, on a server: keep N older generations."
)

ADDRESSES = "PATH.duckdb, http(s)://HOST:PORT/PREFIX or cloud:/PREFIX"

store_option = click.option(
    "--store", metavar="ADDRESS", envvar="ESDEDUP_STORE", required=True, help=f"{ADDRESSES}; or set ESDEDUP_STORE."
)

source_options = _bundle(
    click.option("--format", type=click.Choice(FORMATS), help="Format of the sources; else by their names."),
    click.option("--separator", metavar="CHAR", help="What parts the columns of a line (TSV: tab, CSV: comma)."),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
    click.option("--id-column", metavar="COLUMN", help="Name, dotted path or number from 1; or line."),
    click.option("--title-column", metavar="COLUMN", help="Likewise."),
    click.option("--text-column", metavar="COLUMN", help="Likewise; several of a TSV or CSV parted by commas."),
    click.option(
        "--contributors/--no-contributors", default=None, help="Keep who wrote what.  [default: contributors]"
    ),
    click.option("--namespaces", metavar="N,N…", callback=_numbers, help="Namespaces of a wiki to read.  [default: 0]"),
    click.option("--revisions", type=click.Choice(REVISIONS),
                 help="With all, a sentence is kept once a page, with its first and last revision."
                 "  [default: latest]"),
    click.option("--wikitext", type=click.Choice(WIKITEXT_PATHS), help="How markup is removed.  [default: fast]"),
    click.option("--source-name", metavar="NAME", help="The source's name; document ids become NAME/ID."),
    click.option("--limit", type=int, metavar="N", help="Read only the first N documents of each source."),
    click.option("--keep-going", is_flag=True, help="Go on after a damaged source; exit 1 at the end."),
)  # fmt: skip

part_option = click.option(
    "--part", metavar="I/N", help="Load one of N parts, on several machines: by page id, or line, modulo N."
)

signing_options = _bundle(
    click.option("--unit", type=click.Choice(UNITS), help="What is compared.  [default: sentence]"),
    click.option("--lang", metavar="CODE", help="Language, for splitting and stemming.  [default: en]"),
    click.option("--min-chars", type=int, metavar="N", help="Shorter units are left out.  [default: 75]"),
    click.option("--max-chars", type=int, metavar="N", help="Longer units are left out.  [default: 600]"),
    click.option("--normalize", type=click.Choice(NORMALIZATIONS), help="What shingles are made of.  [default: none]"),
    click.option("--shingle", metavar="KIND:N", help="char:N or word:N.  [default: char:12]"),
    click.option(
        "--bands", type=int, metavar="N", callback=_unless_other_scheme, help="Tokens of a sentence.  [default: 10]"
    ),
    click.option(
        "--rows", type=int, metavar="N", callback=_unless_other_scheme, help="Minhash values of a token.  [default: 4]"
    ),
    click.option(
        "--hashes",
        type=int,
        metavar="N",
        callback=_unless_other_scheme,
        help="Instead of bands: draws from a pool of N values,",
    ),
    click.option("--draw", type=int, metavar="N", callback=_unless_other_scheme, help="N values at a time,"),
    click.option("--draws", type=int, metavar="N", callback=_unless_other_scheme, help="N times."),
    click.option("--hash-bits", type=int, metavar="N", help="Bits of a minhash value.  [default: 60]"),
    click.option("--seed", type=int, metavar="N", help="Of the hash functions.  [default: 1123456]"),
)

_choosing = partial(click.option, callback=_unless_other_candidates)

scan_options = _bundle(
    click.option("--jaccard", type=float, metavar="S", help="Least similarity of a pair.  [default: 0.8]"),
    click.option("--word-edit-distance", type=int, metavar="N", help="And at most N words of difference."),
    click.option("--linkage", type=click.Choice(LINKAGES), help="What makes a cluster.  [default: single]"),
    _choosing(
        "--verify",
        type=click.Choice(VERIFICATIONS),
        help="By Jaccard, or by the cosine of sentence vectors; none: every candidate is a pair.  [default: exact]",
    ),
    click.option("--across", type=click.Choice(ACROSS), help="Pairs only between these.  [default: any]"),
    click.option("--ignore", metavar="FILE", help="Texts or cluster ids that are known and wanted, a line each."),
    _choosing("--candidates", type=click.Choice(CANDIDATES), help="Which pairs are looked at.  [default: tokens]"),
    click.option(
        "--exact", is_flag=True, default=None, help="Every pair at or above --jaccard: short for --candidates exact."
    ),
    _choosing(
        "--signature", type=int, metavar="N", help="agreement, queries: minhash values of a text.  [default: 200, 20]"
    ),
    _choosing(
        "--agreement",
        type=float,
        metavar="S",
        help="agreement: pairs agree on more than this share of them.  [default: 0.5]",
    ),
    _choosing("--vectors", metavar="FILE", help="projection: word vectors (word2vec); else drawn from the seed."),
    _choosing("--vector-length", type=int, metavar="N", help="projection: numbers of a drawn one.  [default: 400]"),
    _choosing("--signature-bits", type=int, metavar="N", help="projection: hyperplanes.  [default: 100]"),
    _choosing("--permutations", type=int, metavar="N", help="projection: orders of the bits.  [default: 10]"),
    _choosing("--window", type=int, metavar="N", help="projection: neighbours in an order.  [default: 10]"),
    _choosing("--hamming", type=int, metavar="N", help="projection: bits that may differ.  [default: 5]"),
    _choosing("--cosine", type=float, metavar="S", help="Least similarity with --verify cosine.  [default: 0.9]"),
    _choosing("--query-by", type=click.Choice(QUERIES), help="queries: terms of a query.  [default: shingles]"),
    _choosing("--same-first-word/--any-first-word", default=None, help="queries: only among such.  [default: any]"),
    _choosing("--top", type=int, metavar="N", help="queries: matches of each that are looked at.  [default: 10]"),
    _choosing("--reciprocal/--one-sided", default=None, help="queries: only each other's best.  [default: any]"),
)

kinds_option = click.option(
    "--kinds/--no-kinds", default=None, help="Whether to say what each cluster means.  [default: kinds]"
)

resource_options = _bundle(
    click.option("--workers", type=int, metavar="N", help="Processes.  [default: one a core]"),
    click.option("--memory", metavar="SIZE", help="What all processes together may use.  [default: 1GiB]"),
)

table_option = click.option(
    "--table", type=click.Choice(["jsonl", "parquet"]), default="jsonl", help="Form of pairs and clusters."
)
report_option = click.option(
    "--report/--no-report", default=True, show_default=True, help="Whether to write report.html."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
