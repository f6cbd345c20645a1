"""Tasks that send rows to each other through Spark's shuffle.

A task sends tables to numbered *buckets*. All tables that are sent to one bucket meet in one task. Spark moves them as
blobs, and does not look into them; it spills to disk what does not fit in memory, and makes again what is lost with a
worker. The order in which the tables of a bucket arrive means nothing.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.hashing import Hashes
from esdedup.errors import EngineError
from esdedup.matching.engine import Progress, StageCost, no_progress

_KNOWN: list[tuple[float, StageCost]] = []
"""The stages that have ended, with the time of their end."""


def note_cost(context: Any, group: str, stage: str, ended: float, seconds: float, peak: int) -> None:
    """Record what the jobs of a group have cost. `peak` is the most memory that a process of Python has had, in bytes.

    What Spark does not tell is 0: on some clusters its records are closed to Python.
    """
    tasks = milliseconds = shuffled = spilled = 0
    with suppress(Exception):  # whatever the gateway raises: a scan does not depend on it
        spark = context._jsc.sc()
        spark.listenerBus().waitUntilEmpty()
        store, tracker = spark.statusStore(), context.statusTracker()
        numbers = {number for job in tracker.getJobIdsForGroup(group) for number in tracker.getJobInfo(job).stageIds}
        for number in numbers:
            with suppress(Exception):  # a stage that was not needed again has no record
                told = store.lastStageAttempt(number)
                tasks += told.numCompleteTasks()
                milliseconds += told.executorRunTime()
                shuffled += told.shuffleWriteBytes()
                spilled += told.diskBytesSpilled()
    _KNOWN.append((ended, StageCost(stage, seconds, tasks, milliseconds / 1000, shuffled, spilled, peak)))


def costs_since(time: float) -> list[StageCost]:
    """Return the costs of the stages that ended since a time (seconds of the epoch), those of one name together."""
    found: dict[str, StageCost] = {}
    for ended, cost in _KNOWN:
        if ended >= time:
            found[cost.stage] = found[cost.stage] + cost if cost.stage in found else cost
    return list(found.values())


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MOST_BITS = 15


def bits_for(size: int, budget: int, tasks: int) -> int:
    """Return the bits of a bucket's number: with that many buckets each has at most `budget` of `size` bytes, and each
    of `tasks` parallel tasks has a few of them.
    """
    return min(_MOST_BITS, max(0, (max(size // budget, 4 * tasks) - 1).bit_length()))


def spread(values: Hashes, bits: int) -> Numbers:
    """Return the buckets of values by a mix of all their bits."""
    if bits == 0:
        return np.zeros(len(values), np.int64)
    mixed = values * _GOLDEN
    mixed ^= mixed >> np.uint64(32)
    return ((mixed * _GOLDEN) >> np.uint64(64 - bits)).astype(np.int64)


def ranges(hashes: Hashes, bits: int) -> Numbers:
    """Return the buckets of hashes by their first bits, so that a bucket is a range of hashes."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(hashes), np.int64)


def by_bucket(buckets: Numbers, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each bucket."""
    order = np.argsort(buckets.astype(np.uint16), kind="stable")  # a radix sort
    yield from in_order(buckets[order], rows.take(pa.array(order)))


def in_order(buckets: Numbers, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each bucket, which are adjacent."""
    cuts = np.flatnonzero(np.diff(buckets)) + 1
    rows = rows.combine_chunks()
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(buckets)], strict=True):
        if begin < end:
            yield int(buckets[begin]), rows.slice(begin, end - begin)


log = logging.getLogger("esdedup")

_BLOBS = "bucket int, kind int, blob binary"
_RESULTS = "id long, result string, peak long"
_NAMED = re.compile(r"^(?:Caused by: )?((?:[A-Za-z_]\w*\.)*)([A-Z]\w*(?:Error|Exception)): (.+)$", re.MULTILINE)
_IDLE = 20.0  # seconds without a task after which it is said
_TASKS_A_PARTITION = 4
_LOOK = 0.5  # seconds between two looks at the progress
_BLOB_BYTES = 2**22
"""A larger table is sent in pieces."""

_BLOBS_AT_ONCE = 16
"""The number of blobs that pass between Spark and a task together."""

_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


class Sent(NamedTuple):
    """A table that is sent to a bucket. `kind` tells apart tables of different columns."""

    bucket: int
    kind: int
    rows: pa.Table


Emit: TypeAlias = Callable[[Any], Iterator[Sent]]
"""From what one task is given, to what it sends."""

