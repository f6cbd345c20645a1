"""The protocol of an engine: it holds the texts of one scan, groups them, and runs functions on the groups.

A matcher is a sequence of calls to an engine. Its computation is in *functions*: defined in a module, they map a
context and Arrow tables to Arrow tables. They do not depend on where they run, and the context can be pickled, so an
engine may run them in any process. The engine decides which rows are in one batch, as long as groups stay whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from esdedup.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from esdedup.columns.database import Database
    from esdedup.columns.hashing import Hashes
    from esdedup.matching.signers.text_signer import TextSigner
    from esdedup.matching.signing import Signing
    from esdedup.matching.verify.protocol import PairRule

PAIRS: pa.Schema = pa.schema(
    [
        ("a", pa.int32()),  # text numbers, a < b
        ("b", pa.int32()),
        ("jaccard", pa.float64()),  # null if nothing was verified
        ("word_edit_distance", pa.int32()),  # null if it was not measured
        ("shared_tokens", pa.int32()),
    ]
)
"""Verified candidates."""

TEXTS: pa.Schema = pa.schema(
    [
        ("number", pa.int32()),  # from 0, in the order of the hashes
        ("hash", pa.uint64()),  # content hash
        ("copies", pa.int64()),  # identical sentences
        ("length", pa.int32()),  # bytes
        ("group_id", pa.int64()),  # of all copies; -1 if they differ
        ("stale", pa.bool_()),  # whether its pairs are wanted
    ]
)
"""Distinct texts."""


SIGNATURES: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),  # content hash of the text
        ("group_id", pa.int64()),  # for `--across`: the number of the document or source, or -1 for `any`
        ("length", pa.int32()),  # bytes of the text
        ("tokens", pa.list_(pa.int64())),  # see `esdedup.matching.groups.token_lists`
    ]
)
"""Signatures: one row for each sentence."""


RUNS: pa.Schema = pa.schema(
    [
        ("token", pa.int64()),
        ("order", pa.int8()),  # 0: a whole group; 1, 2: a run of a hot group, in one of its two orders
        ("run", pa.int64()),  # from 0
        ("number", pa.int32()),  # of the text
        ("place", pa.int64()),  # of the text in the order 1 of its group
        ("leads", pa.bool_()),  # false for texts that belong to the next run
    ]
)
"""Postings of an engine that cuts hot groups into runs: rows of one token, order and run are together, and in order.
See `esdedup.matching.groups.Runs`.
"""


@dataclass(frozen=True)
class MatchContext:
    """Everything that a function needs besides its tables."""

    signing: Signing
    rule: PairRule
    threads: int
    hot: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False)
    """Oversized tokens: too many texts have them to compare all of these with each other."""

    @cached_property
    def signer(self) -> TextSigner:
        """Return the signer that shingles texts."""
        from esdedup.matching.signers.text_signer import LEAST, TextSigner

        return TextSigner(self.signing, min(LEAST, self.rule.least or LEAST))

    @property
    def reads_texts(self) -> bool:
        """Whether the texts themselves are needed to compare them, not only their tokens."""
        return self.rule.verifier.compares or len(self.signer.kinds) > 1

    def with_hot(self, hot: Sequence[tuple[int, int]]) -> MatchContext:
        """Return this context with known hot tokens."""
        return replace(self, hot=np.array([token for token, _ in hot], np.int64))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "signer"}


FetchTexts: TypeAlias = "Callable[[pa.Table], Iterable[pa.RecordBatch]]"
"""From a column `hash` to rows (`hash`, `text`): each hash once, in any order."""

FetchSignatures: TypeAlias = "Callable[[set[int]], Iterable[tuple[int, pa.Table | pa.RecordBatchReader]]]"
"""Rows of `SIGNATURES`, one for each sentence, in numbered slices, without those that are done already."""

Rank: TypeAlias = "Callable[[Database, int], None]"
"""Fills the table `ranked` of a scratch database from its table `records`, with at most this many others for each
record.
"""


class Progress(Protocol):
    """Called with the work done, the total work and, if an engine says it, what is being done."""

    def __call__(self, done: int, total: int, note: str = "", /) -> None:
        """Show it."""


def no_progress(done: int, total: int, note: str = "", /) -> None:
    """A `Progress` that does nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a scan."""

    texts: int
    collisions: int | None  # None if candidates do not come from tokens
    candidates: int | None  # None if all texts are compared with all
    hot_tokens: int = 0
    hot_places: list[str] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)  # texts that could not be compared, by reason
    learned: dict[str, Any] | None = None  # as JSON holds it: for `add` and `explain`


class Collisions(NamedTuple):
    """Tokens that two or more texts share: their number, and those that more than a limit of texts share."""

    tokens: int
    hot: list[tuple[int, int]]  # token and number of texts, most texts first, then by token


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a stage has cost where an engine runs. Bytes are 0 where they are not known."""

    stage: str
    seconds: float
    tasks: int
    task_seconds: float  # of all tasks together
    shuffled_bytes: int
    spilled_bytes: int
    peak_memory_bytes: int  # of a process

    def __add__(self, more: StageCost) -> StageCost:
        return StageCost(
            self.stage,
            self.seconds + more.seconds,
            self.tasks + more.tasks,
            self.task_seconds + more.task_seconds,
            self.shuffled_bytes + more.shuffled_bytes,
            self.spilled_bytes + more.spilled_bytes,
            max(self.peak_memory_bytes, more.peak_memory_bytes),
        )


