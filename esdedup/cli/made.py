"""Commands made of verbs: the parameters of a verb become options, and its docstring their help.

A verb is a Python function; its signature says what the options are called, which values they take and what they are
without. `SHOWN` says what Python has no words for: placeholders, panels, ranges. What a command adds of its own are
parameters of the function below `@command`, which prints the answer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.layout import choices_shown
from esdedup.cli.option_makers import AnyPath, Decorator, bundle, complete_files
from esdedup.cli.shared_options import (
    OUTPUT,
    READING,
    STORE,
    defaults_options,
    json_option,
    resource_options,
    store_option,
    talk_options,
)


class Shown(NamedTuple):
    """What the help shows of a parameter beyond its type, default and docstring."""

    unit: str | None = None
    panel: str | None = None
    range: click.FloatRange | click.IntRange | None = None
    help: str = ""


_SHARE = click.FloatRange(0, 1, min_open=True)
_COUNT = click.IntRange(min=0)

SHOWN = {
    "after": Shown("CLUSTER"),
    "against_text_column": Shown("COLUMN"),
    "certificate": Shown("FILE", OUTPUT),
    "complete": Shown(None, STORE),
    "contained": Shown("S", None, _SHARE),
    "containing": Shown("S", None, _SHARE),
    "cores": Shown("M"),
    "document": Shown("ID"),
    "documents": Shown("ID…"),
    "fresh": Shown(None, STORE),
    "golden": Shown("FILE"),
    "jaccard": Shown("S"),
    "merge": Shown("COLUMN=RULE,…"),
    "keep_generations": Shown("N", STORE),
    "keep_going": Shown(None, READING),
    "kind": Shown("KIND"),
    "lang": Shown("CODE"),
    "limit": Shown("N", None, _COUNT),
    "lookup": Shown(None, STORE),
    "matches": Shown("N", OUTPUT, _COUNT),
    "min_similarity": Shown("S", None, click.FloatRange(0, 1)),
    "min_size": Shown("N", None, click.IntRange(min=1)),
    "min_subjects": Shown("N", None, click.IntRange(min=2)),
    "out": Shown("DIR", OUTPUT),
    "recall": Shown("S"),
    "repair": Shown(None, STORE),
    "report": Shown(None, OUTPUT),
    "sample": Shown("N"),
    "schemes": Shown("LIST"),
    "sentences": Shown("N"),
    "since": Shown("DIR"),
    "sort": Shown("ORDER"),
    "source": Shown("NAME"),
    "sources": Shown("SOURCE…"),
    "table": Shown(None, OUTPUT),
    "tokens": Shown("N"),
    "truth": Shown("exact|FILE"),
}

ONLY_PYTHON = {"columns", "quiet", "options"}
"""Parameters that no command has, or every command."""

_TYPES: dict[type, Any] = {int: click.INT, float: click.FLOAT, str: None, Path: AnyPath(path_type=Path)}


def command(
    verb: Callable[..., Any],
    *own: Decorator,
    panel: str | None = None,
    groups: Sequence[Decorator] | None = None,
    as_json: bool = True,
    store: Decorator = store_option,
    hidden: Sequence[str] = (),
    without: Sequence[str] = (),
    shown: Mapping[str, Shown] = MappingProxyType({}),
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a verb; the decorated function calls it with the options, and prints the answer.

    Args:
        verb: A function of `esdedup`.
        own: Options of the command alone; one with the name of a parameter takes its place.
        panel: Where the help shows parameters that `SHOWN` gives no panel.
        groups: Groups of declared options. Default: those of the verb's `**options`.
        as_json: Whether there is an option `--json`.
        store: The option for a store that must be there.
        hidden: Options that do not apply, and are not shown: who gives one is told so.
        without: Parameters that are no options.
        shown: What takes the place of `SHOWN`, and of the docstring, in this command.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        told = said_of(verb)[1]
        parameters = inspect.signature(verb).parameters.values()
        names = {each.name for each in parameters}
        function.__doc__ = "\n\n".join(filter(None, [about(verb), inspect.cleandoc(function.__doc__ or "")]))
        mine = {_name_of(each): each for each in own}
        options = []
        for each in parameters:
            about_it = shown.get(each.name) or SHOWN.get(each.name, Shown())
            if each.name in mine:
                options.append(mine.pop(each.name))
            elif each.name == "store" and each.default is Parameter.empty:
                options.append(store)
            elif each.kind is not Parameter.KEYWORD_ONLY and each.kind is not Parameter.VAR_KEYWORD:
                options.append(_argument(each, about_it.unit))
            elif each.name not in {*ONLY_PYTHON, *without}:
                about_it = about_it._replace(
                    panel=about_it.panel or panel, help=about_it.help or _typed(told[each.name], names)
                )
                options.append(_option(each, verb, about_it))
        named = [str(each.annotation) for each in parameters if each.kind is Parameter.VAR_KEYWORD]
        held = _declared(*named) if groups is None else groups
        # what reads or compares can be set by a preset
        presets = (defaults_options,) if groups is None and len(held) > 1 else ()
        printed = (json_option,) if as_json else ()
        made = click.command(cls=Command)(
            bundle(*options, *mine.values(), *printed, *held, *presets, talk_options)(function)
        )
        for option in made.params:
            if isinstance(option, click.Option) and option.name in hidden:
                option.hidden = True
        return made

    return decorate


def _declared(annotation: str = "") -> Sequence[Decorator]:
    """Return the groups of options in a verb's `**options`."""
    if annotation in ("", "Unpack[ResourceOptions]"):
        return (resource_options,) if annotation else ()
    from esdedup.cli.declared import GROUPS  # which take long to load

    return GROUPS[annotation.removeprefix("Unpack[").removesuffix("]")]


