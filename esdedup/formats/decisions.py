"""The decisions about the sentences of one source, applied record by record while the source is read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from esdedup.errors import SourceChangedError
from esdedup.formats.text_limit import USUAL
from esdedup.text.segment import without
from esdedup.text.splitting import DEFAULT, Splitting

_NO_MORE = 2**63


class Verdict(NamedTuple):
    """A sentence of a cluster. If the unit is a record, position is 0."""

    position: int
    cluster: str  # 16 hex digits
    keep: bool
    values: Mapping[str, Any] | None = None  # of a record that stays: what its columns become


class Wanted:
    """Numbers of records, in order."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)
        self.next = next(self._numbers, _NO_MORE)

    def takes(self, number: int) -> bool:
        """Return whether a record is one of them. The numbers that are asked for increase."""
        if number != self.next:
            return False
        self.next = next(self._numbers, _NO_MORE)
        return True


class Decisions:
    """The verdicts of one source, in increasing order of record numbers, and counts of what they did.

    `record` is the number of the last raw record read, and `language` what the source says about its language. The code
    that reads the source sets them. `templates` are those that were added when the sentences were made.
    """

    def __init__(
        self, verdicts: Iterable[tuple[int, Sequence[Verdict]]], splitting: Splitting, label: str,
        templates: str | None = None,
    ) -> None:  # fmt: skip
        self.record = 0
        self.max_text = USUAL  # bytes of the largest text that was read
        self.language = ""
        self.templates = templates
        self.blank = 0  # lines that are no records
        self.documents = 0
        self.documents_dropped = 0
        self.sentences_dropped = 0
        self.values: Mapping[str, Any] | None = None  # new values of the record whose drops were asked for last
        self._verdicts = iter(verdicts)
        self._splitting = splitting
        self._label = label
        self._next: tuple[int, Sequence[Verdict]] = (0, ())
        self._advance()

    @classmethod
    def of_nothing(cls, record: int, max_text: int) -> Decisions:
        """Return those of a source that is only read, behind so many records."""
        found = cls((), Splitting("record", DEFAULT), "")
        found.record, found.max_text = record, max_text
        return found

    @property
    def next_record(self) -> int:
        """The number of the next record that has verdicts; a very large number if none is left."""
        return self._next[0]

    def drops(self, record: int) -> frozenset[int]:
        """Return the positions of the sentences that this record loses. `values` are then what its columns become."""
        verdicts = self._at(record)
        self.values = next((verdict.values for verdict in verdicts if verdict.values), None)
        return frozenset(verdict.position for verdict in verdicts if not verdict.keep)

    def note(self, record: int) -> Any:
        """Return the verdicts of this record as a JSON value. The record counts as written."""
        verdicts = self._at(record)
        self.documents += 1
        if not self._splitting.whole:
            return [{"position": at, "cluster": cluster, "keep": keep} for at, cluster, keep, _ in verdicts]
        return (
            {"cluster": verdicts[0].cluster, "keep": verdicts[0].keep} if verdicts else {"cluster": None, "keep": True}
        )

    def stay(self, records: int = 1) -> None:
        """Count records that are written unchanged."""
        self.documents += records

    def left(self, text: str | None, drops: Collection[int]) -> str | None:
        """Return what is left of a text without the sentences at `drops`. None means that the record is left out.

        Raises `SourceChangedError` if the text has no such sentences: then this is not the source that was indexed.
        """
        if not self.needs_text:
            self.documents_dropped += 1
            return None
        try:
            left = without(text or "", self._splitting._replace(expected=self.language), drops)
        except IndexError as error:
            raise SourceChangedError.at(self._label) from error
        if left is None:
            self.documents_dropped += 1
        else:
            self.documents += 1
            self.sentences_dropped += len(drops)
        return left

    def finish(self) -> None:
        """Check that no verdict is left at the end of the source. Raises `SourceChangedError` if one is."""
        if self.next_record != _NO_MORE:
            raise SourceChangedError.at(self._label)

    @property
    def needs_text(self) -> bool:
        """Whether `left` needs the text. Otherwise whole records are left out."""
        return not self._splitting.whole

    def _at(self, record: int) -> Sequence[Verdict]:
        following, verdicts = self._next
        if record < following:
            return ()
        if record > following:
            raise SourceChangedError.at(self._label)
        self._advance()
        return verdicts

    def _advance(self) -> None:
        last = self._next[0]
        self._next = next(self._verdicts, (_NO_MORE, ()))
        assert self._next[0] > last, f"verdicts at {self._next[0]} after those at {last}"