Arrived: TypeAlias = dict[int, pa.Table]
"""All rows that were sent to a bucket, by kind."""


class Sending(NamedTuple):
    """What tasks will send: rows of Spark, and how many tasks make them."""

    rows: Any
    tasks: int

    def union(self, more: Sending) -> Sending:
        """Return both together."""
        return Sending(self.rows.union(more.rows), self.tasks + more.tasks)

    def map(self, work: Any, columns: str) -> Sending:
        """Return what the work makes of it, in the same tasks."""
        return Sending(self.rows.mapInArrow(work, columns), self.tasks)


class Exchange:
    """Runs tasks in a Spark session. `partitions` tasks share the buckets.

    Raise `EngineError` if a task failed for good.
    """

    def __init__(self, session: Any, partitions: int, progress: Progress = no_progress) -> None:
        self._session = session
        self._partitions = partitions
        self._progress = progress

    def emitted(self, emit: Emit, given: Sequence[Any]) -> Sending:
        """Return what is sent by one task for each item of `given`."""

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch["id"].to_pylist():
                    yield from map(_packed, emit(given[number]))

        return self._tasks(len(given)).map(run, _BLOBS)

    def passed_on(self, sent: Sending, work: Callable[[int, Arrived], Iterator[Sent]]) -> Sending:
        """Return what is sent by the work on each bucket of what was sent."""

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for bucket, arrived in _arrived(batches):
                yield from map(_packed, work(bucket, arrived))

        return self._meeting(sent).map(run, _BLOBS)

    def finished(self, sent: Sending, work: Callable[[int, Arrived], Any], note: str) -> dict[int, Any]:
        """Run the work on each bucket of what was sent. Return its results, which JSON can hold, by bucket. `note` says
        what is being done.
        """

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for bucket, arrived in _arrived(batches):
                yield _told(bucket, work(bucket, arrived))

        return self._collected(self._meeting(sent).map(run, _RESULTS), note)

    def done(self, work: Callable[[Any], Any], given: Sequence[Any], note: str) -> list[Any]:
        """Run the work on each item. Return its results, which JSON can hold, in order."""

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch["id"].to_pylist():
                    yield _told(number, work(given[number]))

        return list(self._collected(self._tasks(len(given)).map(run, _RESULTS), note).values())

    def sorted_by_key(
        self,
        keys: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
        tasks: int,
        columns: str,
        work: Callable[[int, Iterable[pa.RecordBatch]], Any],
        note: str,
    ) -> dict[int, Any]:
        """Sort rows by their first column over all partitions, and run the work on each partition. Return its results
        by partition, in order.
        """

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            here = TaskContext.get()
            number = 0 if here is None else here.partitionId()
            yield _told(number, work(number, batches))

        def make(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from keys(batches)

        name = columns.split()[0]
        rows, made = self._tasks(tasks).map(make, columns)
        ordered = rows.repartitionByRange(self._partitions, name).sortWithinPartitions(name)
        # Spark makes the rows twice: first to find the ranges
        found = self._collected(Sending(ordered, 2 * made + self._partitions).map(run, _RESULTS), note)
        return {partition: result for partition, result in found.items() if result}

    def _collected(self, made: Sending, note: str) -> dict[int, Any]:
        """Run tasks to their end. Return their results by number, in order."""
        context, group = self._session.sparkContext, f"esdedup-{uuid.uuid4().hex}"

        def collect() -> Any:
            context.setJobGroup(group, f"esdedup: {note}")
            return made.rows.collect()

        with self._few_blobs_at_once(), ThreadPoolExecutor(1) as thread:
            running, begun, idle = thread.submit(collect), time.monotonic(), True
            started = begun
            try:
                while not wait([running], _LOOK).done:
                    done, active = _tasks_of(context.statusTracker(), group)
                    self._progress(done, max(made.tasks, done + active), note)  # more if some run again
                    idle = idle and not (done or active)
                    if idle and time.monotonic() > begun + _IDLE:
                        log.warning("no worker of %s has taken a task yet; is the cluster busy?", context.master)
                        begun, idle = math.inf, False
                found = running.result()
                peak = max((row.peak for row in found), default=0)
                note_cost(context, group, note, time.time(), time.monotonic() - started, peak)
            except BaseException as error:
                context.cancelJobGroup(group)
                if type(error).__module__.startswith(("pyspark", "py4j")):
                    raise EngineError(f"Spark gave up {note}: {in_one_line(str(error))}") from error
                raise
        return {row.id: json.loads(row.result) for row in sorted(found)}

    @contextmanager
    def _few_blobs_at_once(self) -> Iterator[None]:
        """Limit what passes between Spark and a task together; the session of a caller is left as it was."""
        conf = self._session.conf
        before = conf.get(_BATCH)
        conf.set(_BATCH, str(_BLOBS_AT_ONCE))
        try:
            yield
        finally:
            conf.set(_BATCH, before)

    def _tasks(self, count: int) -> Sending:
        """Return the numbers of items, a few of them in each task."""
        tasks = max(1, min(count, _TASKS_A_PARTITION * self._partitions))
        return Sending(self._session.range(count, numPartitions=tasks), tasks)

    def _meeting(self, sent: Sending) -> Sending:
        rows = sent.rows.repartition(self._partitions, "bucket").sortWithinPartitions("bucket")
        return Sending(rows, sent.tasks + self._partitions)


def exchange_in(session: Any, progress: Progress) -> Exchange:
    """Return an exchange with as many partitions as the configuration says, or else twice the cores."""
    partitions = session.conf.get("spark.esdedup.partitions", None)
    return Exchange(session, int(partitions or 2 * session.sparkContext.defaultParallelism), progress)


def _told(number: int, result: Any) -> pa.RecordBatch:
    """Return a result as a row, with the most memory that this process has had."""
    peak = 0
    with suppress(ImportError):  # on Windows
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    numbers = {name: pa.array([value], pa.int64()) for name, value in {"id": number, "peak": peak}.items()}
    return pa.record_batch({"id": numbers["id"], "result": [json.dumps(result)], "peak": numbers["peak"]})


def _tasks_of(tracker: Any, group: str) -> tuple[int, int]:
    """Return the number of tasks done, and of those that run, of a group of jobs. What Spark says of all tasks is less
    at first, as jobs follow each other, and more later, with those that another job has done.
    """
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = list(filter(None, (tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds)))
    done, active = (sum(getattr(stage, name) for stage in stages) for name in ("numCompletedTasks", "numActiveTasks"))
    return done, active


def in_one_line(text: str) -> str:
    """Return the reason of a failure: the last error of Python that Spark's account of it names, or else of Java."""
    named = _NAMED.findall(text)
    ours = [one for one in named if not one[0].startswith(("org.", "java.", "scala.", "pyspark."))]
    where = re.search(r"\(TID [0-9]+\) \((\S+) executor", text)
    on = f", on {where[1]}" if where else ""
    if not named:
        return next(iter(text.strip().splitlines()), "no reason given") + on
    missing = re.search(r'Cannot run program "([^"]+)"', text)
    if missing is not None and not ours:
        return f"there is no {missing[1]}{on}; set PYSPARK_PYTHON to the path of Python there"
    where_from, kind, reason = (ours or named)[-1]
    if kind == "ModuleNotFoundError":
        return f"{reason}{on}; install esdedup[spark] there, or send an environment (docs/spark.md)"
    return (reason if kind == "SparkException" or where_from.startswith("esdedup.") else f"{kind}: {reason}") + on


def _packed(sent: Sent) -> pa.RecordBatch:
    rows, pieces = sent.rows, max(1, -(-sent.rows.nbytes // _BLOB_BYTES))
    at_once = max(1, -(-len(rows) // pieces))
    blobs = []
    for begin in range(0, len(rows), at_once):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows.slice(begin, at_once))
        blobs.append(sink.getvalue().to_pybytes())
    columns = [pa.array([value] * len(blobs), pa.int32()) for value in (sent.bucket, sent.kind)]
    return pa.record_batch([*columns, pa.array(blobs, pa.binary())], ["bucket", "kind", "blob"])


def _arrived(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Arrived]]:
    """Yield each bucket with its tables. Blobs of one bucket are adjacent."""
    current, held = -1, dict[int, list[pa.Table]]()
    for batch in batches:
        blobs = batch["blob"]
        for row, (bucket, kind) in enumerate(zip(batch["bucket"].to_pylist(), batch["kind"].to_pylist(), strict=True)):
            if bucket != current and held:
                yield current, {each: pa.concat_tables(tables) for each, tables in held.items()}
                held = {}
            current = bucket
            held.setdefault(kind, []).append(pa.ipc.open_stream(blobs[row].as_buffer()).read_all())
    if held:
        yield current, {each: pa.concat_tables(tables) for each, tables in held.items()}
