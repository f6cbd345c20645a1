"""The result of `dedupe` for a table in memory."""

from __future__ import annotations

from functools import cached_property
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from esdedup.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.jobs.table_drops import ComparedTable, Drops

T = TypeVar("T")

_SHOWN = 10
_CELL = 80


class Deduplicated(Generic[T]):
    """A table without its duplicates.

    `kept` is of the kind that came in. `records` counts rows: `in`, `kept`, `dropped` by reason, and `not_compared` by
    reason; rows that were not compared are kept. `threshold` is the lowest Jaccard similarity of a pair.
    """

    def __init__(self, source: ComparedTable, threshold: float | None = None) -> None:
        self._source = source
        self.threshold = source.threshold if threshold is None else threshold

    @cached_property
    def _drops(self) -> Drops:
        from esdedup.jobs.table_drops import decide

        source = self._source
        contradict = source.contradict if source.keep_contradictions else None
        return decide(
            source.compared, source.keep, self.threshold, source.containing, source.holds, source.only, contradict
        )

    @cached_property
    def kept(self) -> T:
        """The rows that stay, in their order."""
        import numpy as np

        stays = np.ones(len(self._source.texts), np.bool_)
        stays[self._drops.row] = False
        rows = np.flatnonzero(stays)
        found: T = self._source.table.take(rows.tolist())
        places = dict(zip(rows.tolist(), range(len(rows)), strict=True)) if self._merged[0] else {}
        changes: dict[str, dict[int, Any]] = {}
        for row, values in self._merged[0].items():
            for column, value in values.items():
                changes.setdefault(column, {})[places[row]] = value
        for column, each in changes.items():
            found = self._source.table.with_values(found, column, each)
        return found

    @cached_property
    def _merged(self) -> tuple[dict[int, dict[str, Any]], dict[int, list[str]]]:
        return self._source.merged(self._drops)

    @property
    def merged(self) -> int:
        """How many of the rows that stay got a value of another one, by `merge`."""
        return len(self._merged[0])

    @cached_property
    def dropped(self) -> list[dict[str, Any]]:
        """The dropped rows: `id`, `cluster`, the id that is `kept`, `reason` and `jaccard`; the policy `by` which it
        lost, with what that compared of both, as in `score` and `kept_score`; for texts in a reference also `reference`
        and `reference_text`, for contained texts the `share` of their shingles, and with keep="none" `other`, the id of
        the row that it resembles most.
        """
        source, drops = self._source, self._drops
        columns = (drops.row, drops.kept, drops.other, drops.reference, drops.jaccard, drops.share, drops.cluster)
        found = []
        for reason, by, row, kept, other, reference, jaccard, share, cluster in zip(
            drops.reason, drops.by, *(column.tolist() for column in columns), strict=True
        ):
            dropped = {
                "id": source.ids[row],
                "cluster": f"{cluster:016x}",
                "kept": None if kept < 0 else source.ids[kept],
                "reason": reason,
                "jaccard": None if isnan(jaccard) else round(jaccard, 6),
                **by,
            }
            if gave := self._merged[1].get(row):
                dropped["gave"] = gave
            if other >= 0:
                dropped["other"] = source.ids[other]
            if reference >= 0:
                dropped |= {"reference": source.old_ids[reference], "reference_text": source.old_texts[reference]}
            if not isnan(share):
                dropped["share"] = round(share, 6)
            found.append(dropped)
        return found

    @cached_property
    def records(self) -> dict[str, Any]:
        """The counts of rows."""
        from esdedup.output.drops import REASONS

        total = len(self._source.texts)
        dropped = {reason: self._drops.reason.count(reason) for reason in REASONS}
        kept = total - len(self._drops.row)
        return {"in": total, "kept": kept, "dropped": dropped, "not_compared": self._source.not_compared}

    @property
    def no_value(self) -> dict[str, int]:
        """By column: how many rows of clusters have no value that a policy of `keep` can compare. They lose."""
        return self._drops.no_value

    @cached_property
    def clusters(self) -> list[dict[str, Any]]:
        """Clusters of two or more rows, the largest first: `id`, `size`, `distinct` texts, and the ids of `members`."""
        source, of = self._source, self._drops.cluster_of
        members: dict[int, list[int]] = {}
        for place, cluster in enumerate(of.tolist()):
            if cluster >= 0:
                members.setdefault(cluster, []).append(place)
        compared = source.compared
        found = [
            {
                "id": f"{int(compared.hash[cluster]):016x}",
                "size": len(places),
                "distinct": len({int(compared.text[place]) for place in places}),
                "members": [source.ids[int(compared.row[place])] for place in places],
            }
            for cluster, places in members.items()
            if len(places) > 1
        ]
        return sorted(found, key=lambda cluster: (-cluster["size"], cluster["id"]))

    @cached_property
    def pairs(self) -> pa.Table:
        """The pairs of distinct texts, as an Arrow table: `a`, `b` (ids of their first rows) and `jaccard`."""
        import numpy as np
        import pyarrow as pa

        compared, ids = self._source.compared, self._source.ids
        strong = compared.jaccard >= self.threshold
        first = np.full(len(compared.hash), len(compared.row))
        np.minimum.at(first, compared.text, np.arange(len(compared.row)))
        ends = np.sort(np.stack([first[compared.a[strong]], first[compared.b[strong]]]), axis=0)
        order = np.lexsort(ends[::-1])
        rows = compared.row[ends[:, order]]
        named = [[ids[row] for row in end.tolist()] for end in rows]
        return pa.table({"a": named[0], "b": named[1], "jaccard": compared.jaccard[strong][order]})

    def certificate(self) -> dict[str, Any]:
        """Return what became of each row, and what was lost, as JSON: the fields are those of `dedupe --certificate`,
        with the `rows` inside, and texts instead of files.
        """
        from esdedup.jobs.table_certifying import table_certificate

        return table_certificate(self._source, self._drops, self.dropped, self.records, self.threshold, self._merged[0])

    def rethreshold(self, jaccard: float) -> Deduplicated[T]:
        """Return the result for a higher threshold, without comparing again.

        Raises `UsageError` for a lower one than that of the comparison, or if something else than Jaccard decided.
        """
        least = self._source.threshold
        if not least:
            raise UsageError("something else than jaccard decided which rows match; call dedupe again")
        if not least <= jaccard <= 1:
            raise UsageError(
                f"the rows were compared with jaccard {least:g}; rethreshold takes {least:g} to 1, "
                f"not {jaccard:g}: for a lower one, call dedupe again"
            )
        return Deduplicated(self._source, jaccard)

    def __repr__(self) -> str:
        from esdedup.output.record_counts import in_words

        least = f"jaccard {self.threshold:g}: " if self.threshold else ""
        return f"Deduplicated({least}{in_words(self.records, 'record')})"

    def _repr_html_(self) -> str:
        from esdedup.output.record_counts import in_words

        def text(row: int) -> str | None:
            found: str | None = self._source.texts[row].as_py() if row >= 0 else None
            return found

        drops = self._drops
        rows = "".join(
            f"<tr><td>{escape(shown['reason'])}</td><td>{_number(shown)}</td><td>{_cell(text(row))}</td>"
            f"<td>{_cell(shown.get('reference_text') or text(kept))}</td></tr>"
            for shown, row, kept in zip(
                self.dropped[:_SHOWN], drops.row[:_SHOWN].tolist(), drops.kept[:_SHOWN].tolist(), strict=True
            )
        )
        more = len(self.dropped) - _SHOWN
        rest = f"<p>… {more:,} more</p>" if more > 0 else ""
        head = "<tr><th>reason</th><th>Jaccard or share</th><th>dropped</th><th>kept</th></tr>"
        table = f"<table>{head}{rows}</table>{rest}" if rows else ""
        return f"<p>{escape(in_words(self.records, 'record'))}</p>{table}"


def _number(row: dict[str, Any]) -> str:
    measured = row.get("share", row["jaccard"])
    return "–" if measured is None else f"{measured:.3f}"


def _cell(text: str | None) -> str:
    short = text or ""
    return escape(short if len(short) <= _CELL else short[: _CELL - 1] + "…")
