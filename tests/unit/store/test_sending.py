"""A job beside a thread: who ends whom, and whose error is raised."""

from __future__ import annotations

from threading import Event

import pytest

from esdedup.store.elasticsearch.sending import beside, parts_of_results


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_job(error: type[BaseException]) -> None:
    ended = Event()
    with pytest.raises(error), beside(ended.wait, ended) as running:  # type: ignore[arg-type]
        raise error
    assert running.done()


def test_an_error_waits_for_a_whole_job() -> None:
    ended, seen = Event(), []
    with pytest.raises(ValueError), beside(lambda: seen.append(ended.wait(0.2)), ended, whole=True):
        raise ValueError
    assert seen == [False]


def test_an_interrupt_ends_a_whole_job_and_what_runs_beside_it() -> None:
    ended, seen = Event(), []

    def wait() -> None:
        seen.append(ended.wait(60))

    with pytest.raises(KeyboardInterrupt), beside(wait, ended), beside(wait, ended, whole=True):
        raise KeyboardInterrupt
    assert seen == [True, True]


@pytest.mark.parametrize("settled", [True, False])
def test_every_document_is_in_one_part(settled: bool) -> None:
    parts = parts_of_results(settled=settled)
    for kind in ("pairs", "clusters", "members"):
        chosen = [part[kind] for part in parts if kind in part]
        assert chosen in (["true"], ["k.distinct_texts = 1", "k.distinct_texts > 1"])
