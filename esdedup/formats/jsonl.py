"""JSON Lines: one object a line."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.columns.labels import ALL, label_of, labelled_text
from esdedup.errors import UsageError
from esdedup.files import compact_json
from esdedup.formats.fields import LINE, TableFormat, several_texts
from esdedup.formats.line_format import LineBlocks, LineFormat, Records, body_and_end, decode_lines, decoded
from esdedup.formats.protocol import NOTE, Format, Walk

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.records import Skips
    from esdedup.formats.batches import Row

_log = logging.getLogger("esdedup")

_KEYS = 10  # that a message lists
_LIST = "[]"  # behind a key: each value of the list there
_AROUND = b", \t"  # what may follow an object in its line


@dataclass(frozen=True)
class JsonObjects(TableFormat):
    """Objects whose columns are keys or dotted paths, by default id, title and text."""

    def rows(self, objects: Iterable[tuple[int, str]], walk: Walk, what: str) -> Iterator[Row]:
        """Yield the documents among numbered objects. `what` names them in messages."""
        from esdedup.columns.arrays import replace_surrogates

        skips = walk.skips

        text_paths, title_path = self.text_paths, self.title_column or "title"
        id_path = None if self.id_column == LINE else self.id_column or "id"
        several = list(filter(None, text_paths[1:]))
        unseen = several  # columns that no record has had
        seen = 0
        for number, line in objects:
            if not line or line.isspace():
                continue
            record, seen = _object(line), seen + 1
            if record is None:
                if seen == 1 and _begins_array(line):
                    raise UsageError(f"{walk.label}: holds an array and not an object a line; give --format json")
                skips.add("bad_json", f"{what} {number}")
                continue
            if unseen:
                unseen = [path for path in unseen if _text_at(record, path) is None and locate(record, path) is None]
            text = _labelled(record, id_path) if self.text_column == ALL else _text(record, text_paths)
            if not text or text.isspace():
                skips.add("no_text", f"{what} {number}: {{{', '.join(list(record)[:_KEYS])}}}")
                continue
            identifier = None if id_path is None else _name(_value(record, id_path))
            if identifier is None and (id_path is None or self.id_column is None):
                identifier = str(number)
            if not identifier:
                skips.add("no_id", f"{what} {number}")
                continue
            title = _name(_value(record, title_path))
            once = [text]
            del line, record, text  # a large text is not kept while it is used
            yield identifier, title and replace_surrogates(title), once.pop(), None, None, None, number
        if 0 < len(unseen) < len(several):
            _log.warning("%s: no record has %s (--text-column)", walk.label, " or ".join(map(repr, unseen)))

    def of_values(self, column: str, asked: str) -> tuple[Format, str]:
        """As `Format.of_values`. Of several paths numbers are read, too: behind the comma there is none."""
        return super().of_values(f"{column},", asked)

    @property
    def text_paths(self) -> list[str]:
        """The paths of the texts in an object: the whole name, and if that is no key, its parts at commas."""
        whole = self.text_column or "text"
        return [whole, *whole.split(",")] if "," in whole else [whole]

    def records(self, label: str, annotate: bool) -> Records:
        """Return what rewrites single objects."""
        del annotate
        return _Objects(self.id_column or "id", self.text_paths, label)


@dataclass(frozen=True)
class JsonLines(LineFormat, JsonObjects):
    """Columns are keys or dotted paths, by default id, title and text.

    A record without the default id gets its line number. A record without the id column that you named is skipped.
    Blank lines are not records. A comma may follow an object.
    """

    name = "jsonl"
    summary = "JSON lines, an object a line"
    endings = (".jsonl", ".ndjson")
    stdin_name = "stdin.jsonl"

    @property
    def between(self) -> str:
        """What an object begins with."""
        return "{"

    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Read each object as a document."""
        from esdedup.formats.batches import collect

        return collect(self.rows(_lines(blocks, walk.skips), walk, "line"))

    def records(self, label: str, annotate: bool) -> Records:
        """Return the lines as records."""
        return JsonObjects.records(self, label, annotate)


