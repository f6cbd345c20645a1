"""JSON Schemas of what files and answers contain, made from their classes.

>>> from esdedup.output.contents.comparisons import Pair
>>> from esdedup.output.contents.json_schema import schema_of
>>> schema_of(Pair)["title"]
'Pair'
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from esdedup.clustering.linkages import LINKAGES
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import Signing
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import Option, Options, Registry
from esdedup.output.contents.field_types import MISSING

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", tuple: "array"}
_CHOICES: dict[type, tuple[Registry[Any], ...]] = {Signing: (SIGNERS,), Scanning: (LINKAGES, VERIFIERS, MATCHERS)}


def schema_of(row: Any) -> Schema:
    """Return the JSON Schema (draft 2020-12) of one JSON value: of an answer, or of a line of a file.

    `row` is a class of `esdedup.output.contents`, or a type of several, such as `Note`.
    """
    definitions: dict[str, Schema] = {}
    whole = _typed(row, definitions)
    if "$ref" in whole:
        whole = definitions.pop(whole["$ref"].rpartition("/")[2])
    titled = {"title": row.__name__} if isinstance(row, type) else {}
    return {"$schema": _DRAFT, **titled, **whole, **({"$defs": definitions} if definitions else {})}


def _typed(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a value. Those of classes go to the definitions."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _nullable([_typed(part, definitions) for part in parts])
    if origin is Annotated:
        base, *marks = parts
        if isinstance(marks[0], type):
            return _classed(marks, definitions)
        keywords = {name: list(value) if isinstance(value, tuple) else value for name, value in marks}
        return {**_typed(base, definitions), **keywords}
    if origin is list:
        return {"type": "array", "items": _typed(parts[0], definitions)}
    if origin is tuple:
        each = [_typed(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": each, "items": False, "minItems": len(each)}
    if origin is dict:
        keys = _typed(parts[0], definitions)
        names = {} if keys == {"type": "string"} else {"propertyNames": keys}
        return {"type": "object", **names, "additionalProperties": _typed(parts[1], definitions)}
    if isinstance(hint, type) and is_dataclass(hint):
        return _classed([hint], definitions)
    if hint is Any:
        return {}
    return {"type": "null" if hint is NoneType else _TYPES[hint]}


def _nullable(schemas: list[Schema]) -> Schema:
    """Return the schema of a value that fits one of these; in short form if all of it is a type that may be null."""
    [*set_, last] = schemas
    if last == {"type": "null"} and len(set_) == 1 and "type" in set_[0] and "enum" not in set_[0]:
        return {**set_[0], "type": [set_[0]["type"], "null"]}
    return {"anyOf": schemas}


def _classed(classes: list[type], definitions: dict[str, Schema]) -> Schema:
    """Return a reference to the definition of an object with the fields of these classes."""
    name = "".join(each.__name__ for each in classes)
    if name not in definitions:
        definitions[name] = {}  # in its place before what it refers to
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for each in classes:
            if issubclass(each, Options):
                properties |= dict(_options(each))
                required += _always_set(each)
                continue
            for field in declared(each):
                # settings are named as options
                named = field.name.replace("_", "-") if len(classes) > 1 else field.name
                properties[named] = {"description": field.meaning, **_typed(field.type, definitions)}
                required += [named] if field.always else []
        own = [_description(each) for each in classes if not issubclass(each, Options)]
        definitions[name] = {
            "description": own[0] if len(classes) == 1 else "Settings by the names of their options.",
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": any(getattr(each, "_open", False) for each in classes),
        }  # fmt: skip
    return {"$ref": f"#/$defs/{name}"}


def _options(group: type[Options]) -> Iterator[tuple[str, Schema]]:
    """Yield the options of a group, and of all that can be chosen in it."""
    for option in group.declared():
        yield option.flag, _of_options([option])
    for registry in _CHOICES[group]:
        yield registry.option, {"type": "string", "enum": list(registry.names)}
        for several in registry.declared().values():
            yield several[0][1].flag, _of_options([option for _, option in several])


def _always_set(group: type[Options]) -> list[str]:
    """Return the options of a group that every list of settings has: those that do not belong to one implementation."""
    of_one = {name.replace("_", "-") for registry in _CHOICES[group] for name in registry.option_names()}
    known = {flag for flag, _ in _options(group)}
    return [flag for flag in group().described() if flag in known - of_one]


def _of_options(several: list[Option]) -> Schema:
    """Return the schema of an option's value, which several implementations may declare."""
    schemas: list[Schema] = []
    for option in several:
        keywords = {
            "enum": list(option.choices) or None,
            "pattern": None if option.pattern is None else f"^(?:{option.pattern})$",
            "exclusiveMinimum" if option.above else "minimum": option.low,
            "exclusiveMaximum" if option.below else "maximum": option.high,
        }
        asked = {name: value for name, value in keywords.items() if value is not None}
        schemas.append({"description": option.help, "type": _TYPES[option.type], **asked})
    different = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    return different[0] if len(different) == 1 else {"anyOf": different}


class Field(NamedTuple):
    """A field of a JSON object. `always`: whether every object has it."""

    name: str
    type: Any
    meaning: str
    always: bool


def declared(row: type) -> Iterator[Field]:
    """Yield the fields of a class, those of its base classes first."""
    types = get_type_hints(row, include_extras=True)
    meanings: dict[str, str] = {}
    for base in reversed(row.__mro__[:-1]):
        meanings |= _sentences(base)
    for field in fields(row):
        always = field.default is not MISSING
        yield Field(field.name.removesuffix("_"), types[field.name], meanings[field.name], always)


@cache
def _sentences(row: type) -> dict[str, str]:
    """Return the texts below the fields of a class."""
    [found] = ast.parse(inspect.getsource(row)).body
    assert isinstance(found, ast.ClassDef)
    texts = {}
    for field, text in zip(found.body, found.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = " ".join(words.split())
    return texts


def _description(row: type) -> str:
    """Return what a class says of itself."""
    return " ".join(str(row.__doc__).split())
