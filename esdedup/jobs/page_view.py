"""Pages as they are and as they are cleaned: one page, and what is left out of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from difflib import get_close_matches
from typing import Any, NamedTuple

import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.columns.records import Skips
from esdedup.errors import SourceError
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.preconditions import Address
from esdedup.jobs.settings import settings_of
from esdedup.jobs.source_reading import find_sources
from esdedup.text.wikitext.cleaning import CLEANERS, Cleaner
from esdedup.text.wikitext.left_out import KEPT, LEFT_OUT, Run, marked, runs
from esdedup.text.wikitext.rules import Names

_CLOSE = 2000  # titles that are compared with one that is not found


def page_text(sources: Sequence[Address], title: str, options: dict[str, Any], *, dropped: bool) -> str:
    """Return the first document with this title or id, cleaned. With `dropped`, everything that the cleaner leaves out
    stands in it, marked, with the reason.

    Raises `SourceError` if there is none.
    """
    titles: list[str] = []
    for page in _pages(sources, options):
        if title in (page.title, page.id):
            return marked(page.runs()) if dropped else page.cleaned()
        if page.title and len(titles) < _CLOSE:
            titles.append(page.title)
    close = get_close_matches(title, titles, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "; give a title as it stands in the source, or an id"
    raise SourceError(f"no page {title!r} among those that are read{hint}")


class LeftOut(NamedTuple):
    """What is left out of pages for one reason."""

    why: str
    times: int
    characters: int


def left_out(sources: Sequence[Address], options: dict[str, Any]) -> tuple[int, list[LeftOut]]:
    """Return how many pages were read, and what is left out of them, most characters first: by the heading of a
    section, the name of a template, and the like. It reads about a megabyte a second.
    """
    pages = 0
    times, characters = Counter[str](), Counter[str]()
    for page in _pages(sources, options):
        pages += 1
        for run in page.runs():
            if run.kind == LEFT_OUT:
                times[run.why] += 1
                characters[run.why] += len(run.text)
    return pages, [LeftOut(why, times[why], count) for why, count in characters.most_common()]


class _Page(NamedTuple):
    title: str | None
    id: str
    stored: pa.Scalar  # the text as it is; it becomes a string when it is asked for
    names: Names
    cleaner: Cleaner | None  # None without markup

    @property
    def text(self) -> str:
        return str(self.stored.as_py())

    def cleaned(self) -> str:
        if self.cleaner is None:
            return self.text
        cleaned, failed = self.cleaner.clean_column(text_column([self.text]))
        if failed:
            raise SourceError(f"its markup could not be read: {failed[0][1]}")
        return cleaned[0] or ""

    def runs(self) -> list[Run]:
        return [Run(KEPT, self.text)] if self.cleaner is None else runs(self.text, self.cleaned(), self.names)


def _pages(sources: Sequence[Address], options: dict[str, Any]) -> Iterator[_Page]:
    settings = settings_of(options)
    found, _ = find_sources(sources, settings.reading, keep_going=False)
    for source in found:
        with DocumentStream(source, Skips(), limit=settings.reading.limit) as stream, ExitStack() as stack:
            names, cleaner = Names(), None
            for number, batch in enumerate(stream):
                if not number:  # the names of the wiki are known now
                    names = Names(stream.namespaces, settings.frozen.get("templates"), stream.site, stream.language)
                    if source.format.markup:
                        cleaner = stack.enter_context(closing(CLEANERS[source.format.markup](names)))
                titles, keys = batch["title"].to_pylist(), batch["id"].to_pylist()
                for title, key, text in zip(titles, keys, batch["text"], strict=True):
                    yield _Page(title, key, text, names, cleaner)
