"""The first rows of an answer, and whether there are more."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

_log = logging.getLogger("esdedup")


def one_more(limit: int | None) -> int | None:
    """Return how many rows to ask for, so that `first_rows` can tell whether `limit` are all."""
    return None if limit is None else limit + 1


def first_rows(rows: Iterable[T], limit: int | None) -> Iterator[T]:
    """Yield up to `limit` rows. If there is one more, say so."""
    left = iter(rows)
    yield from islice(left, limit)
    if limit is not None and next(left, None) is not None:
        _log.warning("there are more than these %s; list more with --limit", f"{limit:,}")
