"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from esdedup.columns.records import Skips
from esdedup.formats.batches import Row, collect, replace_surrogates
from esdedup.formats.fields import LINE
from esdedup.formats.line_blocks import Block, decode_lines
from esdedup.formats.reading_options import Reading


def read_jsonl(blocks: Iterable[Block], reading: Reading, skips: Skips) -> Iterator[pa.RecordBatch]:
    """Documents of JSON lines; columns are keys or dotted paths, by default id, title and text.

    A record without the default id gets its line number; without an id column that was asked for, it is
    skipped. Blank lines are no records.
    """
    return collect(_rows(blocks, reading, skips))


def _rows(blocks: Iterable[Block], reading: Reading, skips: Skips) -> Iterator[Row]:
    text_path = reading.text_column or "text"
    title_path = reading.title_column or "title"
    id_path = None if reading.id_column == LINE else reading.id_column or "id"
    for first, block in blocks:
        for number, line in zip(*decode_lines(first, block, skips), strict=True):
            if not line or line.isspace():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                skips.add("bad_json", f"line {number}")
                continue
            text = _value(record, text_path)
            if not isinstance(text, str) or not text or text.isspace():
                skips.add("no_text", f"line {number}")
                continue
            identifier = None if id_path is None else _name(_value(record, id_path))
            if identifier is None and (id_path is None or reading.id_column is None):
                identifier = str(number)
            if not identifier:
                skips.add("no_id", f"line {number}")
                continue
            title = _name(_value(record, title_path))
            yield identifier, title and replace_surrogates(title), text, None, None, None, number


def _value(record: dict[str, Any], path: str) -> object:
    """What stands at a key, or at a dotted path where no key has that very name."""
    if path in record or "." not in path:
        return record.get(path)
    found = locate(record, path)
    return None if found is None else found[0][found[1]]


def locate(record: dict[str, Any], path: str) -> tuple[Any, Any] | None:
    """What holds the value that `path` names, and the key or the number that it has in there."""
    holder: Any = record
    keys = [path] if path in record else path.split(".")
    for depth, key in enumerate(keys, 1):
        place: Any = key
        if isinstance(holder, list) and key.isascii() and key.isdigit() and int(key) < len(holder):
            place = int(key)
        elif not isinstance(holder, dict) or key not in holder:
            return None
        if depth == len(keys):
            return holder, place
        holder = holder[place]
    return None


def _name(value: object) -> str | None:
    """An id or a title as text; `None` for what cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None
