"""Candidates by tokens: texts whose signatures have a token in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher

if TYPE_CHECKING:
    from esdedup.matching.protocol import Evidence, Scan, ScanContext, Scanning


@dataclass(frozen=True)
class Tokens(Matcher):
    """The collision scan: what shares a token is verified."""

    name = "tokens"
    summary = "texts that share a signature token"
    verifiers = ("exact", "none")
    by_tokens = True
    counts_tokens = True

    def scan(self, context: ScanContext) -> Scan:
        """See `esdedup.matching.lsh.collider`."""
        from esdedup.matching.lsh.collider import Collider

        return Collider(context)

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """By the tokens that they share."""
        from esdedup.matching.lsh.collide import HOT_LIMIT

        similar = f"Jaccard {found['jaccard']:.3f}"
        if not found["shared_tokens"]:
            near = found["jaccard"] >= scanning.jaccard
            although = f", although {similar} reaches {scanning.jaccard}" if near else ""
            return f"not a pair: no token in common{although} (at this similarity {found['chance']:.1%} have one)"
        if missed := scanning.missed(found):
            return f"not a pair: candidates, but {missed}"
        if scanning.verifier.compares and evidence.all_hot():
            return (
                f"similar enough ({similar}), but a pair only if they are neighbors: each token they share is held by "
                f"more than {HOT_LIMIT:,} texts"
            )
        return f"a pair: they share tokens, and {scanning.reached(found)}"
