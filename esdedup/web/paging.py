"""The way through a list that continues after a row: on, back, and to the first page.

A list knows what follows a row, but not what precedes it. So the address of a page keeps where earlier pages began.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_TRAIL = 40
"""Pages that one can go back at most; the address has 17 characters for each."""

Changes = Mapping[str, Any]
"""Parameters of an address. None removes one."""

FIRST: Changes = {"after": None, "page": None, "back": None}


class Paging(NamedTuple):
    """The number of a page, None if its address does not tell, and what leads to those beside it."""

    page: int | None
    previous: Changes | None
    next: Changes | None

    def numbers(self, shown: int, limit: int) -> tuple[int, int] | None:
        """Return the numbers of the first and the last row, if so many of `limit` rows are shown."""
        if self.page is None or not shown:
            return None
        first = (self.page - 1) * limit + 1
        return first, first + shown - 1


def numbered(asked: Mapping[str, str | None], rows: int, limit: int) -> Paging:
    """Return the way from a page of a list that is known as a whole; its address has only the number of the page."""
    last = max(1, -(-rows // limit))
    page = min(_number(asked) or 1, last)
    return Paging(page, {"page": page - 1} if page > 1 else None, {"page": page + 1} if page < last else None)


def paging(asked: Mapping[str, str | None], following: str | None) -> Paging:
    """Return the way from a page that was `asked` for with these parameters; the next one is `following` this id."""
    here = asked.get("after") or None
    if here is None:
        return Paging(1, None, None if following is None else {"after": following, "page": 2, "back": None})
    trail = re.findall("[0-9a-f]{16}", asked.get("back") or "")[-_TRAIL:]
    number = _number(asked)
    page = number and max(2, number)
    previous: Changes | None = None
    if trail:
        previous = {"after": trail[-1], "page": page and max(2, page - 1), "back": "-".join(trail[:-1])}
    elif page == 2:
        previous = FIRST
    on = {"after": following, "page": page and page + 1, "back": "-".join([*trail, here][-_TRAIL:])}
    return Paging(page, previous, None if following is None else on)


def _number(asked: Mapping[str, str | None]) -> int | None:
    found = re.fullmatch("[1-9][0-9]{0,8}", asked.get("page") or "", re.ASCII)
    return int(found[0]) if found else None
