"""Who said it first: what is added up along a tree of copies and edits."""

from __future__ import annotations

from typing import Any

from esdedup.analysis.editors import editor_kind


def descended(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree as `esdedup.store.results.Results.trees` has it, with what only the whole tells.

    Of each member also the kind of its `editor`, its `depth` (0 for what came from nowhere) and `errors`: the words
    edited on the way from there.
    """
    below: dict[str | None, list[dict[str, Any]]] = {}
    known = {member["id"] for member in tree["members"]}
    for member in tree["members"]:
        below.setdefault(member["parent"] if member["parent"] in known else None, []).append(member)
    by_id: dict[str, dict[str, Any]] = {}
    left = [(member, 0, 0) for member in below.get(None, [])]
    while left:
        member, depth, errors = left.pop()
        jaccard = None if member["jaccard"] is None else round(member["jaccard"], 6)
        more = {"jaccard": jaccard, "editor": editor_kind(member["contributor"]), "depth": depth, "errors": errors}
        by_id[member["id"]] = member | more
        left += [(child, depth + 1, errors + (child["edits"] or 0)) for child in below.get(member["id"], [])]
    return tree | {"members": [by_id[member["id"]] for member in tree["members"]]}
