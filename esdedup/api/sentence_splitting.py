"""Texts into sentences."""

from __future__ import annotations

import re


def split(text: str, lang: str = "auto") -> list[str]:
    """Split a text into its sentences: all of them, in order, before any bound on their length.

    An empty line ends a sentence; a single line break counts as a space. White space is collapsed. Apart from white
    space, the sentences joined are the text.

    Args:
        text: The text.
        lang: Its language, as an ISO 639 code. `auto` finds it by the letters of the text.

    Returns:
        The sentences, without white space around them.

    Raises:
        UsageError: `text` is not a string, or `lang` is neither a code nor `auto`.

    Example:
        >>> esdedup.split("Dr. Smith came. It rained.")
        ['Dr. Smith came.', 'It rained.']
    """
    from esdedup.errors import UsageError
    from esdedup.text.segment import split as split_units
    from esdedup.text.splitting import AUTO, CODE, Splitting

    if not isinstance(text, str):
        raise UsageError(f"split takes a text, not {type(text).__name__}")
    if not (isinstance(lang, str) and re.fullmatch(f"{AUTO}|{CODE}", lang)):
        raise UsageError(f"lang is {lang!r}; allowed: a code such as en or de, or auto")
    pieces = (" ".join(piece.split()) for piece in split_units(text, Splitting("sentence", lang)))
    return [piece for piece in pieces if piece]
