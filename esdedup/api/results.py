"""The results of the verbs: dataclasses whose fields are those of the JSON, and rows that become Arrow tables.

The fields are declared in `esdedup.output.contents`.

A result's fields are attributes and items (`summary.counts`, `summary["counts"]`), `to_dict()` gives what `--json`
prints, and notebooks show a small table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from esdedup.output.contents import comparisons, dedupe_answers, job_answers, meaning_answers, quality_answers
from esdedup.output.contents.field_types import MISSING
from esdedup.plurals import plural

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 20
_CELL = 120


@dataclass(frozen=True)
class Result:
    """An answer. Subclasses have its fields, in the order of the JSON."""

    _shown: ClassVar[tuple[str, ...]] = ()
    """The fields that `repr` and notebooks show, where they do not show all."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """The result that says what `answer` does; `TypeError` for a field that is not declared."""
        return cls(**answer)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, lists, texts and numbers: what `--json` prints."""
        return {name: _plain(value) for name, value in self._items()}

    def __getitem__(self, name: str) -> Any:
        value = self.get(name, MISSING)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return any(name == known for known, _ in self._items())

    def keys(self) -> list[str]:
        """The names of the fields that this answer has."""
        return [name for name, _ in self._items()]

    def get(self, name: str, default: Any = None) -> Any:
        """The field `name`, or `default` where this answer has none."""
        value = getattr(self, name, MISSING) if name in self._names() else MISSING
        return default if value is MISSING else value

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(item.name for item in fields(cls))

    def _items(self) -> Iterator[tuple[str, Any]]:
        for name in self._names():
            value = getattr(self, name)
            if value is not MISSING:
                yield name, value

    def _summary(self) -> list[tuple[str, str]]:
        """Name and value of what is shown, a mapping of numbers as one row each."""
        rows: list[tuple[str, str]] = []
        unit = self.get("settings", {}).get("unit", "sentence")
        for name, value in self._items():
            if self._shown and name not in self._shown:
                continue
            if isinstance(value, Mapping) and value and all(isinstance(each, int | None) for each in value.values()):
                named = [(key.replace("_", " ").replace("sentence", unit), each) for key, each in value.items()]
                rows += [(key, "–" if each is None else f"{each:,}") for key, each in named]
            else:
                rows.append((name.replace("_", " "), _short(value)))
        return rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}: {value}' for name, value in self._summary())})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._summary())
        return f"<table>{rows}</table>"


R = TypeVar("R", bound=Result)


