"""The least damaged text: one number a text, the sum of its terms times weights that were fitted on planted damage."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.keeping.agreement import agreement_of, medians
from esdedup.keeping.damage import signs_of
from esdedup.keeping.protocol import TextPolicy
from esdedup.text.language import other_languages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from esdedup.columns.arrays import Numbers
    from esdedup.keeping.protocol import Keys

_DIGITS = 6
_SHORTEST = 20
"""Characters: the signs of shorter texts count as if they had so many."""
_SHARES = 4.0  # a term grows with the logarithm of a count, which is about so large where a share is 1
_FOREIGN_LETTERS = 4.0
_FOREIGN_PERCENT = 5.0


class Clean(TextPolicy):
    """The text with the least damage, as far as it can be counted, and the most of what its copies agree on."""

    name = "clean"
    summary = "the least damaged text"

    @property
    def measure(self) -> str:
        return "damage"

    def text_keys(self, texts: pa.LargeStringArray, groups: Numbers) -> Keys:
        _, number, size = np.unique(groups, return_inverse=True, return_counts=True)
        among = np.flatnonzero(size[number] > 1)  # the others have nothing to lose against
        found = np.zeros(len(texts))
        if len(among):
            for name, values in terms_of(texts.take(pa.array(among)), groups[among]).items():
                found[among] += weights().get(name, 0.0) * values
        return np.round(found, _DIGITS)

    def shown(self, key: float) -> Any:
        return float(key)


def damage_of(texts: pa.LargeStringArray) -> list[dict[str, float]]:
    """Return what each term adds to the damage of texts that are the only copies of each other."""
    terms = terms_of(texts, np.zeros(len(texts), np.int64))
    added = {name: np.round(weights().get(name, 0.0) * values, _DIGITS) for name, values in terms.items()}
    return [{name: float(values[row]) for name, values in added.items() if values[row]} for row in range(len(texts))]


@cache
def weights() -> Mapping[str, float]:
    """The weight of each term."""
    return dict(tomllib.loads(Path(__file__).with_name("weights.toml").read_text("utf-8"))["weights"])


def terms_of(texts: pa.LargeStringArray, groups: Numbers) -> dict[str, Keys]:
    """Return the terms of texts by name, of which those of one of the `groups` (n,) resemble each other.

    A sign that is found in a text as often as in its copies tells nothing. So in one that is shorter than most of them
    it counts for more.
    """
    _, groups = np.unique(groups, return_inverse=True)
    signs, agreement = signs_of(texts), agreement_of(texts, groups)
    length = np.maximum(pc.utf8_length(texts).to_numpy(zero_copy_only=False), _SHORTEST)
    usual = medians(length.astype(np.float64), groups)[groups]
    found = {name: np.log1p(count * np.maximum(1, usual / length)) for name, count in signs.counts.items()}
    found |= signs.ends
    found |= {f"fewer {name}": -np.log1p(count * usual / length) for name, count in signs.less.items()}
    found["words of no other text"] = np.log1p(agreement.unknown * np.maximum(1, usual / length))
    found["words twice"] = np.log1p(agreement.again * np.maximum(1, usual / length))
    two = np.bincount(groups)[groups] == 2
    for name in ("lost", "differing", "added"):
        share = _SHARES * getattr(agreement, name)
        found |= {f"{name}, of two": np.where(two, share, 0), f"{name}, of several": np.where(two, 0, share)}
    found["another script"] = np.log1p(_foreign_letters(signs.scripts, groups) / _FOREIGN_LETTERS)
    found["another language"] = np.log1p(_foreign_percent(texts, agreement.added, groups) / _FOREIGN_PERCENT)
    return found


def _foreign_letters(scripts: Keys, groups: Numbers) -> Keys:
    """Return how many more letters of each text than of most of its copies are not of the main script."""
    main = np.argmax([medians(each, groups) for each in scripts], axis=0)[groups]
    other = scripts.sum(axis=0) - scripts[main, np.arange(len(main))]
    found: Keys = np.maximum(0, other - medians(other, groups)[groups])
    return found


def _foreign_percent(texts: pa.LargeStringArray, added: Keys, groups: Numbers) -> Keys:
    """Return the share of each text with an `added` passage that is in another language than the rest, in percent."""
    found = np.zeros(len(texts))
    asked = np.flatnonzero(added > 0)
    found[asked] = other_languages(texts.take(pa.array(asked)).to_pylist())
    return found
