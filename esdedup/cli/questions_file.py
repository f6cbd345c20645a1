"""The questions of `similar --file`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from esdedup.errors import SourceError, UsageError
from esdedup.plurals import plural

_TOLD = 5


def read_questions(path: str) -> Iterator[tuple[str, str]]:
    """Yield id and text of each question. A question without an id gets the number of its line.

    Raise `SourceError` if the file cannot be read; at its end `UsageError`, if a line is no question.
    """
    from esdedup.store.ledger import STANDARD_INPUT

    others: list[int] = []
    try:
        with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                question = _question(line, number)
                if question is None:
                    others.append(number)
                else:
                    yield question
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    if others:
        named = ", ".join(map(str, others[:_TOLD])) + (", …" if len(others) > _TOLD else "")
        raise UsageError(
            f"{path}: {plural(len(others), 'line is no question', 'lines are no questions')} ({named}), and the others "
            'are answered; write one a line, as {"id": "1", "text": "…"}'
        )


def _question(line: bytes, number: int) -> tuple[str, str] | None:
    try:
        asked = json.loads(line)
        text = asked["text"]
        return (str(asked.get("id", number)), text) if isinstance(text, str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
