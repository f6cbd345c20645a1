"""The schemas of data that packages exchange."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

DOCUMENTS: pa.Schema = pa.schema(
    [
        ("id", pa.string()),  # as the source names it
        ("title", pa.string()),  # null if the source has none
        ("text", pa.large_string()),  # wikitext or plain text
        ("revision", pa.int64()),  # null if the source has none
        ("timestamp", pa.string()),  # ISO 8601 as in the source, or null
        ("contributor", pa.string()),  # name or address of the editor who saved the revision; null if hidden or unknown
        ("place", pa.int64()),  # number of the raw record in the source, from 1
    ]
)
"""One row for each document, or for each revision of a document; the rows of one id are adjacent.

`place` is the line (the first line of a CSV record), the row (Parquet), the page (dumps; skipped pages count, and all
revisions of a page share it), or 1 for a text file. It continues over the members of an archive.
"""


PLACES_KEPT = 5


@dataclass(slots=True)
class Skips:
    """What was skipped in one source: counts by reason, and at most five places for each."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, place: str | None = None, count: int = 1) -> None:
        """Count `count` more for `reason`, at `place` (a line, a page title, a byte position)."""
        self.counts[reason] = self.counts.get(reason, 0) + count
        if place is not None:
            kept = self.places.setdefault(reason, [])
            if len(kept) < PLACES_KEPT:
                kept.append(place)

    def include(self, other: Skips) -> None:
        """Add the counts of `other`, and its places as far as there is room."""
        for reason, count in other.counts.items():
            self.add(reason, count=count)
            for place in other.places.get(reason, []):
                self.add(reason, place, 0)
