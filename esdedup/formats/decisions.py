"""What is decided about the sentences of one source, met record by record while the source is read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from esdedup.errors import EsdedupError
from esdedup.text.segment import without
from esdedup.text.splitting import Splitting

_NO_MORE = 2**63


class Mark(NamedTuple):
    """A sentence that stands in a cluster. For record units position is 0."""

    position: int
    cluster: str  # 16 hex digits
    keep: bool


class Decisions:
    """Marks in rising order of place, asked for in that order, and counts of what they did.

    `place` is the ordinal of the raw record that was met last: whoever walks through a source counts it up.
    """

    def __init__(self, marks: Iterable[tuple[int, Sequence[Mark]]], splitting: Splitting, label: str) -> None:
        self.place = 0
        self.documents = 0
        self.documents_dropped = 0
        self.sentences_dropped = 0
        self._asked = 0
        self._marks = iter(marks)
        self._splitting = splitting
        self._label = label
        self._next: tuple[int, Sequence[Mark]] = (0, ())
        self._advance()

    @property
    def next_place(self) -> int:
        """The place of the next record that has marks; beyond all places if none is left."""
        return self._next[0]

    def drops(self, place: int) -> frozenset[int]:
        """Positions of the sentences that the record at `place` loses."""
        return frozenset(mark.position for mark in self._at(place) if not mark.keep)

    def note(self, place: int) -> Any:
        """The marks of the record at `place` as a value of JSON; the record counts as written."""
        marks = self._at(place)
        self.documents += 1
        if self._splitting.unit == "sentence":
            return [mark._asdict() for mark in marks]
        return {"cluster": marks[0].cluster, "keep": marks[0].keep} if marks else {"cluster": None, "keep": True}

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
        """The source has been read to its end: no mark may be left. `EsdedupError` if one is."""
        if self.next_place != _NO_MORE:
            raise self._changed()

    @property
    def needs_text(self) -> bool:
        """Whether `left` looks at the text, or whole records are left out."""
        return self._splitting.unit == "sentence"

    def _at(self, place: int) -> Sequence[Mark]:
        self._asked = place
        following, marks = self._next
        if place < following:
            return ()
        if place > following:
            raise self._changed()
        self._advance()
        return marks

    def _advance(self) -> None:
        last = self._next[0]
        self._next = next(self._marks, (_NO_MORE, ()))
        assert self._next[0] > last, f"marks at {self._next[0]} after those at {last}"

    def _changed(self) -> EsdedupError:
        return EsdedupError(
            f"{self._label}: has changed since it was indexed: what is to be dropped was not found "
            f"near place {self._asked}; index it again"
        )
