"""Cleaners that turn wikitext into plain text: a protocol, its implementations by name, and what differs by wiki."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from esdedup.options import Implementations

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.text.wikitext.lookup import Tables
    from esdedup.text.wikitext.rules import Names

_KINDS = ("wikipedia", "wiktionary", "wikivoyage", "wikiquote", "wikisource", "wikinews", "wikibooks", "wikiversity")
_DATABASE = re.compile(rf"([a-z]{{2,3}}(?:_[a-z_]+)?|simple)(wiki|{'|'.join(_KINDS)})")
_ADDRESS = re.compile(rf"(?:https?:)?//([a-z-]+)\.(?:m\.)?({'|'.join(_KINDS)})\.org/")


def site(database: str, address: str) -> str:
    """Return the wiki with this database or main page as language and kind, such as `en.wikipedia`; "" for others."""
    found = _DATABASE.fullmatch(database) or _ADDRESS.match(address)
    if found is None:
        return ""
    return f"{found[1].replace('_', '-')}.{'wikipedia' if found[2] == 'wiki' else found[2]}"


class Cleaner(ABC):
    """Turns wikitext into plain text, for a wiki whose namespaces have these names."""

    tables: Tables | None = None
    """What the fast kernels know about the wiki, so that a page can be cut into blocks; None if pages are cleaned
    whole.
    """

    @abstractmethod
    def __init__(self, names: Names) -> None: ...

    @abstractmethod
    def clean_column(self, column: pa.LargeStringArray) -> tuple[list[str | None], list[tuple[int, str]]]:
        """Return the plain texts, and the row number and the reason for each text that cannot be parsed; its text is
        None.
        """

    def close(self) -> None:  # noqa: B027  (most hold nothing)
        """Release the cleaner's resources."""


CLEANERS: Implementations[Cleaner] = Implementations(
    "wikitext",
    {
        "fast": "esdedup.text.wikitext.fast:FastCleaner",
        "reference": "esdedup.text.wikitext.reference:ReferenceCleaner",
    },
)
