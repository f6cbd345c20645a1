"""The protocol of a policy, and lists of policies: the next one decides a draw, the reading order the last.

A policy gives each copy a key, and the lowest key stays. Keys are numbers, so that many copies are ranked at once. A
copy without a key (not a number) loses to one that has one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from esdedup.errors import UsageError
from esdedup.options import Choice, Registry, shown_value

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from esdedup.columns.arrays import Numbers

    Keys: TypeAlias = npt.NDArray[np.float64]
    """One key for each copy, not a number where there is none."""

NONE = "none"
FIRST = "first"
CLEAN = "clean"


@dataclass(frozen=True)
class Policy(Choice):
    """Prefers one of two copies. `argument` is what follows its name and a colon."""

    argument: str = ""

    reads: ClassVar[str] = "order"
    """What keys are made from: `order` of the input, `source`, `text` or `column`."""

    @property
    def column(self) -> str:
        """The column whose values it compares; empty if it compares none."""
        return ""

    @property
    def words(self) -> str:
        """The policy as it is written."""
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @property
    def measure(self) -> str:
        """What a dropped row calls the value that decided; empty if there is none to tell."""
        return self.column

    @abstractmethod
    def shown(self, key: float) -> Any:
        """Return the value that a key stands for, as JSON; None for a key that is missing."""


TAKEN = (
    "id", "source", "cluster", "kept", "reason", "jaccard", "by", "other", "reference", "reference_text", "share",
    "gave", "file", "place", "position", "lost", "other_values",
)  # fmt: skip
"""What a dropped row says of itself: a column of such a name is told under another one."""


class ColumnPolicy(Policy):
    """Compares the values of a column."""

    reads = "column"

    @property
    def column(self) -> str:
        return self.argument

    @property
    def measure(self) -> str:
        return f"{self.column}_value" if self.column in TAKEN else self.column

    @abstractmethod
    def keys(self, values: pa.Array) -> Keys:
        """Return the keys of values of any type."""


class TextPolicy(Policy):
    """Compares texts."""

    reads = "text"

    @abstractmethod
    def text_keys(self, texts: pa.LargeStringArray, groups: Numbers) -> Keys:
        """Return the keys of distinct texts. Those of one of the `groups` (n,) resemble each other."""


POLICIES: Registry[Policy] = Registry(
    "keep",
    {
        FIRST: "esdedup.keeping.simple:First",
        "longest": "esdedup.keeping.simple:Longest",
        NONE: "esdedup.keeping.simple:Nothing",
        CLEAN: "esdedup.keeping.clean:Clean",
        "newest": "esdedup.keeping.columns:Newest",
        "oldest": "esdedup.keeping.columns:Oldest",
        "best": "esdedup.keeping.columns:Best",
        "lowest": "esdedup.keeping.columns:Lowest",
        "prefer": "esdedup.keeping.columns:Prefer",
        "source-order": "esdedup.keeping.simple:SourceOrder",
    },
)


_FORMS = {
    FIRST: "", "longest": "", NONE: "", "clean": "", "newest": "COLUMN", "oldest": "COLUMN", "best": "COLUMN",
    "lowest": "COLUMN", "prefer": "COLUMN=A,B", "source-order": "",
}  # fmt: skip
"""What follows the name of a policy, and a colon."""


def split_policies(text: str | Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and arguments of a list of policies, whose items are parted by commas. Values of `prefer` are,
    too: what follows one of them, and is no policy, is another value. Nothing is imported.

    Raises `UsageError` for what is no policy.
    """
    forms = [f"{name}:{form}" if form else name for name, form in _FORMS.items()]
    parts: list[Any] = [text] if isinstance(text, str) or not isinstance(text, Iterable) else list(text)
    if not all(isinstance(part, str) for part in parts):
        raise UsageError(f"keep is {shown_value(text)}; allowed: {', '.join(forms)}")
    items: list[str] = []
    for item in ",".join(parts).split(","):
        if items and items[-1].startswith("prefer:") and item.partition(":")[0].strip() not in _FORMS:
            items[-1] += f",{item}"
        else:
            items.append(item.strip())
    found = []
    for item in items:
        name, _, argument = item.partition(":")
        if name not in _FORMS:
            raise UsageError(f"keep is {shown_value(item)}; allowed: {', '.join(forms)}")
        form, (column, sign, values) = _FORMS[name], argument.partition("=")
        listed = all(value.strip() for value in values.split(","))
        if bool(argument) != bool(form) or ("=" in form and not (column and sign and listed)):
            raise UsageError(f"keep: {item!r} is not a policy; give {forms[list(_FORMS).index(name)]}")
        found.append((name, argument))
    if NONE in dict(found) and len(found) > 1:
        raise UsageError("keep: none keeps nothing, and leaves no draw to decide; give it alone")
    if again := next((item for place, item in enumerate(items) if item in items[:place]), None):
        raise UsageError(f"keep: {again} is there twice; omit one")
    return found


