"""Sources elsewhere and in other forms: what reading them costs, beside the same texts in files here."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.benchmarks.bench import Bench, interleaved, ratio
from scripts.benchmarks.processes import ESDEDUP
from scripts.benchmarks.rows import Row, at_least, at_most
from scripts.wiki.copies import documents
from tests.support.s3_server import s3_server

SHARDS, SMALL_SHARDS = 100, 3
SHARD_BYTES, SMALL_BYTES = 10 * 2**20, 2**16
_OWN = 10
"""Shards of generated texts; the others have the same texts in other letters, so that no word is the same."""
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_RUNS = 3


def measure(bench: Bench) -> list[Row]:
    folder = bench.work / "anywhere"
    shutil.rmtree(folder, ignore_errors=True)
    shards, size = (SMALL_SHARDS, SMALL_BYTES) if bench.small else (SHARDS, SHARD_BYTES)
    for kind in ("lines", "wet"):
        (folder / kind).mkdir(parents=True)
    for number, texts in enumerate(_shards(shards, size)):
        with (folder / "lines" / f"{number:03}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": f"{number}-{at}", "text": text}) + "\n" for at, text in enumerate(texts))
        with (folder / "wet" / f"{number:03}.warc.wet").open("wb") as archive:
            archive.writelines(_record(f"{number}-{at}", text.encode()) for at, text in enumerate(texts))
    few = next((folder / "lines").iterdir())
    for verb in ("dedupe", "run"):  # which compiles
        _processor_time([*ESDEDUP, verb, str(few), "-o", str(folder / "few"), "--fresh", "--quiet"], {})
    rows = [_s3(bench, folder, shards), _wet(bench, folder)]
    shutil.rmtree(folder)
    return rows


def _s3(bench: Bench, folder: Path, shards: int) -> Row:
    with s3_server() as bucket:
        bucket.put_folder(folder / "lines", "lines")
        jobs = {
            where: lambda source=source: _processor_time(
                [*ESDEDUP, "dedupe", source, "-o", str(folder / "out"), "--fresh", "--quiet"], bucket.environment
            )
            for where, source in (("s3", "s3://bucket/lines/"), ("here", str(folder / "lines")))
        }
        took = interleaved(jobs, min(bench.runs, _RUNS), uncounted=0)
    return at_most(
        f"`dedupe` of {shards} shards in S3 on this machine, own processor time compared with files",
        ratio(took["s3"], took["here"]), "×", 1.1,
    )  # fmt: skip


def _wet(bench: Bench, folder: Path) -> Row:
    how = ["--unit", "sentence", "-o", str(folder / "found"), "--fresh", "--quiet"]
    jobs = {
        kind: lambda kind=kind: _processor_time([*ESDEDUP, "run", str(folder / kind), *how], {})
        for kind in ("wet", "lines")
    }
    took = interleaved(jobs, min(bench.runs, _RUNS), uncounted=0)
    speed = ratio(took["lines"], took["wet"])
    return at_least("`run` of WET, speed compared with the same texts as JSON Lines", speed, "×", 0.8)


def _shards(count: int, size: int) -> Iterator[list[str]]:
    texts, shard, held = documents(10**9, longest=8000), [], 0
    own: list[list[str]] = []
    while len(own) < min(count, _OWN):
        text = next(texts).text
        shard.append(text)
        held += len(text)
        if held > size:
            own.append(shard)
            shard, held = [], 0
    for number in range(count):
        turned = number // _OWN
        vowels, consonants = (letters[turned % len(letters) :] + letters[: turned % len(letters)]
                              for letters in (_VOWELS, _CONSONANTS))  # fmt: skip
        other = str.maketrans(_VOWELS + _CONSONANTS, vowels + consonants)
        yield [text.translate(other) for text in own[number % _OWN]]


def _record(name: str, body: bytes) -> bytes:
    fields = (
        f"WARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:{name}>\r\nWARC-Target-URI: http://a.example/{name}\r\n"
    )
    head = f"WARC/1.0\r\n{fields}Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body + b"\r\n\r\n"


def _processor_time(command: list[str], environment: dict[str, str]) -> float:
    """The processor time of a command and of all that it starts, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=sys.stderr, env={**os.environ, **environment})
    done.check_returncode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