class Rows(Sequence[R], Generic[R]):
    """Results of one kind, in order."""

    def __init__(self, rows: Sequence[R] = ()) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, place: int) -> R: ...
    @overload
    def __getitem__(self, place: slice) -> Rows[R]: ...
    def __getitem__(self, place: int | slice) -> R | Rows[R]:
        return Rows(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self._rows) == list(other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row as a plain dict: a line of what `--json` prints."""
        return [row.to_dict() for row in self._rows]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, a column a field."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.to_dicts())

    def __repr__(self) -> str:
        shown = "".join(f"\n  {row!r}" for row in self._rows[:_SHOWN])
        more = f"\n  … {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return f"{plural(len(self), 'row')}{shown}{more}"

    def _repr_html_(self) -> str:
        if not self._rows:
            return "<p>no rows</p>"
        first = self._rows[0]
        names = [name for name, _ in first._items() if not first._shown or name in first._shown]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_short(row.get(name)))}</td>' for name in names)}</tr>"
            for row in self._rows[:_SHOWN]
        )
        more = f"<p>… {len(self) - _SHOWN:,} more</p>" if len(self) > _SHOWN else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | Rows):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _short(value: Any) -> str:
    if isinstance(value, float):
        text = f"{value:g}"
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = "–" if value is None else str(value)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


@dataclass(frozen=True, repr=False)
class Summary(Result, job_answers.Summary):
    """What `run` and `scan` found; the content of summary.json."""

    _shown: ClassVar[tuple[str, ...]] = ("counts", "kinds", "damaged")


@dataclass(frozen=True, repr=False)
class Added(Summary, job_answers.Added):
    """What `add` brought: the summary, counts of documents and of sentences that match, and the first matches."""


@dataclass(frozen=True, repr=False)
class Indexed(Result, job_answers.Indexed):
    """What a store holds after `index`."""


@dataclass(frozen=True, repr=False)
class Extracted(Result, job_answers.Extracted):
    """What `extract` has written."""


@dataclass(frozen=True, repr=False)
class Document(Result, comparisons.Document):
    """The text of a document as a reader sees it."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "title", "language", "text")


@dataclass(frozen=True, repr=False)
class Removed(Result, job_answers.Removed):
    """What `remove` deleted, and what the store holds afterwards."""


@dataclass(frozen=True, repr=False)
class Examined(Result, job_answers.Examined):
    """The checks of a store."""

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The checks that found something which is not mended."""
        return [check for check in self.checks if check["problem"] and not check["repaired"]]


@dataclass(frozen=True, repr=False)
class Status(Result, job_answers.Status):
    """What a store holds."""


@dataclass(frozen=True, repr=False)
class Sentence(Result, comparisons.Sentence):
    """A stored sentence, and its place."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "title", "text")


@dataclass(frozen=True, repr=False)
class Completion(Sentence, comparisons.Completion):
    """A stored text that completes what was typed."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "title", "places", "text")


@dataclass(frozen=True, repr=False)
class Hit(Sentence, comparisons.Hit):
    """A stored sentence that is similar to a text."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "similarity", "match", "text")


@dataclass(frozen=True, repr=False)
class Answer(Result, comparisons.Answer):
    """What is similar to the text of one question."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "text", "similar")


@dataclass(frozen=True, repr=False)
class Explanation(Result, comparisons.Explanation):
    """Why two sentences did or did not match."""

    _shown: ClassVar[tuple[str, ...]] = ("verdict", "jaccard", "word_edit_distance", "shared_tokens")


@dataclass(frozen=True, repr=False)
class Cluster(Result, comparisons.ListedCluster):
    """Sentences that say the same, or nearly; `change` and `before` where an earlier run is compared with."""

    _shown: ClassVar[tuple[str, ...]] = ("id", "size", "kind", "min_jaccard", "representative")


@dataclass(frozen=True, repr=False)
class OverlapRow(Result, comparisons.OverlapRow):
    """Two documents, or sources, and how many sentences of each stand in the other."""

    _shown: ClassVar[tuple[str, ...]] = ("a", "b", "a_in_b", "b_in_a", "a_share", "b_share")


@dataclass(frozen=True, repr=False)
class Overlap(Result):
    """Pairs of documents or sources. `common_texts` were left out, as too many documents have them."""

    rows: Rows[OverlapRow]
    common_texts: int
    title: str | None = None


@dataclass(frozen=True, repr=False)
class Contradiction(Result, meaning_answers.Contradiction):
    """A place where sentences of one cluster state different facts."""

    _shown: ClassVar[tuple[str, ...]] = ("confidence", "slot", "frame")


@dataclass(frozen=True, repr=False)
class Lineage(Result, meaning_answers.Lineage):
    """Who wrote a sentence first: trees of copies, and who added them."""

    _shown: ClassVar[tuple[str, ...]] = ("editors", "undated")


@dataclass(frozen=True, repr=False)
class Evaluation(Result, quality_answers.Evaluation):
    """How good the results of a scan are, by what is known to be right."""


@dataclass(frozen=True, repr=False)
class Plan(Result, quality_answers.Plan):
    """Ways to sign, compared: see `esdedup.plan`."""

    _shown: ClassVar[tuple[str, ...]] = ("threshold", "recommended", "reached", "forecast")


@dataclass(frozen=True, repr=False)
class Written(Result, dedupe_answers.Written):
    """What `dedupe` wrote and dropped."""
