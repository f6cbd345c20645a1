"""The tokens of a sentence as the server holds them: one text of words that are all searchable, and may be copied.

A word has seven signs of 87, which hold a token without its column (`esdedup.matching.groups.columns_of`): the first
word is that of column 0, and so on. A column without a token has a word that no token has. The words take half of what
a server needs for the same tokens as numbers, and stand in `_source`, so an update or a copy of a sentence loses none.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np

from esdedup.columns.arrays import Flags, Numbers
from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.signers.minhash_kernels import COLUMN_BITS, TOKEN_BITS, Tokens

_SIGNS = string.ascii_letters + string.digits + "!#$%()*+,./:;=?@[]^_{|}~" + "-"
"""Those of ASCII that neither JSON nor HTML escapes."""

_BASE, _WIDTH = len(_SIGNS), 7
_NONE = _SIGNS[-1] * _WIDTH  # a token begins with an earlier sign
_CODES = np.frombuffer(_SIGNS.encode(), np.uint8)
_VALUES = np.full(256, -1, np.int64)
_VALUES[_CODES] = np.arange(_BASE)
_POWERS = _BASE ** np.arange(_WIDTH - 1, -1, -1)
_STEP = _WIDTH + 1  # signs from one word to the next
_BITS = TOKEN_BITS - COLUMN_BITS


def texts_of_tokens(tokens: Tokens) -> list[str]:
    """Return tokens of shape (n, columns), each row as one text. The last columns without a token are left out."""
    rows, columns = tokens.shape
    if not rows:
        return []
    signs = np.full((rows, columns, _STEP), ord(" "), np.uint8)
    signs[:, :, :_WIDTH] = _CODES[(tokens >> COLUMN_BITS)[:, :, None] // _POWERS % _BASE]
    has = tokens != NO_TOKEN
    signs[~has, :_WIDTH] = _CODES[-1]
    ends = (columns - np.argmax(has[:, ::-1], axis=1)) * _STEP - 1
    ends[~has.any(axis=1)] = 0
    text = signs.tobytes().decode("ascii")
    begins = np.arange(rows) * columns * _STEP
    return [text[begin : begin + end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def tokens_of_texts(texts: Sequence[str | None], columns: int) -> tuple[Tokens, Flags]:
    """Return the tokens of texts, shape (n, columns), and which of the texts are sound. The others have no token."""
    held = [text if text is not None and text.isascii() else "" for text in texts]
    sizes = np.fromiter(map(len, held), np.int64, len(held))
    words = (sizes + 1) // _STEP
    sound = (sizes > 0) & (words * _STEP == sizes + 1) & (words <= columns)
    words[~sound] = 0
    chosen = held if sound.all() else [text for text, good in zip(held, sound.tolist(), strict=True) if good]
    joined = " ".join([*chosen, ""])
    signs = np.frombuffer(joined.encode("ascii"), np.uint8).reshape(-1, _STEP)
    values = _VALUES[signs[:, :_WIDTH]]
    numbers = values @ _POWERS
    rows = np.repeat(np.arange(len(words)), words)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(words) - words, words)
    none = (values == _BASE - 1).all(axis=1)
    valid = (values >= 0).all(axis=1) & (signs[:, _WIDTH] == ord(" ")) & (none | (numbers >> _BITS == 0))
    tokens = np.full((len(words), columns), NO_TOKEN, np.int64)
    tokens[rows, places] = np.where(none, NO_TOKEN, numbers << COLUMN_BITS | places)
    sound[rows[~valid]] = False
    tokens[~sound] = NO_TOKEN
    return tokens, sound


def words_of_tokens(tokens: Numbers) -> list[str]:
    """Return the word of each token. Tokens of two columns may have the same."""
    return texts_of_tokens(tokens[:, None]) if len(tokens) else []
