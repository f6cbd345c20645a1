"""The message for a command line that cannot be parsed: what is wrong, and what to write instead."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import click

from esdedup.files import as_word
from esdedup.options import NAMES_ELSEWHERE

_EXAMPLES = {"store": "--store found/store.duckdb, or set ESDEDUP_STORE", "out": "--out found"}
_ALMOST = 0.1
"""How much less similar than the best suggestion a second one may be."""

_WORDS = [
    (r"is not a valid integer( range)?", "is not a whole number"),
    (r"is not a valid float( range)?", "is not a number"),
    (r"is not in the range x>=([\d.]+\d|\d)", r"is out of range; allowed: \1 or more"),
    (r"is not in the range ([\d.]+)<=x<=([\d.]*\d)", r"is out of range; allowed: \1 to \2"),
]


def usage_message(error: click.ClickException) -> str:
    """Return one line for a usage error, with the command whose help to read."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{_text(error).rstrip('.')} (see {context.command_path if context else 'esdedup'} --help)"


def _text(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        meant = NAMES_ELSEWHERE.get(error.option_name.lstrip("-").replace("-", "_"), "").replace("_", "-")
        known = error.ctx is not None and any(f"--{meant}" in each.opts for each in error.ctx.command.params)
        return error.message + _suggestions(error.option_name, [f"--{meant}"] if known else error.possibilities)
    if isinstance(error, click.NoSuchCommand):
        possible = ["--help"] if error.command_name == "help" else error.possibilities
        return error.message + _suggestions(error.command_name, possible)
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _EXAMPLES:
        return f"Missing option '--{error.param.name}'; for example {_EXAMPLES[error.param.name]}"
    text = error.format_message()
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


def _suggestions(typed: str, possible: list[str] | None) -> str:
    """Suggest the most similar name, and a second one if it is almost as similar."""
    if not possible:
        return ""
    likeness = {name: SequenceMatcher(None, typed, name).ratio() for name in possible}
    best, *others = sorted(possible, key=lambda name: -likeness[name])
    close = [best, *(name for name in others[:1] if likeness[name] > likeness[best] - _ALMOST)]
    return f" Did you mean {' or '.join(map(repr, close))}?"


def refuse_stray_store(context: click.Context, stray: list[str]) -> None:
    """Raise an error that says to write --store before an argument that the command does not have."""
    if stray and any(parameter.name == "store" for parameter in context.command.params):
        raise click.UsageError(
            f"Unexpected argument {stray[0]!r}; if it is the store, write --store {as_word(stray[0])}", context
        )
