"""docs/files.md: what each file and each answer contains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from esdedup.files import compact_json
from esdedup.options import Options
from esdedup.output.contents import dedupe_answers
from esdedup.output.contents.json_schema import Field, declared
from esdedup.output.skips import WORDS
from scripts.files_page.contents import ANSWERS, FILES, Content
from scripts.files_page.examples import examples
from scripts.files_page.page_texts import ANSWERS_HEAD, FILES_HEAD, HEAD, OTHER_FILES, REASONS_HEAD

NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", NoneType: "null"}
PLURALS = {"text": "texts", "integer": "integers", "number": "numbers", "object": "objects"}


def page() -> str:
    """The page."""
    real = examples()
    described = ((each.title, each.written_by, _beginning(each.purpose)) for each in FILES)
    listed = _table(("file", "written by", "what it is for"), *described, *OTHER_FILES)
    reasons = _table(("reason", "meaning"), *((f"`{name}`", words) for name, words in WORDS.items()))
    parts = [HEAD, listed, REASONS_HEAD, reasons, FILES_HEAD]
    known: dict[type, str] = {}  # what has a section, and its link
    parts += [_section(each, real.get(each.name), known) for each in FILES]
    parts += [ANSWERS_HEAD]
    parts += [_section(each, real.get(each.name), known) for each in ANSWERS]
    return "\n\n".join(parts) + "\n"


def _beginning(text: str) -> str:
    """The first sentence."""
    return text.split(". ")[0].removesuffix(".") + "."


def _table(*rows: tuple[str, ...]) -> str:
    head, *below = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *below])


def _section(content: Content, example: Any, known: dict[type, str]) -> str:
    written = f"Written by {content.written_by}. " if content.written_by else ""
    parts = [f"### {content.title}", f"{written}{content.purpose} Class: {_class(content.row)}."]
    if content.row in known:
        return "\n\n".join([*parts, f"Fields and example: see {known[content.row]}."])
    seen = dict(known)
    rows = []
    for path, row in _objects(content.row, ""):
        base = next((each for each in row.__mro__[1:] if each in known), None)
        parts += [] if base is None else [f"It has the fields of {known[base]}, and these:"]
        rows += _fields(row, f"{path}." if path else "", seen, () if base is None else tuple(declared(base)))
        known[row] = f"[{content.title}](#{anchor_of(content.title)})"
    parts.append(_table(("field", "type", "meaning"), *rows))
    if example is not None:
        parts.append(f"```json\n{compact_json(example)}\n```")
    return "\n\n".join(parts)


def _class(row: Any) -> str:
    """The class, and its module; `Note` is one of two."""
    return f"`{getattr(row, '__name__', 'Note')}` in `{getattr(row, '__module__', dedupe_answers.__name__)}`"


def anchor_of(title: str) -> str:
    """The anchor that a heading gets in Markdown."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _fields(
    row: type, path: str, seen: dict[type, str], without: Sequence[Field] = ()
) -> Iterator[tuple[str, str, str]]:
    """A row for each field, and below an object one for each of its fields unless these were `seen`."""
    for field in declared(row):
        if field in without:
            continue
        inner = list(_objects(field.type, f"{path}{field.name}"))
        again = [f" Fields as in {seen[other]}." for _, other in inner if other in seen]
        words = _in_words(field.type) + ("" if field.always else ", optional")
        yield f"`{path}{field.name}`", words, "".join([field.meaning, *again])
        for below, other in inner:
            if other not in seen:
                seen[other] = f"`{below}`"
                yield from _fields(other, f"{below}.", seen)


def _objects(hint: Any, path: str) -> Iterator[tuple[str, type]]:
    """The classes of the objects in a value, and where they are. Settings are described elsewhere."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        if isinstance(parts[1], type) and not any(issubclass(each, Options) for each in parts[1:]):
            yield path, parts[1]
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _objects(part, path)
    elif origin is list:
        yield from _objects(parts[0], f"{path}[]")
    elif origin is dict:
        yield from _objects(parts[1], f"{path}.*" if path else path)
    elif isinstance(hint, type) and hint is not Any and hint not in NAMES and origin is None:
        yield path, hint


def _in_words(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_in_words(part) for part in parts))
    if origin is list:
        each = _in_words(parts[0])
        return f"list of {PLURALS[each]}" if each in PLURALS else f"list of: {each}"
    if origin is tuple:
        return f"list of {len(parts)}: {', '.join(_in_words(part) for part in parts)}"
    if origin is dict:
        return f"object: {_in_words(parts[1])} by name"
    if origin is Annotated:
        return _marked(*parts)
    return "value" if hint is Any else NAMES.get(hint, "object")


def _marked(base: Any, *marks: Any) -> str:
    """A type with what JSON Schema says beyond it."""
    if isinstance(marks[0], type):
        return "[settings](commands.md)" if any(issubclass(each, Options) for each in marks) else "object"
    limits = dict(marks)
    if "enum" in limits:
        return ", ".join(f"`{value}`" for value in limits["enum"])
    if "pattern" in limits:
        return "16 hexadecimal digits"
    return f"{NAMES[base]} from 0 to 1" if "maximum" in limits and "minimum" in limits else NAMES[base]
