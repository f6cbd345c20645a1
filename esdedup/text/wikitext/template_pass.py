"""Second pass: templates and parameters, which are removed with their content."""

from __future__ import annotations

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.lookup import Bytes, Numbers
from esdedup.text.wikitext.marks import GONE


@compiled
def strip_templates(text: Bytes, length: int, places: Numbers, counts: Numbers) -> tuple[int, bool]:
    """Remove closed `{{…}}` and `{{{…}}}` from text[:length] in place. Return the new length, and whether one is open
    at the end.

    `places` and `counts` are a stack: the position of each open run of braces, and how many braces of it are still
    open. A run that is never closed stays unchanged, and so does everything after it.
    """
    top = 0
    o = 0
    i = 0
    while i < length:
        byte = text[i]
        if byte != 123 and byte != 125:
            text[o] = byte
            o += 1
            i += 1
            continue
        run = 1
        while i + run < length and text[i + run] == byte:
            run += 1
        i += run
        if byte == 123:
            if run > 1:
                places[top], counts[top] = o, run
                top += 1
        else:
            while run > 1 and top > 0:
                closed = min(counts[top - 1], run, 3)
                counts[top - 1] -= closed
                run -= closed
                o = places[top - 1] + counts[top - 1]
                text[o] = GONE
                o += 1
                if counts[top - 1] < 2:
                    top -= 1
        for _ in range(run):
            text[o] = byte
            o += 1
    return o, top > 0
