"""All pairs at or above the threshold, at any cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning


@dataclass(frozen=True)
class AllPairs(Matcher):
    """The prefix-filtered join of all texts."""

    name = "exact"
    summary = "all pairs, nothing left to chance"
    verifiers = ("exact",)
    by_tokens = False
    counts_tokens = True
    runs_anywhere = True

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """Compare all texts that share one of their rarest shingles. Similar texts always do.

        A first pass over the texts counts shingles in a table of fixed size, and makes a sketch of each set, as wide as
        the memory allows. A second pass writes the postings of the prefixes. Texts with a common posting are compared
        in full, unless their sketches differ too much.
        """
        from esdedup.matching.engine import Found
        from esdedup.matching.exact.stages import Rarity, count_texts, meet_postings, post_prefixes
        from esdedup.matching.verify.verified import compare_listed

        texts = engine.collapse()

        def rarity() -> Rarity:
            return engine.survey(
                count_texts,
                context,
                lambda: Rarity.begin(texts, len(context.signer.kinds), engine.budget),
                Rarity.united,
            )

        engine.meet(post_prefixes, meet_postings, context, rarity)
        engine.compare_pairs(compare_listed, context)
        return Found(texts, None, None)

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Explain by the verifier only."""
        missed = scanning.missed(found)
        return f"not a pair: {missed}" if missed else f"a pair: {scanning.reached(found)}"
