"""A column of wikitext into plain texts, by either path."""

from __future__ import annotations

import pyarrow as pa

from esdedup.columns.arrays import text_buffers, texts_from
from esdedup.errors import UnparsablePageError
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner


def plain_texts(
    column: pa.LargeStringArray, cleaner: FastCleaner | ReferenceCleaner
) -> tuple[list[str | None], list[tuple[int, str]]]:
    """The texts, and the rows that the reference path gave up on, with the reason: their text is `None`."""
    texts: list[str | None]
    if isinstance(cleaner, FastCleaner):
        texts = texts_from(*cleaner.clean_batch(*text_buffers(column))).to_pylist()
        return texts, []
    texts, unparsable = [], []
    for row, text in enumerate(column.to_pylist()):
        try:
            texts.append(cleaner.clean(text))
        except UnparsablePageError as error:
            texts.append(None)
            unparsable.append((row, str(error)))
    return texts, unparsable
