"""Reads the declarations in esdedup/output/contents: names, types and meanings of fields."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple, get_type_hints

from esdedup.output.contents.field_types import MISSING


class Field(NamedTuple):
    """A field of a JSON object. `always`: whether every object has it."""

    name: str
    type: Any
    meaning: str
    always: bool


def declared(row: type) -> Iterator[Field]:
    """The fields of a class, those of its base classes first."""
    types = get_type_hints(row, include_extras=True)
    meanings: dict[str, str] = {}
    for base in reversed(row.__mro__[:-1]):
        meanings |= sentences(base)
    for field in fields(row):
        always = field.default is not MISSING
        yield Field(field.name.removesuffix("_"), types[field.name], meanings[field.name], always)


@cache
def sentences(row: type) -> dict[str, str]:
    """The texts below the fields of a class."""
    [found] = ast.parse(inspect.getsource(row)).body
    assert isinstance(found, ast.ClassDef)
    texts = {}
    for field, text in zip(found.body, found.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = " ".join(words.split())
    return texts


def description(row: type) -> str:
    """What a class says of itself."""
    return " ".join(str(row.__doc__).split())
