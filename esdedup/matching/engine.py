"""What an engine is: it holds the texts of one scan, brings together what belongs together, and runs functions on it.

A matcher is a sequence of calls to an engine. What it computes is in *functions*: defined in a module, from a context
and Arrow tables to Arrow tables. They know nothing of where they run, and the context pickles, so an engine may run
them in any process. Which rows stand in one batch is the engine's business, as long as whole groups stay together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from esdedup.errors import UsageError
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.matching.verify.protocol import PairRule

if TYPE_CHECKING:
    import numpy.typing as npt

    from esdedup.columns.database import Database

PAIRS: pa.Schema = pa.schema(
    [
        ("a", pa.int32()),  # text numbers, a < b
        ("b", pa.int32()),
        ("jaccard", pa.float64()),  # null where nothing was verified
        ("word_edit_distance", pa.int32()),  # likewise
        ("shared_tokens", pa.int32()),
    ]
)
"""Verified candidates."""


def signatures_schema(tokens: int) -> pa.Schema:
    """One row a sentence. `group_id` is what `--across` looks at: the document or source, or -1 for `any`."""
    return pa.schema(
        [
            ("hash", pa.uint64()),  # content hash of the text
            ("group_id", pa.int64()),
            ("length", pa.int32()),  # bytes of the text
            ("tokens", pa.list_(pa.int64(), tokens)),
        ]
    )


@dataclass(frozen=True)
class MatchContext:
    """All that a function needs beside its tables."""

    signing: Signing
    rule: PairRule
    threads: int
    hot: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False)
    """Tokens that too many texts hold to compare them all with each other."""

    @cached_property
    def signer(self) -> TextSigner:
        """What shingles texts."""
        return TextSigner(self.signing)

    def with_hot(self, hot: Sequence[tuple[int, int]]) -> MatchContext:
        """This context with the hot tokens known."""
        return replace(self, hot=np.array([token for token, _ in hot], np.int64))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "signer"}


FetchTexts: TypeAlias = "Callable[[pa.Table], Iterable[pa.RecordBatch]]"
"""From a column `hash` to rows (`hash`, `text`), each hash once, in any order."""

FetchSignatures: TypeAlias = "Callable[[set[int]], Iterable[tuple[int, pa.Table | pa.RecordBatchReader]]]"
"""Rows of `signatures_schema`, one a sentence, in numbered slices but for those that are named as done."""

Rank: TypeAlias = "Callable[[Database, int], None]"
"""Fills the table `ranked` of a scratch database from its table `records`, up to so many others of each record."""

Progress = Callable[[int, int], None]
"""Called with work done and work in all."""


def no_progress(done: int, all_: int) -> None:
    """A `Progress` that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a scan found."""

    texts: int
    collisions: int | None  # None where candidates are not made of tokens
    candidates: int | None  # None where all are compared with all
    hot_tokens: int = 0
    hot_places: list[str] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)  # texts that could not take part, by reason


class Collisions(NamedTuple):
    """Tokens that two or more texts hold: how many there are, and those that more than a limit of texts hold."""

    tokens: int
    hot: list[tuple[int, int]]  # token and number of texts, most texts first, then by token


S = TypeVar("S")

CompareGroups: TypeAlias = "Callable[[MatchContext, pa.Table, pa.Table], tuple[pa.Table, int]]"
"""From whole groups (token, number; in this order) and their texts (number, group_id, stale, text, tokens; by number)
to pairs of `PAIRS`, and the number of candidates."""

ComparePairs: TypeAlias = "Callable[[MatchContext, pa.Table, pa.Table], pa.Table]"
"""From candidates (a, b; in order) and their texts (number, text, tokens; by number) to pairs of `PAIRS` with a column
`closeness`."""

Survey: TypeAlias = "Callable[[MatchContext, S, int, pa.LargeStringArray], None]"
"""Adds what is to be known of texts, numbered from the given number on, to a state."""

Post: TypeAlias = "Callable[[MatchContext, S, int, pa.LargeStringArray], Iterator[pa.Table]]"
"""From texts, numbered from the given number on, to postings (token, number, size, place)."""

Meet: TypeAlias = "Callable[[MatchContext, S, pa.Table], Iterator[pa.Table]]"
"""From whole groups of postings, ordered by (token, size, number), to candidates (a, b), some more than once."""


class Engine(ABC):
    """One scan's place to run. Every operation is done once: a scan that was killed goes on where it stood.

    Texts are numbered from 0 in the order of their content hashes, so that nothing depends on the order of arrival.
    """

    name: ClassVar[str]

    budget: int
    """Bytes that the arrays of one function may take."""

    @abstractmethod
    def collapse(self) -> int:
        """Make one text of identical sentences; the number of texts."""

    @abstractmethod
    def collide(self, hot_limit: int) -> Collisions:
        """Find the tokens that two or more texts hold, of which one is stale if only those are asked for."""

    @abstractmethod
    def compare_groups(self, function: CompareGroups, context: MatchContext) -> int:
        """Keep the pairs that the function finds in blocks of whole groups; the number of candidates."""

    @abstractmethod
    def survey(
        self, function: Survey[S], context: MatchContext, begin: Callable[[], S], unite: Callable[[S, S], S]
    ) -> S:
        """What the function adds up over batches of all texts. States of several places are united."""

    @abstractmethod
    def meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: Callable[[], S]) -> None:
        """Make postings of all texts, group them by token, and keep the candidates that groups give.

        `state` is what a survey of the texts has found; it is asked for unless all of this is done already.
        """

    @abstractmethod
    def compare_pairs(self, function: ComparePairs, context: MatchContext) -> None:
        """Keep the pairs that the function finds among the candidates, each of which is compared once."""

    def local(self) -> Any:
        """The engine itself, for matchers that only run on the local one; `UsageError` on any other."""
        raise UsageError(f"these candidates are found by the local engine alone; this is {self.name}")
