"""One page of a source, as it is and as it is cleaned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import Any

from esdedup.columns.arrays import text_column
from esdedup.columns.records import Skips
from esdedup.errors import SourceError
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.steps import Address, find_sources, settings_of
from esdedup.text.wikitext.cleaning import CLEANERS
from esdedup.text.wikitext.left_out import marked, runs
from esdedup.text.wikitext.rules import Names

_CLOSE = 2000  # titles that are compared with one that is not found


def page_text(sources: Sequence[Address], title: str, options: dict[str, Any], *, dropped: bool) -> str:
    """Return the first document with this title or id, cleaned. With `dropped`, everything that the cleaner leaves out
    stands in it, marked, with the reason.

    Raises `SourceError` if there is none.
    """
    settings = settings_of(options)
    found, _ = find_sources(sources, settings.reading, keep_going=False)
    titles: list[str] = []
    for source in found:
        with DocumentStream(source, Skips(), limit=settings.reading.limit) as stream:
            for batch in stream:
                columns = [batch["title"].to_pylist(), batch["id"].to_pylist()]
                for row, known in enumerate(zip(*columns, strict=True)):
                    if title in known:
                        text = str(batch["text"][row].as_py())
                        names = Names(stream.namespaces, settings.frozen.get("templates"))
                        return _shown(text, source.format.markup, names, dropped=dropped)
                if len(titles) < _CLOSE:
                    titles += [str(name) for name in columns[0] if name]
    close = get_close_matches(title, titles, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "; give a title as it stands in the source, or an id"
    raise SourceError(f"no page {title!r} among those that are read{hint}")


def _shown(text: str, markup: str | None, names: Names, *, dropped: bool) -> str:
    if markup is None:
        return text
    with closing(CLEANERS[markup](names)) as cleaner:
        cleaned, failed = cleaner.clean_column(text_column([text]))
    if failed:
        raise SourceError(f"its markup could not be read: {failed[0][1]}")
    return marked(runs(text, cleaned[0] or "", names)) if dropped else cleaned[0] or ""
