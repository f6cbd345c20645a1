"""`esdedup doctor` finds what is wrong with a store on a server, and mends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import esdedup
from esdedup.store.schemas import SCHEMA_VERSION
from tests.support.commands import said
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.records import table
from tests.system.robustness.helpers import one_line
from tests.system.robustness.on_a_server import HOW, Job, results
from tests.system.robustness.operators import Site

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def site(elastic_url: str, elastic_prefix: str) -> Any:
    with Elasticsearch(elastic_url) as client:
        yield Site(client, elastic_prefix, elastic_url)


def delete_index(kind: str) -> Callable[[Site], Any]:
    return lambda site: site.client.indices.delete(index=site.index(kind))


def wrong_tokens(site: Site) -> None:
    """Sentences with the tokens of others, which nobody but a program of one's own could write."""
    index = site.index("sentences")
    hits = site.hits(index)[:40]
    site.write(index, [hit | {"_source": hit["_source"] | {"tokens": "aaaaaaa bbbbbbb"}} for hit in hits])


def lost_fields(site: Site) -> None:
    """The index is written again without its mapping: the server guesses types."""
    index = site.index("documents")
    [description] = site.client.indices.get(index=index).values()
    hits = site.hits(index)
    site.client.indices.delete(index=index)
    meta = {"_meta": description["mappings"]["_meta"]}
    site.client.indices.create(index=index, mappings=meta, aliases=description["aliases"])
    site.write(index, hits)


def orphan(site: Site) -> None:
    index = site.index("documents")
    site.client.delete(index=index, id=site.hits(index)[2]["_id"], refresh=True)


def typed(site: Site) -> None:
    site.client.index(index=site.index("sentences"), document={"text": "Typed by hand."}, refresh=True)


def copied(site: Site) -> None:
    """A sentence under an id that the server chose."""
    hit = site.hits(site.index("sentences"))[3]
    site.client.index(index=site.index("sentences"), document=hit["_source"], refresh=True)


def typed_into_documents(site: Site) -> None:
    site.client.index(index=site.index("documents"), document={"title": "Typed by hand."}, refresh=True)


def other_meta(site: Site) -> None:
    site.client.indices.put_mapping(index=site.index("sentences"), meta={"owner": "me"})


def half_made(site: Site) -> None:
    """What a killed command left: indices of a generation that never got a state."""
    name = f"{site.prefix}-sentences-20260101t000000000000"
    meta = {"esdedup": {"schema": SCHEMA_VERSION}}
    site.client.indices.create(index=name, mappings={"_meta": meta})


def unsigned(site: Site) -> None:
    hits = site.hits(site.index("sentences"))[:50]
    site.write(site.index("sentences"), [hit | {"_source": without(hit["_source"], "tokens")} for hit in hits])


def without(document: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != field}


def other_texts(site: Site) -> None:
    """All else of the sentences stays."""
    hits = site.hits(site.index("sentences"))[:3]
    site.write(site.index("sentences"), [hit | {"_source": hit["_source"] | {"text": "Another text."}} for hit in hits])


def no_aliases(site: Site) -> None:
    for kind in ("state", "sentences", "members"):
        index = site.index(kind)
        for alias in (f"{index}-own", f"{site.prefix}-{kind}"):
            site.client.indices.delete_alias(index=index, name=alias)


WRONG: dict[str, tuple[Callable[[Site], Any], str]] = {
    "the state is gone": (delete_index("state"), "index of state"),
    "the documents are gone": (delete_index("documents"), "index of documents"),
    "a document is gone": (orphan, "documents of sentences"),
    "fields are lost": (lost_fields, "index of documents"),
    "wrong tokens": (wrong_tokens, "tokens"),
    "sentences without tokens": (unsigned, "signed sentences"),
    "other texts": (other_texts, "signed sentences"),
    "a document of others": (typed, "documents of others"),
    "a copy of a sentence": (copied, "signed sentences"),
    "a document of others among the documents": (typed_into_documents, "documents of others"),
    "another _meta": (other_meta, "index of sentences"),
    "aliases are gone": (no_aliases, "aliases"),
    "results are gone": (delete_index("pairs"), "results"),
    "half a generation": (half_made, "indices left over"),
}


@pytest.mark.parametrize("what", few(WRONG, 0, 4))
def test_what_is_wrong_is_named_and_mended(what: str, site: Site, job: Job, tmp_path: Path) -> None:
    do, name = WRONG[what]
    store = f"{site.url}/{site.prefix}"
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    fine = said("doctor", "--store", store)
    assert fine.code == 0, fine.err
    assert "wrong" not in fine.out
    do(site)
    before = said("doctor", "--store", store, "--json")
    assert before.code == 1
    wrong = [check for check in json.loads(before.out)["checks"] if check["problem"]]
    assert name in {check["name"] for check in wrong}
    assert all(check["advice"] and "--fresh" not in check["advice"] for check in wrong)
    assert one_line(said("doctor", "--store", store, "--quiet")).startswith("esdedup: ")
    mended = said("doctor", "--store", store, "--repair")
    assert mended.code == 0, mended.err
    assert f"repaired  {name}: " in mended.out
    assert said("doctor", "--store", store).code == 0
    if esdedup.status(store=store)["last_scan"] is None:  # with the state, the options of the last scan are lost
        job.commands(store)["scan"]()
    assert results(store, tmp_path / "out") == job.expected["scan"]
    if what in ("the state is gone", "the documents are gone", "aliases are gone"):
        esdedup.add(job.b, store=store, **HOW)
        job.commands(store)["remove"]()
        assert results(store, tmp_path / "out") == job.expected["remove"]


