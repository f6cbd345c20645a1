"""What operators of a server do to a store: it gives the same results afterwards, or says in one line what to do."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from tests.support.commands import said
from tests.support.full import few
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import Job, results
from tests.system.robustness.operators import ACTIONS, Action, Site, forget_template, table, type_a_document


@pytest.fixture(scope="module")
def scanned() -> list[Site]:
    """Stores with the results of a scan, which a test may take; it puts back what it has left so."""
    return []


@pytest.fixture
def site(elastic_url: str, job: Job, scanned: list[Site]) -> Iterator[Site]:
    with Elasticsearch(elastic_url) as client:
        prefix = f"t-{uuid.uuid4().hex[:8]}"
        site = replace(scanned.pop(), client=client, kept={}) if scanned else Site(client, prefix, elastic_url)
        if site.prefix == prefix:
            for verb in ("index", "scan"):
                job.commands(f"{site.url}/{prefix}")[verb]()
        yield site
        forget_template(site)
        if site not in scanned:
            for index in client.indices.get(index=f"*-{site.prefix}*,{site.prefix}-*", expand_wildcards="all"):
                client.indices.delete(index=index)


USUAL = [place for place, action in enumerate(ACTIONS) if action.line is not None or place % 10 == 0]


@pytest.mark.parametrize("action", few(ACTIONS, *USUAL), ids=[action.name for action in ACTIONS])
def test_after_an_action_results_are_the_same_or_one_line_says_what_to_do(
    action: Action, site: Site, scanned: list[Site], job: Job, tmp_path: Path
) -> None:
    store = f"{site.url}/{site.prefix}"
    action.do(site)
    read = said("clusters", "--store", store, "--quiet", "--json")
    if action.answers:
        assert read.code == 0, read.err
    else:
        line = one_line(read)
        assert "no results: " in line or re.search(action.line or "", line), line
    if action.line is not None:
        line = one_line(said("scan", "--store", store, "--quiet"))
        assert re.search(action.line, line), line
        assert "--fresh" not in line
        assert action.mend is not None
        action.mend(site)
    done = said("scan", "--store", store)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    if action.said is not None:
        assert re.search(action.said, done.err), done.err
    assert results(store, tmp_path / "out") == job.expected["scan"]
    began = action.mend is not None and action.line is None
    if began:
        assert action.mend is not None
        assert "fix this and run the same command again" in one_line(said(*job.arguments("add", store)))
        action.mend(site)
    if action.writes:
        for verb in ("add", "remove"):
            job.commands(store)[verb]()
        assert results(store, tmp_path / "out") == job.expected["remove"]
    elif not began:
        scanned.append(site)


def test_a_typed_document_changes_no_answer(site: Site) -> None:
    store = f"{site.url}/{site.prefix}"
    questions = (["clusters", "--limit", "3"], ["clusters", "--limit", "1000"], ["overlap"], ["drift"], ["templates"])
    before = [said(*question, "--store", store, "--json", "--quiet") for question in questions]
    assert all(answer.code == 0 and answer.out for answer in before[:3])
    type_a_document(site)
    assert [said(*question, "--store", store, "--json", "--quiet") for question in questions] == before


def test_an_index_that_was_moved_outlives_its_store_without_its_aliases(site: Site, job: Job, tmp_path: Path) -> None:
    store = f"{site.url}/{site.prefix}"
    [move] = [action for action in ACTIONS if action.name.startswith("write sentences to an index of another name")]
    move.do(site)
    done = said("drop", "--store", store, "--yes")
    assert done.code == 0
    [kept] = re.findall("(\\S+) stays, because esdedup did not make it", done.err)
    assert site.client.count(index=kept)["count"]
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    job.check("scan", store, tmp_path / "anew")
    assert said("doctor", "--store", store).code == 0
    site.client.indices.delete(index=kept)


def test_the_table_of_the_docs_is_what_is_tried() -> None:
    assert len(ACTIONS) >= 40
    assert table() in (Path(__file__).parents[3] / "docs" / "reliability.md").read_text("utf-8")
