"""Who wrote a sentence first: kinds of editors, and sums along a tree of copies and edits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any


def descended(tree: dict[str, Any]) -> dict[str, Any]:
    """Add to a tree of `esdedup.store.results.Results.trees` what depends on the whole tree.

    Each member also gets the kind of its `editor`, its `depth` (0 for an original) and `errors`: the number of words
    edited since the original.
    """
    below: dict[str | None, list[dict[str, Any]]] = {}
    known = {member["id"] for member in tree["members"]}
    for member in tree["members"]:
        below.setdefault(member["parent"] if member["parent"] in known else None, []).append(member)
    by_id: dict[str, dict[str, Any]] = {}
    # in a store that esdedup did not make, ids may be repeated, and parents may form circles
    for first in (*below.get(None, []), *tree["members"]):
        left = [(first, 0, 0)]
        while left:
            member, depth, errors = left.pop()
            if member["id"] in by_id:
                continue
            jaccard = None if member["jaccard"] is None else round(member["jaccard"], 6)
            more = {"jaccard": jaccard, "editor": editor_kind(member["contributor"]), "depth": depth, "errors": errors}
            by_id[member["id"]] = member | more
            left += [(child, depth + 1, errors + (child["edits"] or 0)) for child in below.get(member["id"], [])]
    return tree | {"members": [by_id[member["id"]] for member in tree["members"]]}


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