def test_ids_with_a_number_sign_are_made_again(site: Site, tmp_path: Path) -> None:
    store = f"{site.url}/{site.prefix}"
    ids = ["http://x.org/#one", "http://x.org/#two", "c#", "d#1"]
    rows = [
        (identity, f"{text} The {identity[-3:]} of them.") for identity, text in zip(ids, corpus(5, 4), strict=True)
    ]
    rows += [rows[0]]  # which becomes ID#2
    source = table(tmp_path / "a.tsv", rows)
    esdedup.index(source, store=store, **HOW)
    before = {hit["_source"]["id"]: hit["_source"] for hit in site.hits(site.index("documents"))}
    site.client.indices.delete(index=site.index("documents"))
    assert said("doctor", "--store", store, "--repair", "--quiet").code == 0
    after = {hit["_source"]["id"]: hit["_source"] for hit in site.hits(site.index("documents"))}
    kept = ("number", "source", "source_number", "qualified", "key", "occurrence", "sentences", "kept", "place")
    assert {key: [row[name] for name in kept] for key, row in after.items()} == {
        key: [row[name] for name in kept] for key, row in before.items()
    }
    assert esdedup.index(source, store=store, **HOW)["counts"]["sentences_kept"] == len(rows)


def test_nothing_is_repaired_under_a_writer(site: Site, job: Job, tmp_path: Path) -> None:
    store = f"{site.url}/{site.prefix}"
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    with esdedup.open_store(store):
        orphan(site)
        line = one_line(said("doctor", "--store", store, "--repair", "--quiet"))
        assert "has been writing to this store since" in line
    assert said("doctor", "--store", store, "--repair", "--quiet").code == 0
    assert results(store, tmp_path / "out") == job.expected["scan"]


@pytest.mark.full
def test_a_part_of_a_run_meets_an_updated_sentence(site: Site, job: Job) -> None:
    store = f"{site.url}/{site.prefix}"
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    unsigned(site)
    for part in ("1/2", "2/2"):
        esdedup.index(job.b, store=store, part=part, **HOW)
    esdedup.scan(store=store)
    assert said("doctor", "--store", store).code == 0


def test_documents_without_sentences_keep_their_numbers(site: Site, tmp_path: Path) -> None:
    store = f"{site.url}/{site.prefix}"
    how = HOW | {"min_chars": 20}
    rows = [(f"r{number}", text) for number, text in enumerate(corpus(6, 4))]
    esdedup.index(table(tmp_path / "a.tsv", [*rows, ("short", "Short."), ("too", "So so.")]), store=store, **how)
    site.client.indices.delete(index=site.index("state"))
    assert said("doctor", "--store", store, "--repair", "--quiet").code == 0
    esdedup.index(table(tmp_path / "b.tsv", [("new", corpus(7, 1)[0])]), store=store, **how)
    keys = sorted(hit["_source"]["key"] for hit in site.hits(site.index("documents")))
    assert keys == ["new", "r0", "r1", "r2", "r3", "short", "too"]


def test_lost_sentences_are_said_with_what_is_left_to_do(site: Site, job: Job, tmp_path: Path) -> None:
    store = f"{site.url}/{site.prefix}"
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    site.client.indices.delete(index=site.index("sentences"))
    told = said("doctor", "--store", store).out.splitlines()
    assert told[-1] == "not made  other checks: they need every index above"
    for arguments in (["doctor", "--store", store], ["doctor", "--store", store, "--repair"]):
        answer = said(*arguments, "--quiet")
        assert "is gone; restore it from a snapshot, or index the sources again with --fresh" in one_line(answer)
    assert "is gone; restore it from a snapshot" in one_line(said("scan", "--store", store, "--quiet"))
    assert said(*job.arguments("index", store), "--fresh").code == 0
    job.commands(store)["scan"]()
    assert results(store, tmp_path / "out") == job.expected["scan"]


def test_a_store_in_a_file_is_examined_too(job: Job, tmp_path: Path) -> None:
    store = str(tmp_path / "s.duckdb")
    for verb in ("index", "scan"):
        job.commands(store)[verb]()
    assert esdedup.doctor(store=store).problems == []
    with esdedup.open_store(store) as opened:
        opened.database.execute("UPDATE sentences SET tokens = [1, 2] WHERE position = 0 AND document < 20")
        opened.database.execute("DELETE FROM documents WHERE number = 3")
    names = {check["name"] for check in esdedup.doctor(store=store).problems}
    assert names == {"tokens", "documents of sentences"}
    assert "and 1 more" in one_line(said("doctor", "--store", store, "--quiet"))
    assert "there is no store" in one_line(said("doctor", "--store", tmp_path / "none.duckdb", "--quiet"))
