"""Straight lines through small runs."""

from __future__ import annotations

from esdedup.evaluation.forecast import RunCost, forecast


def test_time_and_disk_grow_with_the_sentences() -> None:
    runs = [RunCost(25_000, 3.0, 300, 10_000), RunCost(100_000, 6.0, 600, 25_000)]
    assert forecast(runs, 400_000, 10_000) == RunCost(400_000, 18.0, 1200, 85_000)
    assert forecast(runs[::-1], 400_000, 10_000) == forecast(runs, 400_000, 10_000)


def test_memory_ends_where_it_must() -> None:
    runs = [RunCost(25_000, 3.0, 300, 10_000), RunCost(100_000, 6.0, 600, 25_000)]
    assert forecast(runs, 10_000_000, 1000).memory == 1000
    assert forecast(runs, 10_000_000, 500).memory == 600  # a run has had more
    steep = [RunCost(25_000, 3.0, 100, 10_000), RunCost(100_000, 6.0, 600, 25_000)]
    assert forecast(steep, 200_000, 10_000).memory == 1200  # no faster than the sentences


def test_what_has_not_grown_is_taken_in_proportion() -> None:
    runs = [RunCost(25_000, 4.0, 300, 10_000), RunCost(100_000, 3.9, 290, 10_000)]
    assert forecast(runs, 1_000_000, 1000) == RunCost(1_000_000, 39.0, 290, 100_000)


def test_one_size_is_taken_in_proportion() -> None:
    assert forecast([RunCost(1000, 2.0, 300, 5000)] * 2, 3000, 1000) == RunCost(3000, 6.0, 300, 15_000)


def test_the_cores_of_a_cluster_share_the_tasks() -> None:
    runs = [
        RunCost(100, 12.0, 300, 1000, stage_seconds=8.0, task_seconds=16.0, shuffled=500),
        RunCost(200, 15.0, 300, 2000, stage_seconds=10.0, task_seconds=20.0, shuffled=1000),
    ]
    same = forecast(runs, 1000, 1000)
    assert (same.seconds, same.stage_seconds, same.task_seconds, same.shuffled) == (39.0, 26.0, 52.0, 5000)
    assert forecast(runs, 1000, 1000, cores=26).seconds == 13.0 + 2.0
