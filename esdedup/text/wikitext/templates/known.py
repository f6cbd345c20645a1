"""Read files that say what a reader sees of templates: the one of the package, and those of users."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from esdedup.errors import SettingsError
from esdedup.text.folded_names import fold
from esdedup.text.wikitext.templates.patterns import Pattern, parse

_FILE = Path(__file__).with_name("inline.toml")


@cache
def known_templates() -> Mapping[str, tuple[Pattern, ...]]:
    """Return the patterns of templates that are known in every wiki, by folded name."""
    return read_templates(_FILE)


def read_templates(path: Path) -> dict[str, tuple[Pattern, ...]]:
    """Read a TOML file of names and patterns, by folded name; tables group names. Raises `SettingsError`."""
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"templates {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"templates {path}: this is not TOML: {error}") from error
    templates: dict[str, tuple[Pattern, ...]] = {}
    _add(found, path, templates)
    return templates


def _add(group: Mapping[str, Any], path: Path, templates: dict[str, tuple[Pattern, ...]]) -> None:
    for name, value in group.items():
        if isinstance(value, dict):
            _add(value, path, templates)
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise SettingsError(f"templates {path}: {name} needs a pattern in quotes, or a list of them")
        try:
            templates[fold(name)] = tuple(map(parse, texts))
        except ValueError as error:
            raise SettingsError(f"templates {path}: {name}: {error}") from error
