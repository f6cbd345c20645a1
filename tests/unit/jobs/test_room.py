"""A disk that is too small for a large wiki is known after its first part, and not after an hour."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from esdedup.errors import StoreError
from esdedup.jobs.indexing import _Room

GB = 10**9
WIKI = 20 * GB


def intake(*rooms: tuple[int, int] | None, lookup: bool = True) -> Any:
    told = iter(rooms)
    return SimpleNamespace(room=lambda: next(told), lookup=lookup)


def test_too_small_a_disk() -> None:
    room = _Room(intake((0, 40 * GB), (1 * GB, 39 * GB)), WIKI, alike=True)
    room.check(WIKI // 100)  # too little to tell
    with pytest.raises(StoreError, match=r"about 48\.0 GB on disk are needed, and 39\.0 GB are free; omit the lookup"):
        room.check(WIKI // 20)


def test_what_is_needed_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    room = _Room(intake((0, 40 * GB), (1 * GB, 39 * GB), lookup=False), WIKI, alike=True)
    for part in range(5, 20):
        room.check(WIKI * part // 100)
    assert caplog.messages == ["about 36.0 GB on disk will be needed; 39.0 GB are free"]


@pytest.mark.parametrize(
    ("rooms", "size"),
    [
        ([(0, 1)], GB // 2),  # not worth while
        ([None], WIKI),  # on a server
        ([(GB, 1)], WIKI),  # of another run
        ([(0, 1), (1000, 1)], WIKI),  # nothing is written yet
    ],
)
def test_jobs_of_which_nothing_can_be_told(rooms: list[Any], size: int) -> None:
    _Room(intake(*rooms), size, alike=True).check(size // 2)


def test_sources_that_are_compressed_in_several_ways() -> None:
    _Room(intake((0, 40 * GB), (GB, GB)), WIKI, alike=False).check(WIKI // 20)