class _Objects(Records):
    """Lines with JSON objects. A changed one is written in compact form, with its keys in the same order."""

    def __init__(self, identity: str, paths: Sequence[str], label: str) -> None:
        self._id = identity
        self._path, *self._parts = paths
        self._label = label

    def text(self, data: bytes) -> str | None:
        from esdedup.columns.arrays import replace_surrogates

        record = _object(decoded(data)) or {}
        text = _value(record, self._path)
        several = self._parts or self._path == ALL or _LIST in self._path
        if (text is None and several) or isinstance(text, list):
            raise several_texts(self._label)
        return replace_surrogates(text) if isinstance(text, str) else None

    def with_text(self, data: bytes, text: str) -> bytes:
        record = _object(decoded(data)) or {}
        if found := locate(record, self._path):
            holder, key = found
            holder[key] = text
        return _json_bytes(record) + _end(data)

    def values(self, data: bytes, columns: Sequence[str] | None) -> list[Any]:
        record = _object(decoded(data)) or {}
        if columns is None:
            own = {self._id, *([] if self._parts else [self._path])}
            return [{name: value for name, value in record.items() if name not in own}]
        return [_value(record, column) for column in columns]

    def with_values(self, data: bytes, values: Mapping[str, Any]) -> bytes:
        record = _object(decoded(data)) or {}
        for column, value in values.items():
            holder, key = locate(record, column) or (record, column)
            holder[key] = value
        return _json_bytes(record) + _end(data)

    def annotated(self, data: bytes, note: Any) -> bytes | None:
        record = _object(decoded(data))
        if record is None:
            return None
        record.pop(NOTE, None)
        return _json_bytes({**record, NOTE: note}) + _end(data)


def _end(data: bytes) -> bytes:
    """Return what follows an object in its line: a comma, and the end of the line."""
    body, end = body_and_end(data)
    return body[len(body.rstrip(_AROUND)) :] + end


def _text(record: dict[str, Any], paths: Sequence[str]) -> str | None:
    """Return the text at the first path or, if there is none, those at the other paths, joined by spaces."""
    whole, *parts = paths
    if isinstance(text := record.get(whole), str):
        return text
    text = _text_at(record, whole)
    if parts and text is None:
        values = (_text_at(record, part) or _value(record, part) for part in parts)
        return " ".join(str(value) for value in values if isinstance(value, str | int | float))
    return text


def _labelled(record: dict[str, Any], id_path: str | None) -> str:
    """Return the text of all values but the id, each with its key or dotted path."""
    values: dict[str, str] = {}

    def visit(prefix: str, held: dict[str, Any]) -> None:
        for key, value in held.items():
            path = f"{prefix}{key}"
            if path == id_path:
                continue
            if isinstance(value, dict):
                visit(f"{path}.", value)
            elif isinstance(value, list):
                values[path] = " ".join(str(each) for each in value if isinstance(each, str | int | float))
            elif value is not None:
                values[path] = value if isinstance(value, str) else json.dumps(value)

    visit("", record)
    return labelled_text((label_of(path, at) for at, path in enumerate(values, 1)), values.values())


def _text_at(record: dict[str, Any], path: str) -> str | None:
    """Return the text at a path. Texts of a list are joined by line ends."""
    value = _value(record, path)
    if value is None and _LIST in path:
        value = list(_each(record, path.split(".")))
    if isinstance(value, list):
        texts = [text for text in value if isinstance(text, str)]
        return "\n".join(texts) if texts else None
    return value if isinstance(value, str) else None


def _each(holder: object, keys: Sequence[str]) -> Iterator[object]:
    """Yield the values at a path in which `key[]` stands for each value of the list at a key."""
    if not keys:
        yield holder
        return
    key, *rest = keys
    value = holder.get(key.removesuffix(_LIST)) if isinstance(holder, dict) else None
    for each in (value if isinstance(value, list) else ()) if key.endswith(_LIST) else (value,):
        yield from _each(each, rest)


def _value(record: dict[str, Any], path: str) -> object:
    """Return the value at a key. If no key has this name, read it as a dotted path."""
    if path in record or "." not in path:
        return record.get(path)
    found = locate(record, path)
    return None if found is None else found[0][found[1]]


def locate(record: dict[str, Any], path: str) -> tuple[Any, Any] | None:
    """Return the container of the value at `path`, and its key or index there."""
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


def _lines(blocks: LineBlocks, skips: Skips) -> Iterator[tuple[int, str]]:
    """Yield the lines of blocks with their numbers. None is kept while it is used."""
    for first, block in blocks:
        numbers, lines = decode_lines(first, block, skips)
        del block
        lines.reverse()
        for number in numbers:
            yield number, lines.pop()


def _object(line: str | None) -> dict[str, Any] | None:
    try:
        record = json.loads(line or "")
    except (ValueError, RecursionError):
        if line is None or not (less := line.rstrip()).endswith("},"):
            return None
        return _object(less[:-1])
    return record if isinstance(record, dict) else None


def _begins_array(line: str) -> bool:
    """Whether a file that begins with this line is an array over its lines, and no lines of which one is an array."""
    if not line.lstrip().startswith("["):
        return False
    try:
        return any(isinstance(value, dict) for value in json.loads(line))
    except (ValueError, RecursionError):
        return True


def _name(value: object) -> str | None:
    """Return an id or a title as text; None for a value that cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def _json_bytes(record: dict[str, Any]) -> bytes:
    try:
        return compact_json(record).encode()
    except UnicodeEncodeError:
        # half of a surrogate pair can only be written as it was: escaped
        return json.dumps(record, separators=(",", ":")).encode()
