"""The fast cleaner: plain text from batches of pages, in five linear passes over bytes.

Blocks (headings, list items, paragraphs) are separated by an empty line. A line break inside a paragraph stays. Other
white space becomes one space, as on the rendered page. Markup that is never closed is text.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text import words
from esdedup.text.wikitext import lookup
from esdedup.text.wikitext.cleaning import Cleaner, Tables
from esdedup.text.wikitext.formula import SYMBOLS
from esdedup.text.wikitext.line_pass import write_lines
from esdedup.text.wikitext.link_pass import strip_links
from esdedup.text.wikitext.lookup import Numbers
from esdedup.text.wikitext.rules import Names
from esdedup.text.wikitext.tags import strip_tags
from esdedup.text.wikitext.template_pass import growth, strip_templates
from esdedup.text.wikitext.templates.program import ARGUMENTS, programs
from esdedup.text.wikitext.variants import strip_variants

Number = TypeVar("Number", np.uint8, np.int64)


ROOM = constant(3)
"""Apart from the `growth` of templates, the plain text is at most so many times as long as the wikitext: a template of
five bytes may become a sign of 11. What templates add may double, because a mark for a new block becomes two bytes.
"""


@compiled
def rooms(data: Bytes, offsets: Numbers) -> tuple[int, Bytes, Bytes, Numbers, Numbers]:
    """Return how many bytes `clean` writes of all texts at most, and its working memory: for a text, a template, a
    stack of open markup, and the arguments of a template.
    """
    longest, widest, total = 0, 0, 2
    for row in range(offsets.size - 1):
        length, more = offsets[row + 1] - offsets[row], growth(data, offsets[row], offsets[row + 1])
        longest, widest = max(longest, length), max(widest, length + more)
        total += ROOM * length + 2 * more
    # opening markup takes two bytes, except for marks
    return (
        total,
        np.empty(widest, dtype=np.uint8),
        np.empty(widest, dtype=np.uint8),
        np.empty((4, longest + 1), dtype=np.int64),
        np.empty((3, ARGUMENTS), dtype=np.int64),
    )


@compiled
def clean(
    data: Bytes,
    begin: int,
    end: int,
    out: Bytes,
    at: int,
    text: Bytes,
    spare: Bytes,
    stack: Numbers,
    arguments: Numbers,
    keys: Numbers,
    values: Numbers,
    letters: Numbers,
    code: Numbers,
) -> tuple[int, bool, bool]:
    """Write the plain text of data[begin:end] to out[at:]. `rooms` makes room.

    Return its end there, whether anything is open at the end, so that more text could change the result, and whether
    the last sentence of a paragraph is open: an indented line would belong to it.
    """
    kinds, places, pipes, brackets = stack[0], stack[1], stack[2], stack[3]
    start = text.size - (end - begin)  # at least its `growth`
    length, open_tag = strip_tags(data, begin, end, text[start:], keys, values)
    length, open_variant = strip_variants(text, start, length, places, pipes, keys, values, letters)
    length, open_template = strip_templates(
        text, start, length, places, kinds, pipes, keys, values, letters, code, arguments, spare
    )
    if length >= kinds.size:  # templates made it longer
        grown = np.empty((4, length + 1), dtype=np.int64)
        kinds, places, pipes, brackets = grown[0], grown[1], grown[2], grown[3]
    length, open_link = strip_links(text, length, kinds, places, pipes, brackets, keys, values, letters)
    written, open_section, unended = write_lines(text, length, out, at, keys, values, letters)
    return written, open_tag or open_variant or open_template or open_link or open_section, unended


@compiled
def _clean_pages(
    data: Bytes, offsets: Numbers, keys: Numbers, values: Numbers, letters: Numbers, code: Numbers
) -> tuple[Bytes, Numbers]:
    pages = offsets.size - 1
    total, text, spare, stack, arguments = rooms(data, offsets)
    out = np.empty(total, dtype=np.uint8)
    out_offsets = np.zeros(pages + 1, dtype=np.int64)
    for page in range(pages):
        begin, end = offsets[page], offsets[page + 1]
        out_offsets[page + 1], _, _ = clean(
            data,
            begin,
            end,
            out,
            out_offsets[page],
            text,
            spare,
            stack,
            arguments,
            keys,
            values,
            letters,
            code,
        )
    return out[: out_offsets[pages]].copy(), out_offsets


class FastCleaner(Cleaner):
    """Cleans wikitext at about a hundred megabytes a second. It never fails on a page.

    Threads may share one cleaner: it has only tables, and works without the interpreter lock.
    """

    def __init__(self, names: Names) -> None:
        places, code = programs(names.templates)
        self.tables: Tables = (*lookup.table(names, places, SYMBOLS), words.LETTERS, code)

    def clean(self, text: str) -> str:
        """Return the plain text of one page."""
        data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
        cleaned, _ = self.clean_batch(data, np.array([0, data.size], dtype=np.int64))
        return cleaned.tobytes().decode("utf-8")

    def clean_column(self, column: pa.LargeStringArray) -> tuple[list[str | None], list[tuple[int, str]]]:
        """See `Cleaner`. Every page can be cleaned."""
        return texts_from(*self.clean_batch(*text_buffers(column))).to_pylist(), []

    def clean_batch(self, data: Bytes, offsets: Numbers) -> tuple[Bytes, Numbers]:
        """Return the plain text of many pages: page i is data[offsets[i]:offsets[i + 1]], in the result as well.

        Both are UTF-8. The result is valid wherever the input is.
        """
        return _clean_pages(read_only(data), read_only(offsets), *self.tables)


def read_only(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return a read-only view: columns of a batch are read-only too, and each type is compiled separately."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
