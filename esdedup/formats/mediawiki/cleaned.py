"""Wiki dumps as JSON Lines: one object for each page, with the visible text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pyarrow as pa

from esdedup.files import compact_json
from esdedup.formats.decisions import Decisions
from esdedup.formats.protocol import NOTE, Walk
from esdedup.text.markup import cleaner_named
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.rules import Names


def cleaned_pages(
    pages: Iterator[pa.RecordBatch], wikitext: str, walk: Walk, decisions: Decisions, annotate: bool
) -> Iterator[bytes]:
    """Yield the cleaned pages of one member. `wikitext` chooses the cleaner."""
    before = walk.records
    cleaner: Cleaner | None = None
    with ExitStack() as stack:
        for batch in pages:
            if cleaner is None:  # the first batch brings the names of the namespaces
                decisions.language = walk.language
                names = Names(walk.namespaces, decisions.templates, walk.site, walk.language)
                cleaner = stack.enter_context(closing(cleaner_named(wikitext)(names)))
            rows = batch.drop_columns(["text"]).to_pylist()
            for row, text in zip(rows, cleaner.clean_column(batch["text"])[0], strict=True):
                decisions.record = before + row["place"]
                if text is not None and (line := _line(row, text, decisions, annotate)):
                    yield line
    decisions.record = walk.records


def _line(row: dict[str, Any], text: str, decisions: Decisions, annotate: bool) -> bytes | None:
    record = decisions.record
    page = {name: row[name] for name in ("id", "title")} | {"text": text}
    page |= {name: row[name] for name in ("revision", "timestamp")}
    if annotate:
        page[NOTE] = decisions.note(record)
    elif drops := decisions.drops(record):
        left = decisions.left(text, drops)
        if left is None:
            return None
        page["text"] = left
    else:
        decisions.stay()
    return compact_json(page).encode() + b"\n"
