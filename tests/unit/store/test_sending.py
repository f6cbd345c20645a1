"""A job beside a thread: who ends whom, and whose error is raised."""

from __future__ import annotations

from threading import Event

import pytest

from esdedup.store.elasticsearch.sending import beside, parts_of_results


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_job_and_only_an_interrupt_gives_up(error: type[BaseException]) -> None:
    ended, given_up = Event(), Event()
    with pytest.raises(error), beside(lambda: ended.wait(60), ended, given_up.set) as running:
        raise error
    assert running.result() and given_up.is_set() == (error is KeyboardInterrupt)


def test_an_error_waits_for_a_whole_job() -> None:
    ended = Event()
    with pytest.raises(ValueError), beside(lambda: ended.wait(0.2), ended, ended.set, whole=True) as running:
        raise ValueError
    assert not running.result()


def test_an_interrupt_ends_a_whole_job_and_what_runs_beside_it() -> None:
    ended, given_up = Event(), Event()

    def wait() -> bool:
        return ended.wait(60)

    with (
        pytest.raises(KeyboardInterrupt),
        beside(wait, ended, given_up.set) as first,
        beside(wait, ended, given_up.set, whole=True) as second,
    ):
        raise KeyboardInterrupt
    assert first.result() and second.result() and given_up.is_set()


def test_a_job_that_runs_first_has_ended_before_anything_else() -> None:
    ended = Event()
    with beside(lambda: ended.wait(0.2), ended, ended.set, first=True) as running:
        assert running.done()


@pytest.mark.parametrize("settled", [True, False])
def test_every_document_is_in_one_part(settled: bool) -> None:
    parts = parts_of_results(settled=settled)
    for kind in ("pairs", "clusters", "members"):
        chosen = [part[kind] for part in parts if kind in part]
        assert chosen in (["true"], ["k.distinct_texts = 1", "k.distinct_texts > 1"])