def _name_of(option: Decorator) -> str | None:
    made: click.Command = click.command()(option(lambda: None))
    return made.params[0].name


def about(verb: Callable[..., Any]) -> str:
    """Return what the help of a command says of its verb."""
    return _typed(said_of(verb)[0], set(inspect.signature(verb).parameters))


@cache
def said_of(verb: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of a verb, and of each of its parameters, in one line."""
    begin, _, rest = inspect.cleandoc(verb.__doc__ or "").partition("\nArgs:\n")
    told: dict[str, str] = {}
    name = ""
    for line in rest.partition("\n\n")[0].splitlines():
        if begun := re.fullmatch(r" {4}\*{0,2}(\w+): (.*)", line):
            name = begun[1]
            told[name] = begun[2]
        else:
            told[name] += " " + line.strip()
    return begin.strip(), told


def _typed(words: str, names: set[str]) -> str:
    """Return words of a docstring as the command line says them: parameters are options, defaults stand in brackets."""

    def flag(found: re.Match[str]) -> str:
        name, _, value = found[1].replace('"', "").partition("=")
        value = f" {value}" if value and value != "True" else ""
        return f"--{name.replace('_', '-')}{value}" if name in names or value else found[1]

    words = re.sub(r"`([\w=\"/]+)`", flag, words).replace("`", "")
    return re.sub(r" Default: (.+)\.$", r"  [default: \1]", words)


def _argument(parameter: Parameter, unit: str | None) -> Decorator:
    several = parameter.kind is Parameter.VAR_POSITIONAL
    return click.argument(
        parameter.name, nargs=-1 if several else 1, required=True, metavar=unit, shell_complete=complete_files
    )


def _option(parameter: Parameter, verb: Callable[..., Any], shown: Shown) -> Decorator:
    name, default = parameter.name, parameter.default
    kind, optional = _kind(parameter, verb)
    required = default is Parameter.empty
    flag, unit, help_text, panel = f"--{name.replace('_', '-')}", shown.unit, shown.help, shown.panel
    if kind is bool:
        flag = f"{flag}/--no-{flag[2:]}" if default else flag
        return click.option(
            flag, name, default=default, is_flag=True, help=help_text, panel=panel, show_default=default
        )
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if choices:
        unit, help_text = choices_shown(choices, help_text, unit or "")
    return click.option(
        *(["-o"] if name == "out" else []), flag, name, required=required,
        **({} if required or default is None else {"default": default}),
        type=click.Choice(choices) if choices else shown.range or _TYPES[kind], metavar=unit, help=help_text,
        show_default=not required and not optional, panel=panel,
        shell_complete=complete_files if kind is Path else None,
    )  # fmt: skip


def _kind(parameter: Parameter, verb: Callable[..., Any]) -> tuple[Any, bool]:
    """Return the type of a parameter's values, and whether it may be None."""
    kinds = eval(parameter.annotation.replace(" | Store", ""), verb.__globals__)  # an annotation of ours
    parts = [kinds] if get_origin(kinds) is Literal else [*get_args(kinds)] or [kinds]
    some = [part for part in parts if part is not NoneType]
    return (Path if Path in some else some[0]), len(some) < len(parts)
