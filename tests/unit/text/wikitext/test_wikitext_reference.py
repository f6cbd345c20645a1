from __future__ import annotations

import threading

import psutil
import pytest

from esdedup.errors import SettingsError, UnparsablePageError
from esdedup.text.wikitext import reference
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names


def test_a_page_that_takes_too_long_costs_only_itself() -> None:
    with ReferenceCleaner(Names(), time_limit=0.5) as cleaner:
        assert cleaner.clean("A [[mill]].") == "A mill."
        with pytest.raises(UnparsablePageError, match=r"longer than 0\.5 s"):
            cleaner.clean("[[a|" * 25_000)
        assert cleaner.clean("A [[wheel]].") == "A wheel."


def test_a_busy_machine_costs_no_page() -> None:
    """Processor time counts: a process that has to wait is not slow."""
    with ReferenceCleaner(Names(), time_limit=0.5) as cleaner:
        cleaner.clean("")
        assert cleaner._process is not None
        held = psutil.Process(cleaner._process.pid)
        held.suspend()
        threading.Timer(1.5, held.resume).start()
        assert cleaner.clean("A [[mill]].") == "A mill."


def test_a_crash_is_the_failure_of_the_page() -> None:
    with ReferenceCleaner(Names()) as cleaner:
        cleaner.clean("")
        assert cleaner._process is not None
        cleaner._process.kill()
        cleaner._process.wait()
        with pytest.raises(UnparsablePageError, match="crashed"):
            cleaner.clean("A page that is never read.")
        assert cleaner.clean("One that is.") == "One that is."


def test_a_missing_parser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match="pip install mwparserfromhell"):
        ReferenceCleaner(Names())


def test_close_ends_the_process() -> None:
    cleaner = ReferenceCleaner(Names())
    cleaner.clean("x")
    process = cleaner._process
    assert process is not None
    cleaner.close()
    cleaner.close()
    assert process.poll() is not None


def test_names_of_the_dump_reach_the_process() -> None:
    with ReferenceCleaner(Names({6: "Zorbl"})) as cleaner:
        assert cleaner.clean("[[Zorbl:a.jpg|x]]It stands.") == "It stands."


def test_the_plain_parser_lets_an_unpaired_mark_run_on() -> None:
    page = "The mill.<ref>''Mills</ref> It turned.\n\nIt ''stopped'' then.<ref>b</ref>"
    with ReferenceCleaner(Names()) as corrected, ReferenceCleaner(Names(), corrected=False) as plain:
        assert corrected.clean(page) == "The mill. It turned.\n\nIt stopped then."
        assert plain.clean("''a'' [[b|'''c''']]\n* d") == "a c\n\nd"
        assert plain.clean(page) != corrected.clean(page)
