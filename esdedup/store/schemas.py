"""The one accessor of `mappings/`, where every schema lives; and whether a store was made with what is asked for."""

from __future__ import annotations

from pathlib import Path

from esdedup.errors import StoreSettingsError, StoreVersionError
from esdedup.matching.signing import HASH_SCHEME, Signing

SCHEMA_VERSION = 4


def mapping_text(name: str) -> str:
    """The text of `mappings/NAME`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "mappings" / name
    return (inside if inside.exists() else package.parent / "mappings" / name).read_text("utf-8")


def check_readable(address: str, version: int, scheme: int) -> None:
    """`StoreVersionError` for a schema or tokens that this version does not read."""
    again = "index again with --fresh"
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{address}: written with schema {version}, this esdedup reads up to {SCHEMA_VERSION}; upgrade it"
        )
    if version < SCHEMA_VERSION:
        raise StoreVersionError(f"{address}: written with schema {version}, this is {SCHEMA_VERSION}; {again}")
    if scheme != HASH_SCHEME:
        raise StoreVersionError(
            f"{address}: tokens of hash scheme {scheme}, this esdedup makes scheme {HASH_SCHEME}; {again}"
        )


def check_same(address: str, stored: Signing, asked: Signing) -> None:
    """`StoreSettingsError`, naming both values, where the signing settings differ."""
    ours, theirs = asked.described(), stored.described()
    for name in [*ours, *theirs]:
        if ours.get(name) != theirs.get(name):
            raise StoreSettingsError(
                f"{address}: the store has {name} {theirs.get(name, 'unset')}, you ask for {ours.get(name, 'unset')}; "
                "leave the option out, name another --store, or begin again with --fresh"
            )
