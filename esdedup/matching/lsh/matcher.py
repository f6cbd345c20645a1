"""Candidates by tokens: texts whose signatures share a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher
from esdedup.plurals import plural

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning


@dataclass(frozen=True)
class Tokens(Matcher):
    """The collision scan: texts that share a token are verified."""

    name = "tokens"
    summary = "texts that share a signature token"
    verifiers = ("exact", "none")
    by_tokens = True
    counts_tokens = True
    runs_anywhere = True

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """Group the texts by token, and compare the texts of each group."""
        from esdedup.matching.engine import Found, GroupComparison
        from esdedup.matching.lsh import collide
        from esdedup.matching.lsh.block import compare_collisions, sift_collisions, sketch_texts
        from esdedup.matching.verify.verified import compare_listed

        texts = engine.collapse()
        collisions = engine.collide(collide.HOT_LIMIT)
        functions = GroupComparison(compare_collisions, sketch_texts, sift_collisions, compare_listed)
        candidates = engine.compare_groups(functions, context.with_hot(collisions.hot))
        places = [f"token {token} is held by {plural(count, 'text')}" for token, count in collisions.hot]
        return Found(texts, collisions.tokens, candidates, len(places), places[:5])

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Explain by the shared tokens."""
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
