"""Names that are short or pet forms of the same given name."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]


@cache
def _groups() -> dict[str, frozenset[int]]:
    """Return the groups of each name: Alex is short for two."""
    text = (resources.files("esdedup") / "matching" / "records" / "nicknames.toml").read_text("utf-8")
    found: dict[str, set[int]] = {}
    for number, line in enumerate(tomllib.loads(text)["names"]):
        for name in line.split():
            found.setdefault(name, set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}


def nicknamed(one: Sequence[str], two: Sequence[str]) -> Flags:
    """Return which pairs of different names are the same but for a nickname, in any one word."""
    groups = _groups()
    found = np.zeros(len(one), np.bool_)
    known = {name for name in {*one, *two} if not groups.keys().isdisjoint(name.split())}
    if not known:
        return found
    for place, (a, b) in enumerate(zip(one, two, strict=True)):
        if a not in known or b not in known:
            continue
        first, second = a.split(), b.split()
        if len(first) == len(second):
            differing = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
            found[place] = len(differing) == 1 and not groups.get(differing[0][0], _NONE).isdisjoint(
                groups.get(differing[0][1], _NONE)
            )
    return found


_NONE: frozenset[int] = frozenset()
