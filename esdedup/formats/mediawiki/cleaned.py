"""Wiki dumps as JSON lines: one object a page, with the text that a reader would see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from esdedup.columns.records import Skips
from esdedup.files import compact_json
from esdedup.formats.decisions import Decisions
from esdedup.formats.line_records import NOTE
from esdedup.formats.mediawiki.dump import WikipediaReader
from esdedup.formats.reading_options import Reading
from esdedup.text.wikitext.cleaning import plain_texts
from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names


class CleanedPages:
    """Writes the documents of a dump, member by member. Pages that the index skips are left out."""

    def __init__(self, reading: Reading, label: str, decisions: Decisions, annotate: bool) -> None:
        self._reading = reading
        self._label = label
        self._decisions = decisions
        self._annotate = annotate
        self._namespaces: dict[int, str] = {}
        self._left = reading.limit

    def lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The documents of one member; `SourceError` for damage, after those that stood before it."""
        before = self._decisions.place
        reader = WikipediaReader(pieces, self._label, self._reading, self._left, Skips(), self._namespaces)
        cleaner: FastCleaner | ReferenceCleaner | None = None
        with ExitStack() as stack:
            for batch in reader:
                if cleaner is None:  # the names of the namespaces are known with the first batch
                    names = Names(dict(self._namespaces))
                    fast = self._reading.wikitext == "fast"
                    cleaner = FastCleaner(names) if fast else stack.enter_context(ReferenceCleaner(names))
                rows = batch.drop_columns(["text"]).to_pylist()
                for row, text in zip(rows, plain_texts(batch["text"], cleaner)[0], strict=True):
                    self._decisions.place = before + row["place"]
                    if text is not None and (line := self._line(row, text)):
                        yield line
        self._decisions.place = before + reader.pages
        if self._left is not None:
            self._left -= reader.documents

    def _line(self, row: dict[str, Any], text: str) -> bytes | None:
        decisions, place = self._decisions, self._decisions.place
        page = {name: row[name] for name in ("id", "title")} | {"text": text}
        page |= {name: row[name] for name in ("revision", "timestamp")}
        if self._annotate:
            page[NOTE] = decisions.note(place)
        elif drops := decisions.drops(place):
            left = decisions.left(text, drops)
            if left is None:
                return None
            page["text"] = left
        else:
            decisions.stay()
        return compact_json(page).encode() + b"\n"
