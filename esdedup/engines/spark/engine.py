"""The Spark engine: the functions of a matcher run in the tasks of a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.database import Database
from esdedup.engines.cluster_tables import create_pairs
from esdedup.engines.spark.exchange import bits_for, costs_since, exchange_in, ranges
from esdedup.engines.spark.group_stages import (
    GROUPS,
    PAIRS,
    GroupPlan,
    compare_home,
    emit_groups,
    emit_postings,
    emit_requests,
    keep_groups,
)
from esdedup.engines.spark.hot_runs import (
    HOT_RUNS,
    RUN,
    SORTED,
    HotPlan,
    cut_alike,
    cut_by_hash,
    emit_members,
    keep_members,
    keep_sorted,
    sort_keys,
)
from esdedup.engines.spark.listed_stages import (
    MET,
    ListPlan,
    attach_listed,
    compare_listed_home,
    emit_listed,
    emit_needed,
    emit_post,
    emit_tokens,
    keep_met,
    keep_tokens,
    loaded,
    saved,
    survey_texts,
    unite_states,
)
from esdedup.engines.spark.session import check_session, session_at, tasks_together
from esdedup.engines.spark.text_stages import (
    SIGNED,
    STALE,
    TEXTS,
    WANTED,
    Places,
    attach_texts,
    emit_bodies,
    emit_texts,
    keep_bodies,
    keep_signed,
    keep_texts,
    write_bodies,
)
from esdedup.engines.spark.work_folder import WorkFolder, in_folder, read_rows, write_rows
from esdedup.matching.engine import (
    Collisions,
    ComparePairs,
    Elsewhere,
    Engine,
    GroupComparison,
    MatchContext,
    Meet,
    Post,
    Progress,
    S,
    Sentences,
    StageCost,
    Survey,
)
from esdedup.matching.signers.text_signer import SET_BYTES

_FOLDER = "spark"
_SLICE_ROWS = 100_000
_TEXT_BYTES = 64  # of a text's row beside its characters
_POSTING_BYTES = 8  # of the postings of a text, for each byte of it
_TOKEN_BYTES = 64  # of a posting while it is grouped

_CUTTING, _SURVEYING, _READING_TEXTS = "cutting large groups", "looking at all texts", "reading texts"
"""What a stage does, as it is shown."""


class SparkEngine(Engine):
    """One scan in a Spark session. Its files lie beside those of `scratch`, where all workers see them.

    Every stage leaves its result there, so that a scan whose driver was lost continues with the next one.
    """

    name = "spark"
    keeps_all = True
    makes_lakes = True

    def __init__(
        self, scratch: Database, sentences: Sentences, budget: int, threads: int, place: str = "local[*]"
    ) -> None:
        super().__init__(scratch, sentences, budget, threads, place)
        self._session = session_at(place, sentences.progress)
        self._cores = int(self._session.sparkContext.defaultParallelism)
        self._work = WorkFolder(_beside(scratch))
        self._exchange = exchange_in(self._session, sentences.progress)

    @classmethod
    def each(cls, place: str, work: Callable[[Any], Any], given: Sequence[Any], progress: Progress, note: str) -> Any:
        """In the tasks of the cluster, in the folder where the command runs: paths may be relative to it."""
        at_home = partial(in_folder, str(Path.cwd()), work)
        return exchange_in(session_at(place, progress), progress).done(at_home, given, note) if given else []

    @classmethod
    def check_place(cls, place: str) -> None:
        """Look for PySpark, Java and the master."""
        check_session(place)

    @classmethod
    def has_done(cls, scan: Path) -> bool:
        """Whether a stage has ended."""
        return any(scan.glob(f"{_FOLDER}/*.json"))

    @classmethod
    def costs_since(cls, time: float) -> list[StageCost]:
        """As Spark tells them."""
        return costs_since(time)

    # -- texts ------------------------------------------------------------------------------------------------

    def collapse(self) -> int:
        """In buckets of hashes."""
        texts: dict[str, int] = self._work.stage("texts", self._collapse)
        return sum(texts.values())

    def _write_signatures(self) -> dict[str, Any]:
        """Write the signatures in slices that tasks read. Return their files, and how much there is."""
        stale = self.sentences.stale
        if stale is not None:
            write_rows(self._work.file(STALE, 0), pa.table({"hash": np.unique(stale["hash"].to_numpy())}))
        elsewhere = self._elsewhere
        if elsewhere is None:
            counts = [
                keep_signed((self._work.file(SIGNED, number), lambda part=part: part))  # type: ignore[misc]
                for number, part in enumerate(_slices(self.sentences.signatures(set())))
            ]
        else:
            given = [(self._work.file(SIGNED, number), read) for number, read in enumerate(elsewhere.slices)]
            counts = self._exchange.done(keep_signed, given, "reading sentences")
        sums = {name: sum(each[name] for each in counts) for name in ("rows", "length", "tokens")}
        task = max(2**20, self.budget // tasks_together(self._session))
        # a scan that is continued cuts its rows as it was begun, whatever cluster there is now
        return {"files": [each["file"] for each in counts], **sums, "cores": self._cores, "task": task}

    @cached_property
    def _elsewhere(self) -> Elsewhere | None:
        return self.sentences.elsewhere()

    @cached_property
    def _signed(self) -> dict[str, Any]:
        signed: dict[str, Any] = self._work.stage("signed", self._write_signatures)
        return signed

    @property
    def _task(self) -> int:
        """The bytes that one task may compare at once."""
        return int(self._signed["task"])

    def _bits(self, size: int) -> int:
        return bits_for(size, self._task, int(self._signed["cores"]))

    def _places(self, with_texts: bool = True) -> Places:
        signed = self._signed
        size = _TEXT_BYTES * signed["rows"] + 3 * signed["length"]
        bits = self._bits(size)
        return Places(self._work, bits, self.sentences.stale is None, with_texts)

    def _collapse(self) -> dict[int, int]:
        places = self._places()
        sent = self._exchange.emitted(partial(emit_texts, places), self._signed["files"])
        return self._exchange.finished(sent, partial(keep_texts, places), "merging identical texts")

    # -- groups by token ----------------------------------------------------------------------------------------

    def collide(self, hot_limit: int) -> Collisions:
        """In buckets of tokens."""
        self.collapse()
        found = self._work.stage("groups", lambda: self._group(hot_limit)).values()
        hot = sorted(
            ((token, count) for each in found for token, count in each["hot"]), key=lambda one: (-one[1], one[0])
        )
        return Collisions(sum(each["tokens"] for each in found), hot)

    def _plan(self, hot_limit: int = 0, with_texts: bool = True) -> GroupPlan:
        signed = self._signed
        token_bits = self._bits(_TOKEN_BYTES * signed["tokens"])
        home_bits = self._bits(SET_BYTES * signed["length"] + _TEXT_BYTES * signed["rows"])
        return GroupPlan(self._places(with_texts), token_bits, home_bits, hot_limit, self._task)

    def _group(self, hot_limit: int) -> dict[int, Any]:
        plan = self._plan(hot_limit)
        sent = self._exchange.emitted(partial(emit_postings, plan), self._signed["files"])
        return self._exchange.finished(sent, partial(keep_groups, plan), "grouping texts by token")

    def compare_groups(self, functions: GroupComparison, context: MatchContext) -> int:
        """At the homes of the groups."""
        plan = self._plan(with_texts=context.reads_texts)
        runs = self._work.stage("runs", lambda: self._cut_hot(plan, context)) if len(context.hot) else []
        groups = [self._work.file(GROUPS, bucket) for bucket in self._work.stage("groups", dict)]
        if context.reads_texts:
            self._work.stage("bodies", lambda: self._bring([*groups, *runs]))
        found = self._work.stage("compared", lambda: self._compare(functions, context, plan, groups, runs))
        self._take_in([self._work.file(PAIRS, home) for home in found])
        return sum(each["candidates"] for each in found.values())

    def _compare(
        self, functions: GroupComparison, context: MatchContext, plan: GroupPlan, groups: list[str], runs: list[str]
    ) -> dict[int, Any]:
        exchange = self._exchange
        requests = exchange.emitted(partial(emit_requests, plan), [*groups, *runs])
        texts = exchange.passed_on(requests, partial(attach_texts, plan.places))
        postings = exchange.emitted(emit_groups, [*groups, *runs])
        work = partial(compare_home, plan, functions.compare, replace(context, threads=1))
        return exchange.finished(texts.union(postings), work, "comparing texts")

    def _bring(self, files: list[str] | None = None) -> int:
        """Write texts to files, by the range of their hash: all of them, or those of groups. Return their number."""
        db, bits = self.db, self._places().text_bits
        db.execute("CREATE OR REPLACE TABLE active (hash UBIGINT)")
        if files is None:
            files = [self._work.file(TEXTS, bucket) for bucket in self._work.stage("texts", dict)]
        for path in files:
            db.insert("active", pa.table({"hash": np.unique(read_rows(path)["hash"].to_numpy())}))
        db.execute("CREATE OR REPLACE TABLE active AS SELECT DISTINCT hash FROM active")
        signed, total = self._signed, db.count("SELECT count(*) FROM active")
        at_once = max(1, self.budget * signed["rows"] // max(1, 4 * signed["length"] + _TEXT_BYTES * signed["rows"]))
        wanted: list[str] = []
        for part in _bucket_ranges(db, bits, at_once):
            wanted.append(self._work.file(WANTED, len(wanted)))
            rows = db.table("SELECT hash FROM active WHERE hash >= ? AND hash <= ? ORDER BY hash", part)
            write_rows(wanted[-1], rows)
        elsewhere, places = self._elsewhere, self._places()
        if elsewhere is None:
            for path in wanted:
                keep_bodies(places, self.sentences.texts, path)
        elif elsewhere.texts is not None:
            self._exchange.done(partial(keep_bodies, places, elsewhere.texts), wanted, _READING_TEXTS)
        elif wanted:
            sent = self._exchange.emitted(partial(emit_bodies, places, wanted), elsewhere.all_texts)
            self._exchange.finished(sent, partial(write_bodies, places), _READING_TEXTS)
        db.execute("DROP TABLE active")
        return total

    # -- hot groups -----------------------------------------------------------------------------------------------

    def _cut_hot(self, plan: GroupPlan, context: MatchContext) -> list[str]:
        """Cut hot groups into runs. Return the files of these."""
        hot = HotPlan(plan, np.sort(context.hot), context.signing.tokens, RUN)
        sent = self._exchange.emitted(partial(emit_members, hot), self._signed["files"])
        counts = self._exchange.finished(sent, partial(keep_members, hot), _CUTTING)
        before = list(zip(counts, _sums_before(counts.values()), strict=True))
        self._exchange.done(partial(cut_by_hash, hot), before, _CUTTING)
        sorted_counts = self._sort_alike(hot, before)
        alike = list(zip(sorted_counts, _sums_before(sorted_counts.values()), strict=True))
        self._exchange.done(partial(cut_alike, hot), alike, _CUTTING)
        names = [f"hash-{bucket}" for bucket, _ in before] + [f"alike-{partition}" for partition, _ in alike]
        return [self._work.file(HOT_RUNS, name) for name in names]

    def _sort_alike(self, hot: HotPlan, before: list[tuple[int, list[int]]]) -> dict[int, list[int]]:
        keys, work = partial(sort_keys, hot, before), partial(keep_sorted, hot)
        return self._exchange.sorted_by_key(keys, len(before), SORTED, work, _CUTTING)

    # -- results --------------------------------------------------------------------------------------------------

    def _take_in(self, pairs: list[str]) -> None:
        """Make the tables `texts` and `pairs`."""
        db, first = self.db, 0
        db.execute(
            """
            CREATE OR REPLACE TABLE texts (
                number BIGINT, hash UBIGINT, copies BIGINT, length INTEGER, group_id BIGINT, stale BOOLEAN);
            CREATE OR REPLACE TABLE found (
                a UBIGINT, b UBIGINT, jaccard DOUBLE, word_edit_distance INTEGER, shared_tokens INTEGER,
                closeness DOUBLE)
            """
        )
        for bucket, count in self._work.stage("texts", dict).items():
            rows = read_rows(self._work.file(TEXTS, bucket))
            db.insert("texts", rows.append_column("number", pa.array(np.arange(first, first + count))))
            first += count
        for path in pairs:
            rows = read_rows(path)
            if "closeness" not in rows.column_names:
                rows = rows.append_column("closeness", rows["jaccard"])
            db.insert("found", rows)
        create_pairs(db)
        db.execute(
            """
            CREATE OR REPLACE TABLE pairs AS SELECT one.number AS a, two.number AS b,
                jaccard, word_edit_distance, shared_tokens, closeness
            FROM found JOIN texts one ON one.hash = found.a JOIN texts two ON two.hash = found.b;
            DROP TABLE found
            """
        )

    # -- all texts, and lists of candidates -----------------------------------------------------------------------

    def survey(
        self, function: Survey[S], context: MatchContext, begin: Callable[[], S], unite: Callable[[S, S], S]
    ) -> S:
        """A state for each core, and then the sums of two at a time."""
        plan, work = self._list_plan(context), self._work
        self._work.stage("bodies", lambda: self._bring())
        empty = saved(work.file("states", "empty"), begin())
        shares = [list(range(first, len(plan.buckets), self._cores)) for first in range(self._cores)]
        given = [(work.file("states", number), share) for number, share in enumerate(shares) if share]
        states = self._exchange.done(partial(survey_texts, plan, function, empty), given, _SURVEYING)
        while len(states) > 1:
            pairs = [(f"{one}+", one, two) for one, two in zip(states[::2], states[1::2], strict=False)]
            states = [*self._exchange.done(partial(unite_states, unite), pairs, _SURVEYING), *states[2 * len(pairs) :]]
        return loaded(states[0] if states else empty)  # type: ignore[no-any-return]

    def meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: Callable[[], S]) -> None:
        """In buckets of tokens."""
        self._work.stage("met", lambda: self._meet(post, meet, context, state()))

    def _meet(self, post: Post[S], meet: Meet[S], context: MatchContext, state: S) -> dict[int, int]:
        plan, path = self._list_plan(context), saved(self._work.file("states", "united"), state)
        sent = self._exchange.emitted(partial(emit_post, plan, post, path), range(len(plan.buckets)))
        return self._exchange.finished(sent, partial(keep_met, plan, meet, path), "finding candidates")

    def compare_pairs(self, function: ComparePairs, context: MatchContext) -> None:
        """At the home of the first text of each pair."""
        plan = self._list_plan(context)
        self._work.stage("tokens", lambda: self._keep_tokens(plan))
        found = self._work.stage("compared", lambda: self._compare_listed(function, plan))
        self._take_in([self._work.file(PAIRS, home) for home, count in found.items() if count["pairs"]])

    def _keep_tokens(self, plan: ListPlan) -> dict[int, int]:
        sent = self._exchange.emitted(partial(emit_tokens, plan), self._signed["files"])
        return self._exchange.finished(sent, partial(keep_tokens, plan), "listing tokens")

    def _compare_listed(self, function: ComparePairs, plan: ListPlan) -> dict[int, Any]:
        exchange, met = self._exchange, [self._work.file(MET, bucket) for bucket in self._work.stage("met", dict)]
        needed = exchange.emitted(partial(emit_needed, plan), met)
        texts = exchange.passed_on(needed, partial(attach_listed, plan))
        listed = exchange.emitted(partial(emit_listed, plan), met)
        return exchange.finished(texts.union(listed), partial(compare_listed_home, plan, function), "comparing texts")

    def _list_plan(self, context: MatchContext) -> ListPlan:
        self.collapse()
        texts = self._work.stage("texts", dict)
        firsts = list(accumulate(texts.values(), initial=0))[:-1]
        signed = self._signed
        bits = self._bits(_POSTING_BYTES * signed["length"])
        return ListPlan(
            self._places(), [int(bucket) for bucket in texts], firsts, replace(context, threads=1), self._task, bits
        )


def _slices(given: Iterable[tuple[int, pa.Table | pa.RecordBatchReader]]) -> Iterator[pa.Table]:
    """Yield signatures in slices of a bounded number of rows."""
    held: list[pa.RecordBatch] = []
    for _, rows in given:
        for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
            for begin in range(0, batch.num_rows, _SLICE_ROWS):
                held.append(batch.slice(begin, _SLICE_ROWS))
                if sum(part.num_rows for part in held) >= _SLICE_ROWS:
                    yield pa.Table.from_batches(held)
                    held = []
    if held:
        yield pa.Table.from_batches(held)


def _bucket_ranges(db: Database, bits: int, at_once: int) -> Iterator[list[int]]:
    """Yield ranges of hashes (first, last) of whole buckets, with about so many rows of `active` each."""
    counts = np.zeros(1 << bits, np.int64)
    for batch in db.batches("SELECT hash FROM active"):
        counts += np.bincount(ranges(batch["hash"].to_numpy(), bits), minlength=1 << bits)
    first = held = 0
    for bucket, count in enumerate(counts.tolist()):
        if held and held + count > at_once:
            yield [first << (64 - bits), (bucket << (64 - bits)) - 1]
            first, held = bucket, 0
        held += count
    if held:
        yield [first << (64 - bits), 2**64 - 1]


def _sums_before(counts: Any) -> list[list[int]]:
    """Return for each list of counts the sums of those before it."""
    rows = [np.asarray(row, np.int64) for row in counts]
    return [sums.tolist() for sums in accumulate(rows[:-1], initial=np.zeros_like(rows[0]))] if rows else []


def _beside(scratch: Database) -> Path:
    """Return the folder of a scan's files: beside that where its database spills to, in a folder of the scan alone."""
    if scratch.spill is None or scratch.spill.name != "spill":
        raise ValueError("a scan on Spark needs a folder of its own")
    return scratch.spill.parent / _FOLDER
