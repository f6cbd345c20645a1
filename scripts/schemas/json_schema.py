"""JSON Schemas of declared classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from esdedup.clustering.linkages import LINKAGES
from esdedup.matching.protocol import MATCHERS, Scanning
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.signing import Signing
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.options import Option, Options, Registry
from scripts.schemas.declared_fields import declared, description

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", tuple: "array"}
CHOICES: dict[type, tuple[Registry[Any], ...]] = {Signing: (SIGNERS,), Scanning: (LINKAGES, VERIFIERS, MATCHERS)}


def schema_of(title: str, row: Any) -> Schema:
    """The schema of a file's lines, or of an answer, of this class."""
    definitions: dict[str, Schema] = {}
    whole = typed(row, definitions)
    if "$ref" in whole:
        whole = definitions.pop(whole["$ref"].rpartition("/")[2])
    return {"$schema": DRAFT, "title": title, **whole, **({"$defs": definitions} if definitions else {})}


def typed(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of a value. Those of classes go to the definitions."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return nullable([typed(part, definitions) for part in parts])
    if origin is Annotated:
        base, *marks = parts
        if isinstance(marks[0], type):
            return classed(marks, definitions)
        keywords = {name: list(value) if isinstance(value, tuple) else value for name, value in marks}
        return {**typed(base, definitions), **keywords}
    if origin is list:
        return {"type": "array", "items": typed(parts[0], definitions)}
    if origin is tuple:
        each = [typed(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": each, "items": False, "minItems": len(each)}
    if origin is dict:
        keys = typed(parts[0], definitions)
        names = {} if keys == {"type": "string"} else {"propertyNames": keys}
        return {"type": "object", **names, "additionalProperties": typed(parts[1], definitions)}
    return classed([hint], definitions) if is_dataclass(hint) else {"type": "null" if hint is NoneType else TYPES[hint]}


def nullable(schemas: list[Schema]) -> Schema:
    """The schema of a value that fits one of these; in short form if all of it is a type that may be null."""
    [*set_, last] = schemas
    if last == {"type": "null"} and len(set_) == 1 and "type" in set_[0] and "enum" not in set_[0]:
        return {**set_[0], "type": [set_[0]["type"], "null"]}
    return {"anyOf": schemas}


def classed(classes: list[type], definitions: dict[str, Schema]) -> Schema:
    """A reference to the definition of an object with the fields of these classes."""
    name = "".join(each.__name__ for each in classes)
    if name not in definitions:
        definitions[name] = {}  # in its place before what it refers to
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for each in classes:
            if issubclass(each, Options):
                properties |= dict(options(each))
                required += always_set(each)
                continue
            for field in declared(each):
                # settings are named as options
                named = field.name.replace("_", "-") if len(classes) > 1 else field.name
                properties[named] = {"description": field.meaning, **typed(field.type, definitions)}
                required += [named] if field.always else []
        own = [description(each) for each in classes if not issubclass(each, Options)]
        definitions[name] = {
            "description": own[0] if len(classes) == 1 else "Settings by the names of their options.",
            "type": "object", "properties": properties, "required": required, "additionalProperties": False,
        }  # fmt: skip
    return {"$ref": f"#/$defs/{name}"}


def options(group: type[Options]) -> Iterator[tuple[str, Schema]]:
    """The options of a group, and of all that can be chosen in it."""
    for option in group.declared():
        yield option.flag, of_options([option])
    for registry in CHOICES[group]:
        yield registry.option, {"type": "string", "enum": list(registry.names)}
        for several in registry.declared().values():
            yield several[0][1].flag, of_options([option for _, option in several])


def always_set(group: type[Options]) -> list[str]:
    """The options of a group that every list of settings has: those that do not belong to one implementation."""
    of_one = {name.replace("_", "-") for registry in CHOICES[group] for name in registry.option_names()}
    known = {flag for flag, _ in options(group)}
    return [flag for flag in group().described() if flag in known - of_one]


def of_options(several: list[Option]) -> Schema:
    """The schema of an option's value, which several implementations may declare."""
    schemas: list[Schema] = []
    for option in several:
        keywords = {
            "enum": list(option.choices) or None,
            "pattern": None if option.pattern is None else f"^(?:{option.pattern})$",
            "exclusiveMinimum" if option.above else "minimum": option.low,
            "exclusiveMaximum" if option.below else "maximum": option.high,
        }
        asked = {name: value for name, value in keywords.items() if value is not None}
        schemas.append({"description": option.help, "type": TYPES[option.type], **asked})
    different = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    return different[0] if len(different) == 1 else {"anyOf": different}
