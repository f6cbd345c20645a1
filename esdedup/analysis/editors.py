"""Kinds of editors: registered, anonymous, bots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from ipaddress import ip_address

REGISTERED, ANONYMOUS, BOT, HIDDEN = EDITORS = ("registered", "anonymous", "bot", "hidden")

_BOT = re.compile(r"Bot(?![a-z])|(?i:(?<![a-z])bot(?![a-z])|bot\d*$)")
_NO_BOT = re.compile(r"(ab|ca|tal|tur)bot$", re.IGNORECASE)
"""Names of people that end like names of bots."""
_TEMPORARY = re.compile(r"~\d{4}-\d")
"""How wikis name anonymous people since 2024."""


def editor_kind(contributor: str | None) -> str:
    """Return the kind of an editor by name or address. A dump does not say who is a bot; only the name does."""
    if not contributor:
        return HIDDEN
    if _TEMPORARY.match(contributor) or _is_address(contributor):
        return ANONYMOUS
    return BOT if _BOT.search(contributor) and not _NO_BOT.search(contributor) else REGISTERED


def editors(counts: Mapping[str | None, int]) -> dict[str, int]:
    """Turn counts by contributor into counts by kind of editor."""
    kinds = Counter(dict.fromkeys(EDITORS, 0))
    for contributor, count in counts.items():
        kinds[editor_kind(contributor)] += count
    return dict(kinds)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.replace("xxx", "0"))  # early dumps hide the last part
    except ValueError:
        return False
    return True
