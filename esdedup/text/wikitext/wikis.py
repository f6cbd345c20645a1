"""Which of Wikimedia's wikis a dump is from. What the name of a template means depends on it."""

from __future__ import annotations

import re

_KINDS = ("wikipedia", "wiktionary", "wikivoyage", "wikiquote", "wikisource", "wikinews", "wikibooks", "wikiversity")
_DATABASE = re.compile(rf"([a-z]{{2,3}}(?:_[a-z_]+)?|simple)(wiki|{'|'.join(_KINDS)})")
_ADDRESS = re.compile(rf"(?:https?:)?//([a-z-]+)\.(?:m\.)?({'|'.join(_KINDS)})\.org/")


def site(database: str, address: str) -> str:
    """Return the wiki with this database or main page as language and kind, such as `en.wikipedia`; "" for others."""
    found = _DATABASE.fullmatch(database) or _ADDRESS.match(address)
    if found is None:
        return ""
    return f"{found[1].replace('_', '-')}.{'wikipedia' if found[2] == 'wiki' else found[2]}"
