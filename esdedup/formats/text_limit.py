"""How large a single text may be: `--max-text`, and what a text costs in memory beyond its bytes.

A text is held as a whole. Most cost about as much for each byte. A text costs more if one of its characters makes
Python hold each of them in four bytes, or if it consists of very short sentences or lines, each of which has a few
numbers of its own. So a text close to the limit is looked at before anything is made of it.
"""

from __future__ import annotations

from typing import Any

USUAL = 2**26
"""Bytes of the largest text, unless another limit is given or less memory may be used."""

SHARE = 16
"""The memory of a job is at least this many times the largest text."""

ENDLESS = 16
"""A line or page that is this many times as long as the largest text is damage: it is not read to its end."""

_CHEAP = 8
_WIDTH = 2
_BYTES_OF_UNIT = 32


def too_large(data: Any, most: int) -> bool:
    """Whether a text, given by its bytes in UTF-8, costs more than one of `most` bytes may."""
    if len(data) > most:
        return True
    if len(data) <= most // _CHEAP:
        return False
    import numpy as np

    from esdedup.text.scripts import measured

    characters, widest, ends = measured(np.frombuffer(data, np.uint8))
    return bool(characters * widest > _WIDTH * most or ends > most // _BYTES_OF_UNIT)
