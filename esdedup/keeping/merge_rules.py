"""One record for a cluster: each column takes the value that its rule makes of those of all copies."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import array_of, replace_surrogates
from esdedup.errors import UsageError
from esdedup.keeping.protocol import POLICIES, ColumnPolicy, Policy, TextPolicy, split_rules
from esdedup.keeping.ranking import sortable
from esdedup.options import Choice, Registry

if TYPE_CHECKING:
    from esdedup.columns.arrays import Flags, Numbers
    from esdedup.keeping.protocol import Keys


class Copies(NamedTuple):
    """Rows of whole clusters: the numbers of their clusters, from 0 in order, those of their sources, and values by
    column. In each cluster, the row that stays is the first.
    """

    cluster: Numbers
    source: Numbers
    columns: Mapping[str, Sequence[Any]]

    def has(self, column: str) -> Flags:
        """Return which rows have a value."""
        return np.array([value not in (None, "", []) for value in self.columns[column]], np.bool_)

    def starts(self) -> Numbers:
        """Return the first row of each cluster."""
        return np.flatnonzero(np.diff(self.cluster, prepend=-1))

    def each(self, column: str) -> Iterator[list[int]]:
        """Yield the rows of each cluster that have a value."""
        has, ends = self.has(column), np.append(self.starts(), len(self.cluster))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            yield [row for row in range(begin, end) if has[row]]


class Made(NamedTuple):
    """A value, and the rows that it comes from; none if no copy has one."""

    value: Any
    rows: Sequence[int]


@dataclass(frozen=True)
class Rule(Choice):
    """Makes one value of those of a cluster. `argument` is what follows its name and a colon."""

    argument: str = ""

    @property
    def words(self) -> str:
        """The rule as it is written."""
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @property
    def column(self) -> str:
        """The column that it looks at besides that which it makes a value of; empty for none."""
        return ""

    @abstractmethod
    def make(self, copies: Copies, column: str) -> list[Made]:
        """Return the value of each cluster."""


class _Picking(Rule):
    """Takes the value of one copy. Of equal ones, that of the row which stays, then of the preferred one."""

    @abstractmethod
    def keys(self, copies: Copies, column: str) -> Keys:
        """Return a key for each row; the lowest is taken."""

    def make(self, copies: Copies, column: str) -> list[Made]:
        keys, values = sortable(self.keys(copies, column)), copies.columns[column]
        order = np.lexsort((np.arange(len(keys)), keys, ~copies.has(column), copies.cluster))
        return [Made(values[row], [row]) for row in order[copies.starts()].tolist()]


@dataclass(frozen=True)
class ByPolicy(_Picking):
    """Takes the value of the copy that a policy of `keep` prefers, among those that have one."""

    policy: Policy | None = None

    @property
    def words(self) -> str:
        assert self.policy is not None
        return self.policy.words

    @property
    def column(self) -> str:
        assert self.policy is not None
        return self.policy.column

    def keys(self, copies: Copies, column: str) -> Keys:
        policy = self.policy
        if isinstance(policy, ColumnPolicy):
            return policy.keys(array_of(copies.columns[policy.column]))
        if isinstance(policy, TextPolicy):
            texts = [replace_surrogates("" if value is None else str(value)) for value in copies.columns[column]]
            return policy.text_keys(pa.array(texts, pa.large_string()), copies.cluster)
        return copies.source.astype(np.float64) if policy and policy.reads == "source" else np.zeros(len(copies.source))


class Most(_Picking):
    """Takes the value that most copies have."""

    name = "most"
    summary = "the value that most copies have"

    def keys(self, copies: Copies, column: str) -> Keys:
        written = np.array([_written(value) for value in copies.columns[column]], np.object_)
        _, number = np.unique(written.astype(str), return_inverse=True)
        both = copies.cluster * (number.max(initial=0) + 1) + number
        _, which, count = np.unique(both, return_inverse=True, return_counts=True)
        return -count[which].astype(np.float64)


class Join(Rule):
    """Joins all different values: lists to one list, texts with a sign between them."""

    name = "join"
    summary = "all different values"

    def make(self, copies: Copies, column: str) -> list[Made]:
        """As `Rule`. Raises `UsageError` for values that are neither texts nor lists."""
        return [_joined(copies.columns[column], rows, column, self.argument or "; ") for rows in copies.each(column)]


class Consensus(Rule):
    """Makes the text on which most copies agree, word by word. Where fewer than three have one, it takes the first."""

    name = "consensus"
    summary = "the words on which most copies agree"

    def make(self, copies: Copies, column: str) -> list[Made]:
        from esdedup.keeping.consensus import VOTERS, consensus

        made = []
        for rows in copies.each(column):
            texts = [copies.columns[column][row] for row in rows]
            if wrong := next((text for text in texts if not isinstance(text, str)), None):
                raise UsageError(f"merge: {column} has {_written(wrong)}, which is no text; use {column}=most")
            if len(rows) >= VOTERS:
                made.append(Made(consensus(texts), rows))
            else:
                made.append(Made(texts[0] if texts else None, rows[:1]))
        return made


RULES: Registry[Rule] = Registry(
    "merge",
    {
        "most": "esdedup.keeping.merge_rules:Most",
        "join": "esdedup.keeping.merge_rules:Join",
        "consensus": "esdedup.keeping.merge_rules:Consensus",
    },
)
"""Rules that are no policies."""


@dataclass(frozen=True)
class Rules:
    """The rules of a merge, by column. `parse` makes it."""

    by_column: Mapping[str, Rule]

    @classmethod
    def parse(cls, merge: str | Mapping[str, str]) -> Rules:
        """Return the rules that `split_rules` finds."""
        return cls({
            column: RULES[name](argument) if name in RULES.names else ByPolicy(policy=POLICIES[name](argument))
            for column, name, argument in split_rules(merge)
        })  # fmt: skip

    @property
    def words(self) -> str:
        """The rules as they are written."""
        return ",".join(f"{column}={rule.words}" for column, rule in self.by_column.items())

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        looked_at = [rule.column for rule in self.by_column.values() if rule.column]
        return list(dict.fromkeys([*self.by_column, *looked_at]))

    @property
    def policies(self) -> list[Policy]:
        """The policies among the rules."""
        return [rule.policy for rule in self.by_column.values() if isinstance(rule, ByPolicy) and rule.policy]

    def apply(self, copies: Copies) -> Iterator[tuple[int, dict[str, Any], dict[int, list[str]]]]:
        """Yield for each cluster that changes its first row, the new values of this, and which columns other rows gave
        something to.
        """
        made = {column: rule.make(copies, column) for column, rule in self.by_column.items()}
        for number, row in enumerate(copies.starts().tolist()):
            values: dict[str, Any] = {}
            gave: dict[int, list[str]] = {}
            for column, each in made.items():
                value = each[number].value
                if value is None or _written(value) == _written(copies.columns[column][row]):
                    continue
                values[column] = value
                for giver in each[number].rows:
                    if giver != row:
                        gave.setdefault(giver, []).append(column)
            if values:
                yield row, values, gave


def _joined(values: Sequence[Any], rows: Sequence[int], column: str, between: str) -> Made:
    found: dict[str, tuple[Any, int]] = {}
    lists = [isinstance(values[row], list) for row in rows]
    if any(lists) and not all(lists):
        raise UsageError(f"merge: {column} has lists and other values, which cannot be joined; use {column}=most")
    for row, is_list in zip(rows, lists, strict=True):
        for value in values[row] if is_list else [values[row]]:
            if not is_list and not isinstance(value, str):
                raise UsageError(
                    f"merge: {column} has {_written(value)}, and only texts and lists can be joined; use {column}=most"
                )
            found.setdefault(_written(value), (value, row))
    each = [value for value, _ in found.values()]
    givers = list(dict.fromkeys(row for _, row in found.values()))
    return Made((each if any(lists) else between.join(each)) if each else None, givers)


def _written(value: Any) -> str:
    """Return a value in the form in which equal ones are equal."""
    return json.dumps(value, sort_keys=True, default=str)
