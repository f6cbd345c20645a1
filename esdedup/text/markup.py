"""Markup that texts may be in, and the cleaner that removes each."""

from __future__ import annotations

from esdedup.options import Implementations
from esdedup.text.wikitext.cleaning import CLEANERS, Cleaner

MARKUPS: Implementations[Cleaner] = Implementations(
    "markup",
    {"wikitext": "esdedup.text.wikitext.fast:FastCleaner", "html": "esdedup.text.html.html_cleaner:HtmlCleaner"},
)


def cleaner_named(name: str) -> type[Cleaner]:
    """Return what removes a markup, by its own name or that of a cleaner of wikitext."""
    return (MARKUPS if name in MARKUPS.names else CLEANERS)[name]
