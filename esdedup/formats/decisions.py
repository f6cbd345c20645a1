"""What is decided about the sentences of one source, met record by record while the source is read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from esdedup.errors import EsdedupError
from esdedup.text.segment import without
from esdedup.text.splitting import Splitting

_NO_MORE = 2**63


class Verdict(NamedTuple):
    """A sentence that stands in a cluster. For record units position is 0."""

    position: int
    cluster: str  # 16 hex digits
    keep: bool


class Decisions:
    """Marks in rising order of place, asked for in that order, and counts of what they did.

    `record` is the ordinal of the raw record that was met last: whoever walks through a source counts it up.
    """

    def __init__(self, verdicts: Iterable[tuple[int, Sequence[Verdict]]], splitting: Splitting, label: str) -> None:
        self.record = 0
        self.documents = 0
        self.documents_dropped = 0
        self.sentences_dropped = 0
        self._asked = 0
        self._verdicts = iter(verdicts)
        self._splitting = splitting
        self._label = label
        self._next: tuple[int, Sequence[Verdict]] = (0, ())
        self._advance()

    @property
    def next_record(self) -> int:
        """The place of the next record that has verdicts; beyond all places if none is left."""
        return self._next[0]

    def drops(self, record: int) -> frozenset[int]:
        """Positions of the sentences that the record at `record` loses."""
        return frozenset(verdict.position for verdict in self._at(record) if not verdict.keep)

    def note(self, record: int) -> Any:
        """The verdicts of the record at `record` as a value of JSON; the record counts as written."""
        verdicts = self._at(record)
        self.documents += 1
        if self._splitting.unit == "sentence":
            return [verdict._asdict() for verdict in verdicts]
        return (
            {"cluster": verdicts[0].cluster, "keep": verdicts[0].keep} if verdicts else {"cluster": None, "keep": True}
        )

    def stay(self, records: int = 1) -> None:
        """Count records that are written as they stand."""
        self.documents += records

    def left(self, text: str | None, drops: Collection[int]) -> str | None:
        """What is left of a text that loses the sentences at `drops`; `None`: its record is left out.

        `EsdedupError` where it has no such sentences: the source is not the one that was indexed.
        """
        if not self.needs_text:
            self.documents_dropped += 1
            return None
        try:
            left = without(text or "", self._splitting.lang, drops)
        except IndexError as error:
            raise self._changed() from error
        if left is None:
            self.documents_dropped += 1
        else:
            self.documents += 1
            self.sentences_dropped += len(drops)
        return left

    def finish(self) -> None:
        """The source has been read to its end: no verdict may be left. `EsdedupError` if one is."""
        if self.next_record != _NO_MORE:
            raise self._changed()

    @property
    def needs_text(self) -> bool:
        """Whether `left` looks at the text, or whole records are left out."""
        return self._splitting.unit == "sentence"

    def _at(self, record: int) -> Sequence[Verdict]:
        self._asked = record
        following, verdicts = self._next
        if record < following:
            return ()
        if record > following:
            raise self._changed()
        self._advance()
        return verdicts

    def _advance(self) -> None:
        last = self._next[0]
        self._next = next(self._verdicts, (_NO_MORE, ()))
        assert self._next[0] > last, f"verdicts at {self._next[0]} after those at {last}"

    def _changed(self) -> EsdedupError:
        return EsdedupError(
            f"{self._label}: has changed since it was indexed: what is to be dropped was not found "
            f"near place {self._asked}; index it again"
        )
