"""Link records of tables in memory, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from esdedup.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.columns.arrays import Numbers
    from esdedup.matching.records.matching import Matched


class Linked:
    """Records that are the same. `threshold` is the probability from which on two are taken to be."""

    def __init__(self, matched: Matched, ids: list[Any], first_right: int | None) -> None:
        self._matched = matched
        self._ids = ids
        self._first_right = first_right
        self.threshold = matched.threshold

    @property
    def kinds(self) -> dict[str, str]:
        """What each column was taken for: the `kinds` of `link`."""
        return self._matched.kinds

    @property
    def paired(self) -> dict[str, str]:
        """The columns of the right table by those of the left one that mean the same."""
        return self._matched.paired

    @property
    def recall(self) -> float:
        """Which share of the same records is estimated to be among the candidates."""
        return self._matched.recall

    @cached_property
    def pairs(self) -> pa.Table:
        """The pairs as an Arrow table, likeliest first: ids `a` and `b` (of two tables: of the left and the right one),
        and `probability`.
        """
        found = self._matched
        return self._named(found.pairs[np.argsort(-found.probability[found.pairs], kind="stable")])

    def _named(self, chosen: Numbers) -> pa.Table:
        import pyarrow as pa

        found = self._matched
        ends = [[self._ids[row] for row in end[chosen].tolist()] for end in (found.a, found.b)]
        return pa.table({"a": ends[0], "b": ends[1], "probability": found.probability[chosen]})

    @cached_property
    def candidates(self) -> pa.Table:
        """All pairs that were compared, as `pairs`, in the order of the rows."""
        return self._named(np.arange(len(self._matched.a)))

    @property
    def groups(self) -> list[list[Any]]:
        """The ids of the records of each thing that has several, the largest group first."""
        from esdedup.clustering.clusters import find_roots
        from esdedup.clustering.linkages import LINKAGES

        found = self._matched
        ends = (found.a[found.pairs], found.b[found.pairs])
        single = LINKAGES.make("single", {})
        label = find_roots(len(self._ids), *ends, found.probability[found.pairs], single)
        rows = np.argsort(label, kind="stable")
        parts = np.split(rows, np.flatnonzero(np.diff(label[rows])) + 1)
        return sorted(([self._ids[row] for row in part.tolist()] for part in parts if len(part) > 1), key=len)[::-1]

    def explain(self, a: Any, b: Any) -> list[dict[str, Any]]:
        """Return what speaks for and against two records being the same: the `field`, its values in `a` and `b`, how
        alike they are (`level`), and the `weight`: a logarithm to the base of 2, so that 1 doubles the odds. The first
        row is what the odds are without a look at them, the last one the `probability`.

        Raises `UsageError` for an id that is not there, and for records that were not compared.
        """
        from esdedup.matching.records.two_records import waterfall

        one, two = (self._row(each, right) for each, right in ((a, False), (b, True)))
        found = self._matched
        place = np.flatnonzero((found.a == min(one, two)) & (found.b == max(one, two)))
        if not len(place):
            raise UsageError(f"{a!r} and {b!r} share too little to be compared")
        pair = int(place[0])
        rows = waterfall(found.fields, found.weights, found.levels[pair], float(found.rarity[pair]), one, two)
        return [*rows, {"probability": float(found.probability[pair])}]

    def _row(self, identity: Any, right: bool) -> int:
        begin = self._first_right if right and self._first_right is not None else 0
        end = len(self._ids) if right or self._first_right is None else self._first_right
        try:
            return self._ids.index(identity, begin, end)
        except ValueError:
            raise UsageError(f"no record {identity!r}; name an id of the table") from None

    def __repr__(self) -> str:
        found = len(self._matched.pairs)
        return f"Linked({found:,} pairs of {len(self._ids):,} records; fields: {', '.join(self.kinds)})"


def link(
    left: Any, right: Any = None, *, id_column: str | None = None, kinds: Mapping[str, str] | None = None,
    paired: Mapping[str, str] | None = None, known: Iterable[tuple[Any, Any, bool]] = (),
    min_probability: float | None = None,
) -> Linked:  # fmt: skip
    """Find the records of a table that are the same, or those of two tables, field by field. Nothing need be named.

    All columns but the ids are compared, those of two tables by their names. How much each agreement says is learned
    from the tables themselves, without labels (Fellegi and Sunter, 1969). With two tables, neither should have
    duplicates of its own: a record gets one partner at most.

    Args:
        left: A table: of pandas, polars or Arrow, a dict of columns, or a list of dicts.
        right: The second one.
        id_column: The column of ids. Default: `id`, else the numbers of the rows, from 0.
        kinds: Kinds of columns by name, where they are guessed wrong: name, date, number, code, phone, email, address,
            text, category.
        paired: Columns of the right table by those of the left one that mean the same. Others are found by their names
            and values.
        known: Pairs that a person has judged: id, id, and whether they are the same. What is learned fits them.
        min_probability: Least probability of a pair. Default: that of the highest expected F1.

    Returns:
        The pairs with their probabilities, the groups, and what speaks for and against a pair.

    Raises:
        UsageError: There is no column to compare, or a kind is unknown.

    Example:
        >>> import esdedup
        >>> rows = [{"name": "Ann Lee", "born": "1971-06-24"}, {"name": "Anne Lee", "born": "1971-06-24"}]
        >>> esdedup.link(rows).kinds
        {'name': 'name', 'born': 'date'}
    """
    from esdedup.matching.records.matching import match_records
    from esdedup.matching.records.record_tables import columns_of, known_rows

    columns, ids, first_right = columns_of([left] if right is None else [left, right], id_column, kinds or {})
    matched = match_records(
        columns, first_right, kinds or {}, paired=paired, known=known_rows(known, ids, first_right),
        threshold=min_probability,
    )  # fmt: skip
    return Linked(matched, ids, first_right)
