"""Marks of bold and italic: which of them MediaWiki reads as an apostrophe."""

from __future__ import annotations

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import Bytes


@compiled
def odd_quote(text: Bytes, start: int, end: int) -> int:
    """Return where MediaWiki reads `'''` in this line as an apostrophe and `''`, or -1.

    It does so if a line has an odd number both of bold and of italic marks. The first mark after a word of one letter
    wins, otherwise the first after a longer word, otherwise the first after a space.
    """
    bold, italic = 0, 0
    single, multiple, space = -1, -1, -1
    before = start  # start of the text between the last mark and this one
    i = start
    while i < end:
        if text[i] != 39:
            i += 1
            continue
        run = 1
        while i + run < end and text[i + run] == 39:
            run += 1
        if run == 1:
            i += 1
            continue
        if run != 2:
            bold += 1
        if run == 2 or run >= 5:
            italic += 1
        if run == 3 or run == 4:
            # Of four, the first is an apostrophe, so it is the last character before the mark.
            last = i if run == 4 else i - 1
            if last >= before and text[last] == 32:
                space = i if space < 0 else space
            elif last - 1 >= before and text[last - 1] == 32:
                single = i if single < 0 else single
            elif multiple < 0:
                multiple = i
        i += run
        before = i
    if bold % 2 == 0 or italic % 2 == 0:
        return -1
    if single >= 0:
        return single
    return multiple if multiple >= 0 else space
