"""One line for a whole job: what it does now, how much is done, and how long the rest takes."""

from __future__ import annotations

import logging

import pytest

from esdedup.jobs import progress_bar
from esdedup.jobs.progress_bar import SHARES, Bar, Job, begin_stage


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress_bar, "_draws", lambda: False)
    return now


def test_a_job_tells_of_its_stages(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    share = SHARES["run"]["index"] / (sum(SHARES["run"].values()) - SHARES["run"]["lookup"])
    with Job("run", True, without="lookup"):
        with Bar("index", 1000, "B", True) as bar:
            clock[0] += 50
            bar.reach(500, "1,234 sentences")
            clock[0] += 50
        with Bar("scan", 0, "range", True) as bar:
            clock[0] += 11
            bar.follow(1, 2)
        with Bar("another", 0, "range", True) as bar:  # none of its stages
            bar.follow(1, 2)
        begin_stage("write")
        begin_stage("unknown")
        clock[0] += 4
    left = progress_bar._bar_class().format_interval(50 / (share / 2) - 50)
    first, *others, last = caplog.messages
    assert first == f"run: {share / 2:.0%}, index, 1,234 sentences, about {left} left"
    assert all(line.startswith("run: ") and "scan, about" in line for line in others)
    assert others
    assert last == "run took 01:55: index 01:40, scan 00:11, write 00:04"


def test_what_a_killed_command_had_done_takes_no_time(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Job("scan", True), Bar("scan", 2, "range", True) as bar:
        clock[0] += 1
        bar.reach(1)
        clock[0] += 60
        bar.reach(2)  # 30 hundredths in a minute, and 40 are left
    assert caplog.messages[0] == "scan: 60%, scan, about 01:20 left"


def test_a_stage_of_unknown_size_has_no_share(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Job("index", True), Bar("index", 0, "B", True) as bar:
        clock[0] += 20
        bar.reach(2**20, "7 sentences")
    assert caplog.messages[0] == "index: index, 7 sentences"


@pytest.mark.parametrize(("seconds", "shown"), [(5, True), (50, False)])
def test_short_and_quiet_jobs_say_nothing(
    clock: list[float], caplog: pytest.LogCaptureFixture, seconds: float, shown: bool
) -> None:
    caplog.set_level(logging.INFO)
    with Job("scan", shown), Bar("scan", 2, "range", shown) as bar:
        clock[0] += seconds
        bar.reach(1)
    assert not caplog.messages


def test_bars_of_a_job_that_failed_are_not_drawn_on_it(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(KeyError), Job("run", True):
        clock[0] += 50
        raise KeyError
    with Bar("index", 4, "B", True) as bar:
        clock[0] += 50
        bar.reach(2)
    assert caplog.messages == ["index: 50%"]
