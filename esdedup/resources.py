"""The resources of the machine that a job may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from esdedup.errors import SettingsError
from esdedup.options import Options, option, shown_value

MASTERS = "local[N], local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT"
"""Where the Spark engine runs, beside `spark`."""

_BYTE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_memory(text: str, name: str = "memory") -> int:
    """Return the bytes of `1GiB`, `512MB` or `800m`. Raises `SettingsError` for anything else."""
    match = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]+)?)\s*([kmg]?i?)b?\s*", text.lower())
    if match is None or match[2] not in _BYTE_UNITS:
        raise SettingsError(f"{name} is {shown_value(text)}; write it as 512MiB, 1GiB or 2GB")
    return int(float(match[1]) * _BYTE_UNITS[match[2]])


def memory_in_words(size: int) -> str:
    """Return a size as `parse_memory` reads it."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size and size % 2**power == 0:
            return f"{size >> power}{unit}"
    return str(size)


@dataclass(frozen=True)
class Resources(Options):
    """What the whole process tree may use: `workers` processes, `memory` bytes."""

    workers: int | None = option(None, "Number of processes.", unit="N", low=1, high=1024, usual="one per core")
    memory: int = option(
        2**30, "Memory that all processes may use together.", unit="SIZE", low=2**28, high=2**50,
        expected="allowed: 256MiB to 1PiB, for example 4GiB", parse=parse_memory, usual="1GiB",
    )  # fmt: skip

    engine: str = option(
        "local", "Where pairs are found: local, without Spark; local[N] or local[*], Spark on N or all cores of this "
        "machine; spark://HOST:PORT, yarn or k8s://HOST:PORT, a cluster; or spark, the master that Spark's "
        "configuration names. The result is the same.", unit="PLACE",
        expected=f"allowed: local, spark, {MASTERS}, or in Python a Spark session",
    )  # fmt: skip

    @property
    def of_database(self) -> dict[str, Any]:
        """How a store is opened for a job: with the database's share of the memory."""
        return {"memory": self.memory // 4, "threads": self.processes}

    @property
    def processes(self) -> int:
        """The number of workers, by default one for each core."""
        return available_cores() if self.workers is None else self.workers
