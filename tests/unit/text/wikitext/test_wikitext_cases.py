from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from esdedup.text.wikitext.fast import FastCleaner
from esdedup.text.wikitext.reference import ReferenceCleaner
from esdedup.text.wikitext.rules import Names
from tests.unit.text.wikitext.wikitext_cases import Case, read_cases

CASES = read_cases()
SHARED = [case for case in CASES if case.fast_only is None]


def _visible(text: str) -> str:
    """Return the text without the variation selectors that tell one hole from another."""
    return re.sub(r"[\U000e0100-\U000e013f]", "", text)


def _name(case: Case) -> str:
    return f"{case.topic}: {case.name}"


@pytest.fixture(scope="module")
def fast() -> FastCleaner:
    return FastCleaner(Names(site="en.wikipedia"))


@pytest.fixture(scope="module")
def reference() -> Iterator[ReferenceCleaner]:
    with ReferenceCleaner(Names(site="en.wikipedia"), time_limit=30) as cleaner:
        yield cleaner


def test_there_are_enough_cases_for_both_paths() -> None:
    assert len(SHARED) >= 60
    assert len({_name(case) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_fast(case: Case, fast: FastCleaner) -> None:
    assert _visible(fast.clean(case.wikitext)) == case.text


@pytest.mark.parametrize("case", SHARED, ids=_name)
def test_reference(case: Case, reference: ReferenceCleaner) -> None:
    assert _visible(reference.clean(case.wikitext)) == case.text


@pytest.mark.parametrize("case", [case for case in CASES if case.fast_only], ids=_name)
def test_a_case_for_the_fast_path_only_is_still_needed(case: Case, reference: ReferenceCleaner) -> None:
    assert _visible(reference.clean(case.wikitext)) != case.text


def test_every_case_is_one_sentence_of_markup_at_most(fast: FastCleaner) -> None:
    """All cases as one page: nothing that is closed in one reaches into another."""
    closed = [case for case in CASES if case.topic not in ("unclosed", "sections", "references")]
    page = "\n\n".join(case.wikitext for case in closed)
    blocks = [block for case in closed for block in case.text.split("\n\n")]
    assert [re.sub(r"\s+", " ", block) for block in _visible(fast.clean(page)).split("\n\n")] == [
        re.sub(r"\s+", " ", block) for block in blocks
    ]
