"""The visible text of HTML, by resiliparse: each heading, paragraph, item or row of a table is a block of the text."""

from __future__ import annotations

import re

import pyarrow as pa

from esdedup.errors import needs_extra
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.rules import Names

_SPACE = re.compile(r"[^\S\n]+")
_HIDDEN = ["[hidden]", "template"]
_ENDS = re.compile(r" *\n[ \n]*")


class HtmlCleaner(Cleaner):
    """Cleans columns of HTML."""

    def __init__(self, names: Names | None = None) -> None:
        del names  # of a wiki
        with needs_extra("crawl", "reading HTML"):
            from resiliparse.extract.html2text import extract_plain_text
        self._extract = extract_plain_text

    def clean_column(self, column: pa.LargeStringArray) -> tuple[list[str | None], list[tuple[int, str]]]:
        """See `Cleaner`."""
        texts: list[str | None] = []
        failed: list[tuple[int, str]] = []
        for row, html in enumerate(column.to_pylist()):
            try:
                texts.append(self.clean(html or ""))
            except (RuntimeError, ValueError) as error:  # of the library: this cannot be parsed
                texts.append(None)
                failed.append((row, str(error)))
        return texts, failed

    def clean(self, html: str) -> str:
        """Return the visible text of a page. Blocks are separated by an empty line."""
        text = self._extract(html, preserve_formatting=True, alt_texts=False, list_bullets=False, skip_elements=_HIDDEN)
        return _ENDS.sub("\n\n", _SPACE.sub(" ", text)).strip()
