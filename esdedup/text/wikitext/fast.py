"""The fast cleaner: plain text from batches of pages, in five linear passes over bytes.

Blocks (headings, list items, paragraphs) are separated by an empty line. A line break inside a paragraph stays. Other
white space becomes one space, as on the rendered page. Markup that is never closed is text.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.formula import SYMBOLS
from esdedup.text.wikitext.line_pass import write_lines
from esdedup.text.wikitext.link_pass import strip_links
from esdedup.text.wikitext.lookup import Numbers, Tables, tables_of
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


class Working(NamedTuple):
    """Working memory: for a text, a template, a stack of open markup, and the arguments of a template."""

    text: Bytes
    spare: Bytes
    stack: Numbers
    arguments: Numbers


@compiled
def rooms(data: Bytes, offsets: Numbers) -> tuple[int, Working]:
    """Return how many bytes `clean` writes of all texts at most, and the memory that it works in."""
    longest, widest, total = 0, 0, 2
    for row in range(offsets.size - 1):
        length, more = offsets[row + 1] - offsets[row], growth(data, offsets[row], offsets[row + 1])
        longest, widest = max(longest, length), max(widest, length + more)
        total += ROOM * length + 2 * more
    # opening markup takes two bytes, except for marks
    return total, Working(
        np.empty(widest, dtype=np.uint8),
        np.empty(widest, dtype=np.uint8),
        np.empty((4, longest + 1), dtype=np.int64),
        np.empty((3, ARGUMENTS), dtype=np.int64),
    )


@compiled
def clean(
    data: Bytes, begin: int, end: int, out: Bytes, at: int, working: Working, tables: Tables
) -> tuple[int, bool, bool]:
    """Write the plain text of data[begin:end] to out[at:]. `rooms` makes room.

    Return its end there, whether anything is open at the end, so that more text could change the result, and whether
    the last sentence of a paragraph is open: an indented line would belong to it.
    """
    text, stack = working.text, working.stack
    kinds, places, pipes, brackets = stack[0], stack[1], stack[2], stack[3]
    start = text.size - (end - begin)  # at least its `growth`
    length, open_tag = strip_tags(data, begin, end, text[start:], tables)
    length, open_variant = strip_variants(text, start, length, places, pipes, tables)
    length, open_template = strip_templates(
        text, start, length, places, kinds, pipes, tables, working.arguments, working.spare
    )
    if length >= kinds.size:  # templates made it longer
        grown = np.empty((4, length + 1), dtype=np.int64)
        kinds, places, pipes, brackets = grown[0], grown[1], grown[2], grown[3]
    length, open_link = strip_links(text, length, kinds, places, pipes, brackets, tables)
    written, open_section, unended = write_lines(text, length, out, at, tables)
    return written, open_tag or open_variant or open_template or open_link or open_section, unended


@compiled
def _clean_pages(data: Bytes, offsets: Numbers, tables: Tables) -> tuple[Bytes, Numbers]:
    pages = offsets.size - 1
    total, working = rooms(data, offsets)
    out = np.empty(total, dtype=np.uint8)
    out_offsets = np.zeros(pages + 1, dtype=np.int64)
    for page in range(pages):
        begin, end = offsets[page], offsets[page + 1]
        out_offsets[page + 1], _, _ = clean(data, begin, end, out, out_offsets[page], working, tables)
    return out[: out_offsets[pages]].copy(), out_offsets


class FastCleaner(Cleaner):
    """Cleans wikitext at about a hundred megabytes a second. It never fails on a page.

    Threads may share one cleaner: it has only tables, and works without the interpreter lock.
    """

    def __init__(self, names: Names) -> None:
        self.tables: Tables = tables_of(names, *programs(names.templates), SYMBOLS)

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
        return _clean_pages(read_only(data), read_only(offsets), self.tables)


def read_only(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return a read-only view: columns of a batch are read-only too, and each type is compiled separately."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
