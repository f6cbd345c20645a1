"""Who wrote a sentence first: sums along a tree of copies and edits."""

from __future__ import annotations

from typing import Any

from esdedup.analysis.editors import editor_kind


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
