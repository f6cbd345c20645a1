"""Turn texts into shingles and tokens, with one set of frozen settings.

Texts of one class are compared by one kind of shingle (`esdedup.matching.units.TextClass`). Two texts with different
kinds are compared by the shorter shingle. So a text near a border, which may be similar to a text of a class with
shorter shingles, has *views*: it is shingled and signed by both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import Flags, Numbers, text_buffers
from esdedup.columns.hashing import Hashes, Offsets
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.signers.minhash_kernels import Tokens
from esdedup.matching.signing import Shingling, Signing
from esdedup.text.normalize import normalize
from esdedup.text.scripts import script_weights
from esdedup.text.shingles import Shingled, few_shingles, shingle_sets
from esdedup.text.splitting import SCRIPTS
from esdedup.text.words import word_hashes

Kinds = npt.NDArray[np.int8]
Shares = npt.NDArray[np.float64]

LEAST = 0.5
"""Texts on both sides of a border between lengths are signed by the same shingles if their Jaccard may be this."""

SET_BYTES = 12
"""Memory for each byte of a text, after its shingles are 64-bit numbers."""

_NEAR_SCRIPT = 0.2
"""So are texts with this share of letters in the other script. Two texts with a Jaccard of 2/3, on both sides of the
border of one half, have at least a quarter."""


class Sets(NamedTuple):
    """Shingle sets of n texts, in one array for each of k kinds of shingles.

    The set of text i by kind j is `flat[bounds[j * n + i]:bounds[j * n + i + 1]]`, sorted; empty if the text has no
    such view. `kind` (n,) is each text's own kind.
    """

    flat: Hashes
    bounds: Offsets
    kind: Kinds

    def trimmed(self) -> Sets:
        """Return these sets without empty kinds, if only one is left."""
        texts, kinds = len(self.kind), np.unique(self.kind)
        if len(kinds) != 1:
            return self
        first = int(kinds[0]) * texts
        whole = self.bounds[first] == 0 and self.bounds[first + texts] == self.bounds[-1]
        return Sets(self.flat, self.bounds[first : first + texts + 1], np.zeros_like(self.kind)) if whole else self


@dataclass(frozen=True, slots=True)
class Views:
    """How each of n texts is shingled, by kind. Kinds are sorted by the length of their shingles."""

    kind: Kinds  # of each text; (n,)
    texts: list[Numbers]  # by kind: the texts that have this view
    shingled: list[Shingled]  # by kind: those texts
    signed_again: list[Flags]  # by kind: texts that meet texts of other kinds in this view; (n,)

    @property
    def worded(self) -> Flags:
        """Which texts have shingles; (n,)."""
        found = np.zeros(len(self.kind), np.bool_)
        for texts, shingled in zip(self.texts, self.shingled, strict=True):
            found[texts] |= np.diff(shingled.offsets) > 0
        return found


class TextSigner:
    """Turns texts into tokens, and into the shingle sets that verify them, with one set of frozen settings.

    Two texts with a Jaccard of `least` or more have a view in common.
    """

    def __init__(self, signing: Signing, least: float = LEAST) -> None:
        self.signing = signing
        self._least = least

    @cached_property
    def kinds(self) -> list[Shingling]:
        """The different shingles of all classes, the shortest first."""
        return sorted({Shingling.parse(each.shingle) for each in self.signing.classes}, key=lambda kind: kind.length)

    def normalized(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the texts as they are shingled."""
        return normalize(texts, self.signing.form, self.signing.word_lang, self.signing.scheme)

    def shingled(self, texts: pa.LargeStringArray) -> Shingled:
        """Normalize the texts, and split them into words if shingles consist of words. All are shingled alike."""
        return _shingled(self.normalized(texts), self.signing.shingling)

    @cached_property
    def inside(self) -> list[Shingling]:
        """By kind: the shingles that decide whether a text stands inside a longer one."""
        found = {
            Shingling.parse(each.shingle): Shingling.parse(each.inside or each.shingle) for each in self.signing.classes
        }
        return [found[kind] for kind in self.kinds]

    def kind(self, texts: pa.LargeStringArray) -> Kinds:
        """Return the kind of each text; (n,)."""
        if len(self.kinds) == 1:
            return np.zeros(len(texts), np.int8)
        return self._classified(self.normalized(texts), *_scripts(texts))[0]

    def sets_by(self, texts: pa.LargeStringArray, shingling: Shingling) -> tuple[Hashes, Offsets]:
        """Return the sorted distinct shingles of each text, all of one kind: flat hashes, and offsets (n + 1,)."""
        return shingle_sets(*_shingled(self.normalized(texts), shingling))

    def views(self, texts: pa.LargeStringArray) -> Views:
        """Normalize texts, and find their class and their views."""
        column = self.normalized(texts)
        if len(self.kinds) == 1:
            none = np.zeros(len(column), np.bool_)
            whole = _shingled(column, self.kinds[0])
            return Views(np.zeros(len(column), np.int8), [np.arange(len(column))], [whole], [none])
        kind, has, again = self._classified(column, *_scripts(texts))
        rows = [np.flatnonzero(has[:, each]) for each in range(len(self.kinds))]
        parts = [column if len(of) == len(column) else column.take(pa.array(of)) for of in rows]
        return Views(
            kind,
            rows,
            [_shingled(part, each) for part, each in zip(parts, self.kinds, strict=True)],
            [again[:, each] for each in range(len(self.kinds))],
        )

    def bounds(self, texts: pa.LargeStringArray) -> tuple[Numbers, Numbers]:
        """Return the least and the greatest number of characters with which each text is compared; (n,) each."""
        limits = [
            next((each.min_chars, each.max_chars) for each in self.signing.classes if each.fits(script))
            for script in SCRIPTS
        ]
        single = len(set(limits)) == 1
        script = np.zeros(len(texts), np.int64) if single else _scripts(texts)[0]
        low, high = np.array(limits, np.int64)[script].T
        return low, high

    def _classified(self, column: pa.LargeStringArray, script: Numbers, share: Shares) -> tuple[Kinds, Flags, Flags]:
        """Return the kind of each normalized text; the views that it has, and those that are signed again, shape
        (n, kinds).
        """
        data, offsets = text_buffers(column)
        near = share >= (_NEAR_SCRIPT if self._least >= LEAST else 0)
        classes = self.signing.classes
        order = [self.kinds.index(Shingling.parse(each.shingle)) for each in classes]
        counts = {
            at: few_shingles(data, offsets, self.kinds[at].length, self._most(each.below))
            for at, each in zip(order, classes, strict=True)
            if each.below is not None
        }
        own = np.full(len(column), -1, np.int64)  # the class of each text
        for number, (at, each) in enumerate(zip(order, classes, strict=True)):
            fitting = np.isin(script, [index for index, name in enumerate(SCRIPTS) if each.fits(name)])
            if each.below is not None:
                fitting &= counts[at] < each.below
            own[(own < 0) & fitting] = number
        kind = np.array(order, np.int8)[own]
        has = kind[:, None] == np.arange(len(self.kinds))
        again = np.zeros_like(has)
        for lower, (at, each) in enumerate(zip(order, classes, strict=True)):
            for upper, (above, other) in enumerate(zip(order, classes, strict=True)):
                if above <= at:
                    continue
                below, beyond = own == lower, own == upper
                if each.script == other.script:
                    # one of the two has fewer shingles than the border, so the other has not many more
                    if each.below is not None:
                        below &= counts[at] >= each.below * self._least
                        beyond &= counts[at] * self._least <= each.below
                else:
                    below &= near[:, SCRIPTS.index(other.script)]
                    beyond &= near[:, SCRIPTS.index(each.script)]
                again[below, at] = True
                again[beyond, at] = has[beyond, at] = True
        return kind, has, again

    def _most(self, border: int) -> int:
        return int(border / self._least) + 1 if self._least else 2**31

    def tokens(self, views: Views) -> Tokens:
        """Return the tokens of each text, shape (n, columns), in 0 .. 2^53 - 1, or `NO_TOKEN`.

        The first columns are of each text's own kind. Then come those of each kind but the last, for texts that meet
        others there. Every text needs at least one shingle.
        """
        signer, width = self.signing.signer, self.signing.signer.tokens
        found = np.full((len(views.kind), self.signing.tokens), NO_TOKEN, np.int64)
        for each, (texts, shingled) in enumerate(zip(views.texts, views.shingled, strict=True)):
            if len(texts) == 0:
                continue
            tokens = signer.sign(shingled, self.signing.seed, self.signing.hash_bits)
            own = views.kind[texts] == each
            found[texts[own], :width] = tokens[own]
            again = views.signed_again[each][texts]
            if again.any():
                shift = width * (1 + each)
                found[texts[again], shift : shift + width] = tokens[again] + shift  # the low bits are the column
        return found

    def sets(self, views: Views) -> Sets:
        """Return the sorted distinct shingles of each text, in each of its views."""
        flats, sizes = [], []
        for texts, shingled in zip(views.texts, views.shingled, strict=True):
            flat, bounds = shingle_sets(*shingled)
            if len(views.texts) == 1:
                return Sets(flat, bounds, views.kind)
            flats.append(flat)
            size = np.zeros(len(views.kind), np.int64)
            size[texts] = np.diff(bounds)
            sizes.append(size)
        return Sets(np.concatenate(flats), np.concatenate(([0], np.cumsum(np.concatenate(sizes)))), views.kind)


def _scripts(texts: pa.LargeStringArray) -> tuple[Numbers, Shares]:
    """Return the script of each text, as an index of `SCRIPTS`, and the share of each script, shape (n, scripts)."""
    weights = script_weights(*text_buffers(texts))
    total = weights.sum(axis=1)
    script = np.where(2 * weights[:, 0] > total, 0, 1 + np.argmax(weights[:, 1:], axis=1))
    return np.where(total, script, 0), weights / np.maximum(total, 1)[:, None]


def _shingled(column: pa.LargeStringArray, shingling: Shingling) -> Shingled:
    if shingling.kind == "word":
        words, offsets = word_hashes(column)
        return Shingled(np.empty(0, np.uint8), offsets, words, True, shingling.length)
    data, offsets = text_buffers(column)
    return Shingled(data, offsets, np.empty(0, np.uint64), False, shingling.length)
