"""Candidates by queries: for each record, the others that contain most of its terms (Pal 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher
from esdedup.papers.queries.query_options import QueryOptions

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning


@dataclass(frozen=True)
class Queries(QueryOptions, Matcher):
    """Queries for each record like a search engine. Unlike in the article, pairs may be verified, and be reciprocal."""

    name = "queries"
    summary = "best matches of each record, as by a search engine"
    verifiers = ("exact", "cosine", "words", "none")
    by_tokens = False
    counts_tokens = True
    runs_anywhere = False

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """See `esdedup.papers.queries.queries_scan`."""
        from esdedup.papers.queries.queries_scan import QueriesScan

        return QueriesScan(engine, context, self).find()

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Explain by the pairs of the last scan: the results of single queries are not stored."""
        if evidence.pair():
            best = f"one was among the {self.top} best matches of the other"
            return f"a pair: {best}, and {scanning.reached(found)}"
        if missed := scanning.missed(found):
            return f"not a pair: {missed}"
        reasons = [
            f"neither was among the {self.top} best matches of the other",
            "their first words differ" if self.same_first_word else "",
            scanning.verifier.doubted("shingles"),
            "one has a closer match" if self.reciprocal else "",
        ]
        return f"not a pair: {', or '.join(filter(None, reasons))}"
