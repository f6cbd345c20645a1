"""The questions of `similar --file`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from esdedup.errors import SourceError, UsageError


def read_questions(path: str) -> Iterator[tuple[str, str]]:
    """Yield id and text of each question. A question without an id gets the number of its line.

    Raise `SourceError` if the file cannot be read, `UsageError` for a line that is no question.
    """
    from esdedup.store.ledger import STANDARD_INPUT

    try:
        with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _question(line, path, number)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}; check the path") from error


def _question(line: bytes, path: str, number: int) -> tuple[str, str]:
    try:
        asked = json.loads(line)
        text = asked["text"]
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f'{path}:{number}: no question; write one a line, as {{"id": "1", "text": "…"}}') from None
    return str(asked.get("id", number)), text