class Elsewhere(NamedTuple):
    """How other machines read the sentences of a scan: functions that pickle. Each of `slices` returns rows of
    `SIGNATURES`. Where texts cannot be looked up by hash, `texts` is None, and each of `all_texts` yields rows
    (hash, text) of a part of all sentences.
    """

    slices: Sequence[Callable[[], pa.Table]]
    texts: FetchTexts | None
    all_texts: Sequence[Callable[[], Iterator[pa.RecordBatch]]] = ()


class Naming(Protocol):
    """How a matcher that writes for people, or reads what they wrote, names texts."""

    def hashes(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the content hashes of the sentences with these ids, as far as they are there."""

    def ids(self, hashes: Hashes) -> list[str]:
        """Return the id of the first sentence of each of these texts."""


@dataclass(frozen=True)
class Sentences:
    """The source of a scan's sentences. Signatures come in numbered slices, except those that are done.

    With `stale` (a column `hash`), only pairs with one of those texts are wanted, and only their collisions.
    `signatures` must then return every sentence that shares a token with them. `rank` lets the store find the records
    that share most terms with others; see `esdedup.store.ranking_joins`. `elsewhere` lets an engine on other machines
    read all of them there. `learned` is what an earlier scan learned, if this one is to use it; see `Found`.
    """

    tokens: int
    signatures: FetchSignatures
    texts: FetchTexts
    stale: pa.Table | None = None
    progress: Progress = no_progress
    rank: Rank | None = None
    elsewhere: Callable[[], Elsewhere | None] = lambda: None
    learned: dict[str, Any] | None = None
    naming: Naming | None = None


S = TypeVar("S")

CompareGroups: TypeAlias = "Callable[[MatchContext, pa.Table, pa.Table], Iterator[tuple[pa.Table, int]]]"
"""From whole groups (token, number; in this order), or runs of them (`RUNS`), and their texts (number, group_id, stale,
text, tokens; by number) to pairs of `PAIRS`, and the number of candidates: in parts, as there may be very many."""

SketchTexts: TypeAlias = (
    "Callable[[MatchContext, npt.NDArray[np.int64], pa.LargeStringArray], tuple[pa.Array, pa.Table]]"
)
"""From the numbers of texts and these texts to the kind of each, and sketches of its shingle sets (view, number, size,
sketch; in this order)."""

SiftGroups: TypeAlias = "Callable[[MatchContext, pa.Table, pa.Table, pa.Table], Iterator[tuple[pa.Table, int]]]"
"""From whole groups (token, number; in this order), their texts (number, group_id, stale, kind, tokens; by number) and
sketches to the candidates (a, b) that may be similar, and the number of all candidates, in parts."""

ComparePairs: TypeAlias = "Callable[[MatchContext, pa.Table, pa.Table], pa.Table]"
"""From candidates (a, b; in order) and their texts (number, text, tokens; by number) to pairs of `PAIRS` with a column
`closeness`."""


class GroupComparison(NamedTuple):
    """How texts in one group are compared: at once; or by sketches, so that only few pairs are left to be compared."""

    compare: CompareGroups
    sketch: SketchTexts
    sift: SiftGroups
    verify: ComparePairs


Survey: TypeAlias = "Callable[[MatchContext, S, int, pa.LargeStringArray], None]"
"""Adds information about texts, numbered from the given number, to a state."""

Post: TypeAlias = "Callable[[MatchContext, S, int, pa.LargeStringArray], Iterator[pa.Table]]"
"""From texts, numbered from the given number, to postings (token, number, size, place)."""

Meet: TypeAlias = "Callable[[MatchContext, S, pa.Table], Iterator[pa.Table]]"
"""From whole groups of postings, ordered by (token, size, number), to candidates (a, b). Pairs may be repeated."""


class Engine(ABC):
    """Runs one scan. Every operation runs once: if a scan was killed, it continues where it stopped.

    Texts are numbered from 0 in the order of their content hashes, so nothing depends on the order of arrival.
    """

    name: ClassVar[str]

    is_local: ClassVar[bool] = False
    """Whether matchers that work in the database of the local engine can run here."""

    makes_lakes: ClassVar[bool] = False
    """Whether sources are read where the engine runs, into a lake."""

    keeps_all: ClassVar[bool] = False
    """Whether what a killed scan has done is kept for the next one, however small the scan is."""

    budget: int
    """Bytes that the arrays of one function may take."""

    @abstractmethod
    def __init__(
        self, scratch: Database, sentences: Sentences, budget: int, threads: int, place: str = "local"
    ) -> None:
        """Start a scan of `sentences`. It leaves its results in the tables `texts` and `pairs` of `scratch`; see
        `esdedup.engines.cluster_tables`. `place` is where it runs, as in `esdedup.engines.Engines`.
        """
        self.db = scratch
        self.sentences = sentences
        self.budget = budget
        self.threads = threads
        self.place = place

    @classmethod
    def each(cls, place: str, work: Callable[[Any], Any], given: Sequence[Any], progress: Progress, note: str) -> Any:
        """Run `work` on each item, at the same time if this engine can. Return the results, in order.

        Work and items must pickle, and JSON must hold the results. `note` says what is being done. Raise `EngineError`
        if it cannot be done.
        """
        del place, progress, note
        return [work(item) for item in given]

    @classmethod
    def check_place(cls, place: str) -> None:
        """Raise `EngineError` if this engine cannot run at a place, as far as can be seen without starting anything."""
        del place

    @classmethod
    def has_done(cls, scan: Path) -> bool:
        """Whether a killed scan has left something in its folder that the next one need not do again."""
        del scan
        return True

    @classmethod
    def costs_since(cls, time: float) -> list[StageCost]:
        """Return what the stages of this process since a time (seconds of the epoch) have cost elsewhere."""
        del time
        return []

    @abstractmethod
    def collapse(self) -> int:
        """Merge identical sentences into one text. Return the number of texts."""

    @abstractmethod
    def collide(self, hot_limit: int) -> Collisions:
        """Find the tokens that two or more texts share. If only stale texts are compared, one of the texts must be
        stale.
        """

    @abstractmethod
    def compare_groups(self, functions: GroupComparison, context: MatchContext) -> int:
        """Store the pairs that the functions find in blocks of whole groups. Return the number of candidates.

        Both ways of comparing give the same pairs.
        """

    @abstractmethod
    def survey(
        self, function: Survey[S], context: MatchContext, begin: Callable[[], S], unite: Callable[[S, S], S]
    ) -> S:
        """Return the sum of the function over batches of all texts. `unite` adds up partial states."""

    @abstractmethod
    def meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: Callable[[], S]) -> None:
        """Make postings of all texts, group them by token, and store the candidates that the groups yield.

        `state` is the result of a survey of the texts. It is not called if everything is done already.
        """

    @abstractmethod
    def compare_pairs(self, function: ComparePairs, context: MatchContext) -> None:
        """Store the pairs that the function finds among the candidates. Each candidate is compared once."""

    def local(self) -> Any:
        """Return the engine itself, for matchers that run only on the local one. Raises `UsageError` on any other."""
        raise UsageError(f"these candidates need the local engine; this is {self.name}")
