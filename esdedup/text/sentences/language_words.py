"""The words of each language that decide where sentences end, from languages.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esdedup.columns.kernels import constant
from esdedup.text.words import hash_table, key_of

NEVER, SOMETIMES, FINAL, BEFORE_NUMBERS, STARTERS, FOLLOWERS = (constant(1 << bit) for bit in range(6))
"""The lists that a word may be in; see the head of languages.toml."""

_LISTS = {
    "never": NEVER,
    "sometimes": SOMETIMES,
    "final": FINAL,
    "before_numbers": BEFORE_NUMBERS,
    "starters": STARTERS,
    "after_numbers": FOLLOWERS,
}

ORDINALS, SEMICOLON_ASKS, COLON_ENDS, STOP_IS_COMMA = (constant(1 << bit) for bit in range(4))
"""Properties of a language; see there, too."""

_PROPERTIES = ("ordinals", "semicolon_asks", "colon_ends", "stop_is_comma")
_KIND = 32  # a key starts from the number of its language, above the bits of any character


class Words(NamedTuple):
    """Words of all languages: `numbers` of languages by code, the arrays that `words.find` searches, and, by
    number of a language, where its keys start from and its properties.
    """

    numbers: dict[str, int]
    keys: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.int64]
    properties: npt.NDArray[np.int64]

    def number(self, lang: str) -> int:
        """Return the number of a language; of one that is not listed (`de-AT`), that of its base, or else of none."""
        return self.numbers.get(lang) or self.numbers.get(lang.lower().split("-")[0], 0)


@cache
def words() -> Words:
    """Return the words of all languages."""
    with Path(__file__).with_name("languages.toml").open("rb") as file:
        listed: dict[str, dict[str, Any]] = tomllib.load(file)
    common = listed.pop("common")
    numbers: dict[str, int] = {}
    entries: dict[int, int] = {}
    properties: list[int] = []
    for number, (lang, own) in enumerate([("", {}), *listed.items()]):
        numbers[lang] = number
        properties.append(sum(1 << bit for bit, name in enumerate(_PROPERTIES) if own.get(name)))
        for name, bit in _LISTS.items():
            for word in f"{common.get(name, '')} {own.get(name, '')}".lower().split():
                key = key_of((number + 1) << _KIND, word)
                entries[key] = entries.get(key, 0) | int(bit)
        for word in own.get("free", "").split():
            entries.pop(key_of((number + 1) << _KIND, word), None)
    keys, values = hash_table(entries)
    seeds = np.array([(number + 1) << _KIND for number in range(len(numbers))], np.int64)
    return Words(numbers, keys, values, seeds, np.array(properties, np.int64))
