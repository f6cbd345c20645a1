"""Indented lines inside a sentence, such as displayed formulas: "The loss is / :x² / where x is the distance."

If the next line that is not indented begins with a small letter, the sentence goes on there, whether or not empty lines
stand between.
"""

from __future__ import annotations

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import Bytes
from esdedup.text.wikitext.marks import GONE


@compiled
def _is_small_letter(text: Bytes, i: int, end: int) -> bool:
    """Return whether text[i] begins a small letter: Latin, Greek or Cyrillic."""
    byte = text[i]
    if byte < 128 or i + 1 == end:
        return bool(byte >= 97 and byte <= 122)
    code = (int(byte) & 31) << 6 | (int(text[i + 1]) & 63)
    return byte < 0xE0 and (
        (code >= 0xDF and code < 0x100 and code != 0xF7)
        or (code >= 0x3AC and code < 0x3CF)
        or (code >= 0x430 and code < 0x460)
    )


@compiled
def sentence_goes_on(text: Bytes, at: int, length: int) -> tuple[int, bool]:
    """Return where the first visible line at or after text[at] is that is not indented, and whether it continues a
    sentence; `length` if there is none.
    """
    while at < length:
        i = at
        while i < length and (text[i] == 32 or text[i] == 9 or text[i] == GONE or text[i] == 39):
            i += 1
        if i < length and text[i] != 10 and text[at] != 58:
            return at, _is_small_letter(text, i, length)
        while at < length and text[at] != 10:
            at += 1
        at += 1
    return length, False


@compiled
def ends_sentence(out: Bytes, end: int) -> bool:
    """Return whether the text before out[end] ends with the end of a sentence."""
    last = out[end - 1]
    return bool(last == 46 or last == 33 or last == 63)
