"""Read files that say what a reader sees of templates: the one of the package, and those of users."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from esdedup.errors import SettingsError
from esdedup.text.folded_names import fold
from esdedup.text.wikitext.templates.patterns import Pattern, parse

KINDS = ("wikipedia", "wiktionary", "wikivoyage")
"""Kinds of wikis. Tables for one of them, or for `fr.wikipedia`, have names that mean something else elsewhere."""

_FILE = Path(__file__).with_name("inline.toml")


@cache
def known_templates(site: str) -> Mapping[str, tuple[Pattern, ...]]:
    """Return the patterns of the templates of a wiki such as `en.wikipedia`, by folded name: those that mean the same
    in every wiki, and those in the tables of its kind and of itself.
    """
    found = _read(_FILE)
    kind = site.rpartition(".")[2]
    tables = [{name: value for name, value in found.items() if not name.endswith(KINDS)}]
    tables += [found.get(name, {}) for name in (kind, site)]
    texts = {name: value for table in tables for name, value in _checked(table, str(_FILE)).items()}
    return {name: tuple(map(parse, patterns)) for name, patterns in texts.items()}


def read_templates(path: Path) -> dict[str, list[str]]:
    """Read a TOML file of names and patterns, by folded name; tables group names. Raises `SettingsError`."""
    return _checked(_read(path), str(path))


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"templates {path}: this is not TOML: {error}") from error
    except OSError as error:
        raise SettingsError(f"templates {path}: {error.strerror}") from error
    except ValueError as error:  # the path holds a null character
        raise SettingsError(f"templates {path}: {error}") from error


def saved_templates(given: str) -> str:
    """Return what a store saves of a user's file: its names and patterns as JSON. What was saved is returned as it is.

    Raises `SettingsError` for a file that cannot be read, and for a pattern that is wrong.
    """
    templates = load_templates(given) if given.startswith("{") else read_templates(Path(given))
    if not templates:
        raise SettingsError(f'templates {given}: there is no template in it; write lines like lang = "{{2}}"')
    return json.dumps(templates, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def load_templates(saved: str | None) -> dict[str, list[str]]:
    """Return the patterns in the text that `saved_templates` returned, by folded name."""
    if saved is None:
        return {}
    try:
        return _checked(json.loads(saved), "in the store")
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"templates in the store are damaged: {error}") from error


def _checked(found: Mapping[str, Any], where: str) -> dict[str, list[str]]:
    templates: dict[str, list[str]] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            templates.update(_checked(value, where))
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise SettingsError(f"templates {where}: {name} needs a pattern in quotes, or a list of them")
        try:
            for text in texts:
                parse(text)
        except ValueError as error:
            raise SettingsError(f"templates {where}: {name}: {error}") from error
        templates[fold(name)] = texts
    return templates
