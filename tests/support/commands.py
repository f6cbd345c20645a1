"""Commands as a person types them, run in this process: a process of its own takes a second to start."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from esdedup.cli import main


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


def said(*arguments: object) -> Said:
    """The command line in this process: an exception that it lets through fails the test."""
    # as the real ones are: what cannot be encoded is an error on the one and shown on the other
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", newline="", write_through=True)
    logger = logging.getLogger("esdedup")
    before = logger.handlers[:], logger.propagate, logger.level
    environment = dict(os.environ)  # which a config file with credentials changes
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(map(str, arguments)))
    except SystemExit as end:
        assert isinstance(end.code, int)
        return Said(end.code, _written(out), _written(err))
    finally:
        logger.handlers[:], logger.propagate, level = before
        logger.setLevel(level)
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
    raise AssertionError("the command line always ends by SystemExit")


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@contextlib.contextmanager
def typed_in(folder: Path, **environment: str) -> Iterator[None]:
    """What is typed in a folder, with these variables, and nothing on standard input."""
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


def esdedup(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a command answers that is typed in a folder."""
    with typed_in(cwd, **environment):
        done = said(*arguments)
    return subprocess.CompletedProcess(list(map(str, arguments)), done.code, done.out, done.err)
