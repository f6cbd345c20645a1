"""The same page is the same page, in whatever files a wiki comes; rows of tables that are added replace no others."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import esdedup
from esdedup.errors import SourceError, StoreSourcesError, UsageError
from esdedup.jobs.prepare import prepare
from esdedup.store.corpus import SentenceQuery
from tests.support.commands import said
from tests.support.corpus import corpus
from tests.support.dumps import Page, part
from tests.support.full import few
from tests.support.stores import RunJob, Stores
from tests.support.written import lines

POOL = corpus(91, 60)


def month(seed: int, pages: list[Page]) -> list[Page]:
    """What a month makes of a wiki: pages are edited, new, and gone."""
    source = random.Random(seed)
    kept = [page for page in pages if source.random() > 0.1]
    edited = [
        Page(page.id, page.revision + 1000, " ".join(source.sample(POOL, 3))) if source.random() < 0.2 else page
        for page in kept
    ]
    new = [Page(100 + seed * 20 + at, 5000 + at, " ".join(source.sample(POOL, 3))) for at in range(4)]
    return edited + new


def first_month(seed: int, pages: int = 40) -> list[Page]:
    source = random.Random(seed)
    return [Page(number, number, " ".join(source.sample(POOL, 3))) for number in range(1, pages + 1)]


def cut(folder: Path, pages: list[Page], seed: int) -> Path:
    """A wiki in parts by page range, as its exports are cut, some of them compressed."""
    source = random.Random(seed)
    ends = sorted(source.sample(range(1, len(pages)), 3))
    for begin, end in zip([0, *ends], [*ends, len(pages)], strict=True):
        ending = source.choice(["xml", "xml.bz2"])
        part(folder / f"xwiki-{folder.name}-p{pages[begin].id}p{pages[end - 1].id}.{ending}", "xwiki", pages[begin:end])
    return folder


@pytest.mark.parametrize("seed", few([1, 2], 1))
def test_the_next_month_of_a_wiki(tmp_path: Path, seed: int, stores: Stores, run: RunJob) -> None:
    before = first_month(seed)
    after = month(seed, before)
    march, april = cut(tmp_path / "march", before, seed), cut(tmp_path / "april", after, seed + 10)
    run(march, out=tmp_path / "grown")
    store = stores.at(tmp_path / "grown")
    ids = {page.id: page for page in before}
    changed = sum(page.id in ids and page != ids[page.id] for page in after)
    new, gone = sum(page.id not in ids for page in after), len(ids.keys() - {page.id for page in after})
    told = {"new": new, "replaced": changed, "unchanged": len(after) - new - changed, "repeated": 0, "gone": gone}
    added = esdedup.add(april, store=store, lookup=False)["added"]
    assert added == {**told, "matched": added["matched"]}
    assert esdedup.status(store=store)["counts"]["documents"] == len(after) + gone, "they stay"
    # the same in one file, in which the newest page comes first
    whole = part(tmp_path / "whole.xml", "xwiki", reversed(after))
    assert esdedup.add(whole, store=store, lookup=False)["added"]["unchanged"] == len(after)
    done = esdedup.add(april, store=store, out=tmp_path / "grown", complete=True, lookup=False)
    assert (done["added"]["gone"], done["counts"]["documents"]) == (gone, len(after))
    assert esdedup.add(april, store=store, complete=True, lookup=False)["added"]["gone"] == 0
    run(april, out=tmp_path / "once")
    for name in ("clusters.jsonl", "pairs.jsonl", "clusters.txt"):
        assert (tmp_path / "grown" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


@pytest.mark.both_stores
def test_of_two_versions_of_a_page_the_newest_stays(tmp_path: Path, run: RunJob) -> None:
    old, new = first_month(3, 12), [Page(4, 900, " ".join(POOL[40:43])), Page(99, 99, POOL[43])]
    one, two = part(tmp_path / "a.xml", "xwiki", old), part(tmp_path / "b.xml", "xwiki", [*new, old[6]])
    expected = part(tmp_path / "c.xml", "xwiki", [*(page for page in old if page.id != 4), *new])
    run(expected, out=tmp_path / "expected")
    for name, sources in (("forth", (one, two)), ("back", (two, one))):
        done = run(*sources, out=tmp_path / name)
        assert done["counts"]["documents"] == 13
        assert done["skipped"]["older_version"] == 2
        assert (tmp_path / name / "clusters.jsonl").read_bytes() == (
            tmp_path / "expected" / "clusters.jsonl"
        ).read_bytes()


def test_parts_that_overlap_are_not_written_again(tmp_path: Path) -> None:
    one = part(tmp_path / "a.xml", "xwiki", first_month(8, 5))
    two = part(tmp_path / "b.xml", "xwiki", [Page(2, 900, POOL[40])])
    with pytest.raises(StoreSourcesError, match=r"a\.xml: 1 of its pages stand in another part .* be written twice"):
        esdedup.dedupe(one, two, out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.jsonl"))
    assert esdedup.dedupe(two, out=tmp_path / "out", fresh=True)["documents"] == 1


@pytest.mark.full
def test_two_wikis_in_one_store(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    one, two = part(tmp_path / "a.xml", "xwiki", first_month(4)), part(tmp_path / "b.xml", "ywiki", first_month(4))
    run(one, two, out=tmp_path / "once")
    clusters = lines(tmp_path / "once" / "clusters.jsonl")
    named = {member["id"].partition("/")[0] for each in clusters for member in each["members"]}
    assert named == {"xwiki", "ywiki"}
    run(one, out=tmp_path / "grown")
    done = esdedup.add(two, store=stores.at(tmp_path / "grown"), out=tmp_path / "grown", lookup=False)
    assert (done["added"]["new"], done["added"]["replaced"], done["added"]["gone"]) == (40, 0, 0)
    assert done["counts"]["clusters"] == len(clusters)


def test_two_months_under_two_names(tmp_path: Path, stores: Stores) -> None:
    march = cut(tmp_path / "march", first_month(5), 1)
    april = cut(tmp_path / "april", month(5, first_month(5)), 2)
    store = stores.at(tmp_path)
    esdedup.index(march, store=store, source_name="march", lookup=False)
    done = esdedup.add(april, store=store, source_name="april", lookup=False)
    assert (done["added"]["replaced"], done["added"]["gone"]) == (0, 0)
    assert {source["name"] for source in esdedup.status(store=store)["sources"]} == {"march", "april"}


def test_a_monthly_edit_is_an_update_of_one_page(tmp_path: Path, stores: Stores) -> None:
    store = stores.at(tmp_path)
    for name, revision, count in (("march", 1, 35), ("april", 1001, 53)):
        text = f"The old town beside the long river of the east counts {count} people in all of its houses."
        path = part(tmp_path / f"{name}.xml", "xwiki", [Page(1, revision, text)])
        esdedup.index(path, store=store, source_name=name, lookup=False)
    esdedup.scan(store=store, jaccard=0.5)
    [row] = esdedup.drift(store=store)
    assert row["change"] == "update"
    assert row["why"].startswith("one page at two times")


@pytest.mark.both_stores
def test_a_second_index_replaces_no_rows(tmp_path: Path, stores: Stores) -> None:
    for name, word in (("s1", "one"), ("s2", "other")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"id,text\n1,The {word} mill of Arlen\n2,The {word} bridge of Arlen\n")
        done = esdedup.index(path, store=stores.at(tmp_path), lookup=False)
    assert (done["counts"]["documents"], done["counts"]["replaced"]) == (4, 0)


def test_pages_that_are_gone_are_said(tmp_path: Path) -> None:
    store, pages = tmp_path / "s.duckdb", first_month(9, 12)
    esdedup.index(part(tmp_path / "a.xml", "xwiki", pages), store=store, lookup=False)
    later = part(tmp_path / "b.xml", "xwiki", pages[:9])
    for more, words in (((), "they stay, unless you give --complete"), (("--complete",), "removed")):
        assert f"not in these sources: 3 ({words})" in said("add", later, "--store", store, "--no-lookup", *more).out


def test_what_was_skipped_in_a_month_before_does_not_count(tmp_path: Path, stores: Stores) -> None:
    pages = [*first_month(7), Page(500, 500, "#REDIRECT [[Page 1]]")]
    store = stores.at(tmp_path)
    for name, number in (("march", 1), ("april", 2)):
        esdedup.add(cut(tmp_path / name, pages, number), store=store, lookup=False)
        assert esdedup.status(store=store)["skipped"]["redirect"] == 1
    # a part that was not read before does
    esdedup.add(part(tmp_path / "b.xml", "xwiki", [Page(501, 501, "#REDIRECT [[Page 1]]")]), store=store, lookup=False)
    assert esdedup.status(store=store)["skipped"]["redirect"] == 2


def test_only_whole_exports_remove_pages(tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    esdedup.index(part(tmp_path / "a.xml", "xwiki", first_month(6)), store=store, lookup=False)
    (tmp_path / "b.jsonl").write_text('{"text": "a b"}')
    later = part(tmp_path / "c.xml", "xwiki", first_month(6)[:30])
    for options, words in (({"limit": 3}, "limit or keep_going"), ({"keep_going": True}, "limit or keep_going")):
        with pytest.raises(UsageError, match=words):
            esdedup.add(later, store=store, complete=True, **options)
    later.write_bytes(later.read_bytes()[:-100])
    with pytest.raises(SourceError, match="damaged"):
        esdedup.add(later, store=store, complete=True, lookup=False)
    assert esdedup.status(store=store)["counts"]["documents"] >= 40
    other = tmp_path / "other.duckdb"
    esdedup.index(tmp_path / "b.jsonl", store=other, lookup=False)
    with pytest.raises(UsageError, match="name their wiki"):
        esdedup.add(tmp_path / "b.jsonl", store=other, complete=True)


def rows(path: Path, *texts: int, first: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    told = [json.dumps({"id": str(first + at), "text": POOL[number]}) + "\n" for at, number in enumerate(texts)]
    path.write_text("".join(told))
    return path


def shape(path: Path) -> list[list[str]]:
    """The texts of each cluster."""
    return sorted(sorted(member["text"] for member in each["members"]) for each in lines(path / "clusters.jsonl"))


def test_tables_that_are_added_replace_no_rows(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    one, two, three = (
        rows(tmp_path / name / "part.jsonl", *texts)
        for name, texts in (("a", range(20)), ("b", range(10, 30)), ("c", range(5)))
    )
    store = stores.at(tmp_path / "grown")
    run(one, out=tmp_path / "grown")
    for source in (two, three):
        done = esdedup.add(source, store=store, out=tmp_path / "grown", lookup=False)
        assert (done["added"]["new"], done["added"]["replaced"]) == (len(lines(source)), 0)
    run(one, two, three, out=tmp_path / "once")
    assert shape(tmp_path / "grown") == shape(tmp_path / "once")
    assert [source["name"] for source in esdedup.status(store=store)["sources"]] == ["part", "b/part", "c/part"]
    # the same file again is the same file, also beside others
    rows(two, *range(11, 31))
    done = esdedup.add(three, two, one, store=store, lookup=False)["added"]
    assert (done["new"], done["replaced"], done["unchanged"]) == (0, 20, 25)


@pytest.mark.full
def test_shards_that_are_cut_anew(
    tmp_path: Path, stores: Stores, run: RunJob, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = (
        [rows(tmp_path / name / f"{begin}.jsonl", *range(begin, end), first=begin) for begin, end in pieces]
        for name, pieces in (("old", [(0, 20), (20, 40)]), ("new", [(0, 30), (30, 45)]))
    )
    run(*old, out=tmp_path / "across", ids="across")
    done = esdedup.add(*new, store=stores.at(tmp_path / "across"), out=tmp_path / "across", ids="across", lookup=False)
    assert (done["added"]["new"], done["added"]["unchanged"]) == (5, 40)
    run(*new, out=tmp_path / "once", ids="across")
    assert shape(tmp_path / "across") == shape(tmp_path / "once")
    assert not caplog.records
    run(*old, out=tmp_path / "apart")
    done = esdedup.add(*new, store=stores.at(tmp_path / "apart"), lookup=False)
    assert done["added"]["new"] == 45
    assert "stands in the store word for word under other ids" in caplog.text
    assert "--ids across" in caplog.text


def test_an_id_that_two_sources_share_across(tmp_path: Path, run: RunJob) -> None:
    sources = [rows(tmp_path / "a.jsonl", 1, 2), rows(tmp_path / "b.jsonl", 3, 4)]
    done = run(*sources, out=tmp_path / "out", ids="across")
    assert (done["counts"]["documents"], done["renamed"]) == (4, 2)


def test_two_ways_of_naming_are_not_mixed(tmp_path: Path, run: RunJob, stores: Stores) -> None:
    one, two = rows(tmp_path / "a.jsonl", 1, 2), rows(tmp_path / "b.jsonl", 3, 4)
    new = rows(tmp_path / "c.jsonl", 1, 5, first=7)
    for ways in ("source", "across"), ("across", "source"):
        out = tmp_path / ways[0]
        run(one, two, out=out, ids=ways[0])
        with pytest.raises(StoreSourcesError, match="--ids across"):
            esdedup.add(new, store=stores.at(out), ids=ways[1], lookup=False)
        assert esdedup.status(store=stores.at(out))["counts"]["documents"] == 4
        esdedup.add(new, store=stores.at(out), ids=ways[0], lookup=False)
        assert esdedup.status(store=stores.at(out))["counts"]["documents"] == 6


def test_tables_in_memory_replace_no_rows(tmp_path: Path) -> None:
    texts = corpus(83, 5)
    tables = [{"name": texts[:3]}, {"name": texts[3:]}]
    for table, documents in ((tables[0], 3), (tables[1], 5), (tables[1], 5)):
        esdedup.index(pl.DataFrame(table), store=tmp_path / "rows.duckdb", columns=["name"])
        assert esdedup.status(store=tmp_path / "rows.duckdb")["counts"]["documents"] == documents
    for number, table in enumerate(tables):
        frame = pl.DataFrame({"id": range(len(table["name"])), **table})
        esdedup.index(frame, store=tmp_path / "named.duckdb", columns=["name"], source_name=f"shop{number}")
    assert esdedup.status(store=tmp_path / "named.duckdb")["counts"]["documents"] == 5


@pytest.mark.parametrize("at_once", [7, 1_000])  # documents of the store that are looked at
def test_pages_that_are_stored_are_not_prepared_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("esdedup.store.duckdb.corpus._DOCUMENTS_AT_ONCE", at_once)
    before = first_month(7)
    after = [Page(page.id, page.revision + 1000, POOL[41]) if page.id == 9 else page for page in before]
    # another revision of the same text, and a page that comes twice
    after[4] = Page(after[4].id, after[4].revision + 1000, after[4].text)
    after.append(after[20])
    one, two = part(tmp_path / "a.xml", "xwiki", before), part(tmp_path / "b.xml", "xwiki", after)
    store = tmp_path / "store.duckdb"
    esdedup.run(one, out=tmp_path / "out", store=store, lookup=False)
    prepared: list[str] = []

    def counted(texts: pa.Array, *more: Any) -> Any:
        prepared.extend(text for text in texts.to_pylist() if text)
        return prepare(texts, *more)

    monkeypatch.setattr("esdedup.jobs.indexing.prepare", counted)
    added = esdedup.add(two, store=store, lookup=False, workers=1)["added"]
    assert (added["replaced"], added["unchanged"]) == (1, len(before) - 1)
    assert sorted(prepared) == sorted([POOL[41], after[4].text, after[20].text])
    revisions = {row["id"]: row["revision"] for row in sentences_of(store)}
    assert revisions[f"{after[4].id}:0"] == after[4].revision


def sentences_of(store: Path) -> list[dict[str, Any]]:
    with esdedup.open_store(store, read_only=True) as opened:
        ids = [f"{number}:0" for number in range(1, 41)]
        return opened.corpus.sentences(SentenceQuery(ids=ids)).to_pylist()
