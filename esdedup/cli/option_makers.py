"""Options of the command line, made of declarations (`esdedup.options`), and what shells complete after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from esdedup.cli.layout import Declared, choices_shown
from esdedup.options import Option, Registry

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def complete_files(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell complete names of files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type="file")]


def complete_names(names: Iterable[str]) -> Completion:
    """Offer these names."""

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names if name.startswith(typed)]

    return complete


F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

_TYPES: dict[type, Any] = {int: click.INT, float: click.FLOAT}


class AnyPath(click.Path):
    """A path, or the address of a file on a server."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of an address; another one as usual."""
        if "://" not in str(value):
            return super().convert(value, param, ctx)
        from esdedup.formats.remote.remote_path import path_of

        return path_of(value)


def bundle(*options: Decorator) -> Callable[[F], F]:
    """Combine options into one decorator, in their order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def one_option(option: Option, panel: str, default: str | None = None, owners: Iterable[str] = ()) -> Decorator:
    """Make an option of the command line. Its value is None unless it is typed; `default` is shown in the help, and the
    option of `owners` where one is chosen.
    """
    usual = option.usual or _worded(option) if default is None else default
    metavar, help_text = option.unit or None, option.help
    if option.choices:
        metavar, help_text = choices_shown(option.choices, help_text, option.unit)
    help_text += f"  [default: {usual}]" if usual else ""
    if option.type is bool:
        flags = f"--{option.flag}/--{option.off or f'no-{option.flag}'}"
        return click.option(flags, option.name, cls=Declared, owners=owners, default=None, help=help_text, panel=panel)
    of_text = option.parse is not None
    kind = click.Choice(option.choices) if option.choices else _TYPES.get(option.type) if not of_text else None
    return click.option(
        f"--{option.flag}", option.name, type=kind, metavar=metavar, default=None, callback=_parsed(option),
        help=help_text, panel=panel, shell_complete=complete_files if option.unit == "FILE" else None, cls=Declared,
        owners=owners,
    )  # fmt: skip


def _worded(option: Option) -> str:
    if option.type is bool and not option.optional:
        return option.flag if option.default else option.off or f"no-{option.flag}"
    return "" if option.default is None else str(option.default)


def _parsed(option: Option) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def parse(_: click.Context, __: click.Parameter, value: Any) -> Any:
        return value if option.parse is None or value is None else option.parse(value)

    return parse


def choice_options(registry: Registry[Any], help_text: str, panel: str, *, chosen: bool = True) -> list[Decorator]:
    """Make the option that selects an implementation, and the options of all implementations, with a panel for each
    set. Those of the default one are always in the help.
    """
    names = ", ".join(f"{each.name} ({each.summary})" for each in registry)
    metavar, help_text = choices_shown(registry.names, f"{help_text}: {names}.")
    found: list[Decorator] = []
    if any(each.declared() for each in list(registry)[1:]):
        help_text += f" For the options of one, see --{registry.option} NAME --help."
    if chosen:
        found.append(
            click.option(
                f"--{registry.option}", type=click.Choice(registry.names), default=None, panel=panel, metavar=metavar,
                help=f"{help_text}  [default: {registry.names[0]}]",
            )
        )  # fmt: skip
    for owners in registry.declared().values():
        titles = " or ".join(name for name, _ in owners)
        single = len(registry.names) == 1
        defaults = {_worded(option) for _, option in owners}
        default = None if len(defaults) == 1 else ", ".join(f"{_worded(option)} with {name}" for name, option in owners)
        usual = registry.names[0] in (name for name, _ in owners)
        of = () if usual else (name for name, _ in owners)
        found.append(one_option(owners[0][1], panel if single else f"With --{registry.option} {titles}", default, of))
    return found
