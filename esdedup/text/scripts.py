"""Which scripts a text is written in: with spaces between words, or without.

Letters are counted in three groups: *ideographs* (Chinese, Japanese, Korean, Yi; a letter is a syllable or a word, and
counts as two), *unspaced* (Thai, Lao, Tibetan, Burmese, Khmer and their relatives: alphabets without spaces between
words), and *spaced*: all others. Digits and signs do not count.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esdedup.columns.arrays import decode
from esdedup.columns.hashing import Bytes, Offsets
from esdedup.columns.kernels import compiled
from esdedup.text.sentences.characters_and_words import ELLIPSIS, END, LINE, STOP, WIDE, class_of

Weights = npt.NDArray[np.int64]


@compiled
def script_weights(data: Bytes, offsets: Offsets) -> Weights:
    """Return the weight of each group of scripts in UTF-8 texts, shape (n, 3), in the order of
    `esdedup.text.splitting.SCRIPTS`."""
    weights = np.zeros((len(offsets) - 1, 3), np.int64)
    for index in range(len(offsets) - 1):
        at, end = offsets[index], offsets[index + 1]
        while at < end:
            byte = data[at]
            if byte < 0x80:
                weights[index, 0] += 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A
                at += 1
            elif byte < 0xE0:
                weights[index, 0] += byte >= 0xC3  # Latin-1 signs are below
                at += 2
            elif byte < 0xF0:
                code = np.int64(byte & 0x0F) << 12 | np.int64(data[at + 1] & 0x3F) << 6 | np.int64(data[at + 2] & 0x3F)
                if (
                    0x2E80 <= code < 0x3000
                    or code == 0x3005
                    or code == 0x3007
                    or 0x3021 <= code < 0xA4D0
                    or 0x1100 <= code < 0x1200
                    or 0xAC00 <= code < 0xD800
                    or 0xF900 <= code < 0xFB00
                    or 0xFF66 <= code < 0xFFDD
                ):
                    weights[index, 1] += 2
                elif (
                    0x0E00 <= code < 0x10A0
                    or 0x1780 <= code < 0x1800
                    or 0x1950 <= code < 0x1AB0
                    or 0xA9E0 <= code < 0xAA00
                    or 0xAA60 <= code < 0xAAE0
                ):
                    weights[index, 2] += 1
                else:
                    wide = 0xFF21 <= code < 0xFF5B
                    weights[index, 0] += wide or not (
                        0x2000 <= code < 0x2C00 or 0x3000 <= code < 0x3021 or code >= 0xFE00
                    )
                at += 3
            else:
                # from U+1B000 kana, from U+20000 ideographs; emoji and signs between them do not count, nor do
                # variation selectors, such as the invisible marks of holes
                code = np.int64(byte & 0x07) << 18 | np.int64(data[at + 1] & 0x3F) << 12
                if 0x1A000 <= code < 0x1C000 or 0x20000 <= code < 0xE0000:
                    weights[index, 1] += 2
                else:
                    weights[index, 0] += code < 0x1D000
                at += 4
    return weights


@compiled
def measured(data: Bytes) -> tuple[int, int, int]:
    """Return the characters of a text, the bytes that Python needs for each, and how many of them may end a unit."""
    characters, widest, ends = 0, 1, 0
    at = 0
    while at < len(data):
        code, at = decode(data, at, len(data))
        characters += 1
        if code >= 0x10000:
            widest = 4
        elif code >= 0x100 and widest < 2:
            widest = 2
        ends += class_of(code) in (LINE, STOP, END, WIDE, ELLIPSIS)
    return characters, widest, ends
