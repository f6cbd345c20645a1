"""The text files of the grammar."""

from __future__ import annotations

import re
from importlib.resources import files


def word_lists(name: str) -> dict[str, list[str]]:
    """Return the lists of a file: names, each with a colon and its words, separated by commas."""
    parted = (line.partition(": ") for line in _lines(name))
    return {key: words.split(", ") for key, _, words in parted}


def sections(name: str) -> dict[str, list[str]]:
    """Return the lines of a file, below each heading in brackets."""
    found: dict[str, list[str]] = {}
    for line in _lines(name):
        if line[0] == "[":
            below = found[line[1:-1]] = []
        else:
            below.append(line)
    return found


def _lines(name: str) -> list[str]:
    """Return the lines of a file, without comments. Indented lines are part of the one before."""
    text = re.sub(r"\n +", " ", (files("scripts.wiki.english") / name).read_text("utf-8"))
    return [line for line in text.splitlines() if line and line[0] != "#"]