_RULES = ("most", "join", "consensus")
"""Rules of `merge` that are no policies: see `esdedup.keeping.merge_rules`."""


def split_rules(merge: str | Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return column, name and argument of each rule of `merge`, as `split_policies`. What is parted by a comma from a
    list of `prefer`, and has no equals sign, belongs to it.

    Raises `UsageError` for what is no rule.
    """
    pairs: list[list[str]] = []
    if isinstance(merge, str):
        for item in merge.split(","):
            column, sign, rule = item.partition("=")
            if not sign and pairs and pairs[-1][1].startswith("prefer:"):
                pairs[-1][1] += f",{item}"
            else:
                pairs.append([column.strip(), rule.strip()])
    elif isinstance(merge, Mapping) and all(isinstance(part, str) for pair in merge.items() for part in pair):
        pairs = [[column, rule] for column, rule in merge.items()]
    else:
        raise UsageError(f"merge is {shown_value(merge)}; give COLUMN=RULE, as in price=newest:updated,tags=join")
    found: list[tuple[str, str, str]] = []
    for column, rule in pairs:
        name, _, argument = rule.partition(":")
        if not column or not rule:
            raise UsageError(f"merge is {shown_value(column)}; give COLUMN=RULE, as in price=newest:updated,tags=join")
        if name not in _RULES:
            if name not in _FORMS:
                raise UsageError(f"merge: {rule} is no rule; allowed: {', '.join(_RULES)}, and the policies of keep")
            [(name, argument), *more] = split_policies(rule)
            if more or name == NONE:
                raise UsageError(f"merge: {column}={rule}; give one rule for a column, and not none")
        elif argument and name != "join":
            raise UsageError(f"merge: {rule} is no rule; give {name}")
        if column in [known for known, *_ in found]:
            raise UsageError(f"merge: {column} is there twice; omit one")
        found.append((column, name, argument))
    return found


@dataclass(frozen=True)
class Policies:
    """A list of policies. `parse` makes it."""

    each: tuple[Policy, ...]

    @classmethod
    def parse(cls, text: str | Sequence[str]) -> Policies:
        """Return the policies of a list as `split_policies`."""
        return cls(tuple(POLICIES[name](argument) for name, argument in split_policies(text)))

    @property
    def words(self) -> str:
        """The list as it is written."""
        return ",".join(policy.words for policy in self.each)

    @property
    def none(self) -> bool:
        """Whether nothing of a cluster stays."""
        return self.words == NONE

    @cached_property
    def deciding(self) -> list[Policy]:
        """The policies before the reading order."""
        order = next((at for at, policy in enumerate(self.each) if policy.reads == "order"), len(self.each))
        return list(self.each[:order])

    @property
    def columns(self) -> list[ColumnPolicy]:
        """Those that compare the values of columns."""
        return [policy for policy in self.deciding if isinstance(policy, ColumnPolicy)]
