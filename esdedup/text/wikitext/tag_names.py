"""Names of tags, as they stand in a page."""

from __future__ import annotations

from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import TAG, Bytes
from esdedup.text.word_table import mix

_LONGEST = constant(20)


@compiled
def _lower(byte: int) -> int:
    return byte + 32 if byte >= 65 and byte <= 90 else byte


@compiled
def read_tag_name(text: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return where the name at text[start:end] ends, and its key; `start` if there is no name of a tag."""
    key = TAG
    i = start
    while i < end and i - start < _LONGEST:
        letter = _lower(int(text[i]))
        if not ((letter >= 97 and letter <= 122) or (letter >= 48 and letter <= 57 and i > start)):
            break
        key = mix(key, letter)
        i += 1
    if i < end and (text[i] == 62 or text[i] == 47 or text[i] == 32 or (text[i] >= 9 and text[i] <= 13)):
        return i, key
    return start, key


@compiled
def find_closing_tag(text: Bytes, start: int, end: int, name: int, length: int) -> int:
    """Return where the next closing tag of the name at text[name:name + length] begins, or -1."""
    for i in range(start, end - length - 2):
        if text[i] != 60 or text[i + 1] != 47:
            continue
        same = True
        for k in range(length):
            if _lower(int(text[i + 2 + k])) != _lower(int(text[name + k])):
                same = False
                break
        if not same:
            continue
        j = i + 2 + length
        while j < end and (text[j] == 32 or (text[j] >= 9 and text[j] <= 13)):
            j += 1
        if j < end and text[j] == 62:
            return i
    return -1


@compiled
def after_tag(text: Bytes, start: int) -> int:
    """Return where the tag that begins at text[start] ends."""
    while text[start] != 62:
        start += 1
    return start + 1
