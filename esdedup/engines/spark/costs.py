"""What the stages of this process have cost on the cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from esdedup.matching.engine import StageCost

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
