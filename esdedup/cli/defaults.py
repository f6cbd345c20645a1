"""Presets and config files: defaults for options that are not typed.

Typed options override a config file, which overrides a preset. A typed choice also disables what a file sets for other
choices: `--preset weissman --bands 5` selects bands, not the preset's draws.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import rich_click as click
from click.core import ParameterSource

from esdedup.cli.layout import Context, Declared
from esdedup.cli.wrong_usage import refuse_stray_store
from esdedup.errors import UsageError
from esdedup.jobs.presets import options_in, preset_text, still_meant, without_alternatives

log = logging.getLogger("esdedup")

_ONE_SOURCE = "esdedup.one_source"
"""Where a context keeps what its preset says of a single source, and the name of the preset."""

_CREDENTIALS = {"es_api_key", "es_username", "es_password", "es_ca_certs", "es_ca_fingerprint", "es_cloud_id"}


def use_preset(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Fill the command's defaults from a preset."""
    if value is not None:
        _read_defaults(context, "preset", f"preset {value}", preset_text(value))
    return value


def use_config(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Fill the command's defaults from a config file, and the environment from the credentials in it."""
    if value is not None:
        try:
            text = value.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--config {value}: {error}; use a TOML file") from error
        _read_defaults(context, "config", str(value), text)
    return value


def _read_defaults(context: click.Context, layer: str, label: str, text: str) -> None:
    """Fill the command's defaults from TOML. Keys are option names with - or _. `layer`: `preset` or `config`."""
    try:
        named, of_one = options_in(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{label}: {error}; write one option a line, as in jaccard = 0.9") from error
    if layer == "preset":
        context.meta[_ONE_SOURCE] = (label, of_one)
    if layer == "config":
        for name in _CREDENTIALS & named.keys():  # the environment takes precedence
            os.environ.setdefault(name.upper(), str(named.pop(name)))
    everywhere = _option_names(context.find_root().command, context)
    for name in named:
        if name not in everywhere:
            raise UsageError(f"{label}: there is no option {name}; see esdedup COMMAND --help")
    # the two may be in any order on the command line; the config file overrides the preset
    layers = context.meta.setdefault("esdedup.defaults", {"preset": {}, "config": {}})
    layers[layer] = named
    preset = without_alternatives(layers["preset"], layers["config"])
    flags = {option.name: getattr(option, "is_flag", False) for option in context.command.params}
    context.default_map = {
        name: value if flags[name] and isinstance(value, bool) else str(value)
        for name, value in (preset | layers["config"]).items()
        if name in flags
    }


def _option_names(command: click.Command | None, context: click.Context) -> set[str]:
    """Return the options of a command, or of all commands of a group."""
    names = {parameter.name for parameter in command.params if parameter.name} if command else set()
    if isinstance(command, click.Group):
        inner = (_option_names(command.get_command(context, name), context) for name in command.list_commands(context))
        return names.union(*inner)
    return names


class Command(click.RichCommand):
    """A command whose typed options disable what presets and config files set for other choices. Its usage line shows
    the required options.
    """

    context_class = Context

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words of the usage line after the command."""
        required = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and each.required]
        shown = [f"{max(each.opts, key=len)} {each.make_metavar(ctx)}" for each in required]
        return [*super().collect_usage_pieces(ctx), *shown]

    def _refuse_mistyped(self, ctx: click.Context, given: list[str]) -> None:
        """Raise `UsageError` for an option whose value is the next option, and for one that is given more than once, if
        only its last value would count.
        """
        values, _, order = self.make_parser(ctx).parse_args(list(given))
        options = [each for each in self.params if isinstance(each, click.Option)]
        flags = {flag for each in options for flag in (*each.opts, *each.secondary_opts)} & {*given}
        for parameter in order:
            if not isinstance(parameter, click.Option):
                continue
            value = values[parameter.name or ""]
            if isinstance(value, str) and value in flags:
                raise UsageError(f"{parameter.opts[-1]} needs a value before {value}")
            single = not (parameter.multiple or parameter.count or parameter.is_flag)
            if single and order.count(parameter) > 1:
                raise UsageError(f"{parameter.opts[-1]} is given more than once; give it once")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, then remove the file options that do not go with them."""
        given = list(args)
        chosen = {word.rpartition("=")[2] for word in given}
        for option in self.params:
            if isinstance(option, Declared) and option.owners:
                option.hidden = not option.owners & chosen
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            extra = str(error.message).startswith("Got unexpected extra argument")
            if extra or (isinstance(error, click.MissingParameter) and error.param and error.param.name == "store"):
                _, stray, _ = self.make_parser(ctx).parse_args(given)
                refuse_stray_store(ctx, stray)
            raise
        self._refuse_mistyped(ctx, given)
        sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
        typed = {name: ctx.params[name] for name, source in sources.items() if source == ParameterSource.COMMANDLINE}
        from_files = {
            name: ctx.params[name]
            for name, source in sources.items()
            if source == ParameterSource.DEFAULT_MAP and ctx.params[name] is not None
        }
        for name in from_files.keys() - still_meant(from_files, typed).keys():
            ctx.params[name] = None
        label, of_one = ctx.meta.get(_ONE_SOURCE, ("", {}))
        changed = {name: value for name, value in of_one.items() if ctx.params.get(name) and name in from_files}
        joins = any(each.name == "store" and each.required for each in self.params)  # what a store has already
        if changed and len(ctx.params.get("sources", ())) == 1 and not joins:
            ctx.params |= changed
            flags = {each.name: each for each in self.params}
            log.warning(
                "%s, one source: %s", label, " ".join(_typed(flags[name], value) for name, value in changed.items())
            )
        return rest


def _typed(option: click.Parameter, value: Any) -> str:
    """Return an option as it is typed."""
    if isinstance(value, bool):
        return option.opts[0] if value else option.secondary_opts[0]
    return f"{option.opts[0]} {value}"
