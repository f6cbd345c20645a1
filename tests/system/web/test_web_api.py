"""The API says what the Python verbs say, on both stores the same."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import quote

import pytest

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.store.cluster_queries import ORDERS
from esdedup.web.answers.check import MOST_CHARS, MOST_TEXT
from esdedup.web.answers.shapes import Place
from tests.system.web.conftest import Collection, Get
from tests.system.web.corpus import ARABIC, CONTROLS, EMOJI, FORMULA, HEBREW, LONG, SCRIPT, TITLES
from tests.system.web.served import Site

pytestmark = pytest.mark.both_stores

SORTS = ("size", "jaccard", "confidence", "contradiction", "copies")
TEXTS = (SCRIPT, ARABIC, HEBREW, LONG, CONTROLS, EMOJI, FORMULA)
NONE = "0" * 16


def files(collection: Collection) -> list[dict[str, Any]]:
    """The clusters as the run wrote them."""
    return [json.loads(line) for line in (collection.out / "clusters.jsonl").read_text("utf-8").splitlines()]


def pages(site: Site, **query: Any) -> list[dict[str, Any]]:
    """All pages of clusters, one after the other."""
    found: list[dict[str, Any]] = []
    while True:
        page = site.api("/clusters", **query)
        found += page["clusters"]
        if page["after"] is None:
            return found
        assert page["after"] == page["clusters"][-1]["id"]
        query["after"] = page["after"]


ASKED = (*TEXTS, TEXTS[0][:55], TEXTS[0][:59], TEXTS[1][:50], "Nothing in here is like this at all.")


@pytest.mark.parametrize("text", ASKED, ids=range(len(ASKED)))
def test_check_is_similar_and_suggest(site: Site, text: str) -> None:
    told = site.post("/api/check", {"text": text}).json
    rows = esdedup.similar(text, store=site.store)
    unfinished = told["unfinished"]
    assert unfinished == (not text.endswith("."))
    by_text: dict[str, list[Any]] = {}
    for row in rows:
        by_text.setdefault(row["text"], []).append(row)
    known = {one["text"]: one for one in told["similar"]}
    ranks = [(by_text[one][0]["match"], by_text[one][0]["similarity"]) for one in known]
    assert ranks == sorted(ranks, reverse=True)
    assert set(known) <= set(by_text)
    assert len(known) + told["more_similar"] == len(by_text)
    matching = [row for row in rows if row["match"]]
    assert told["matching"] == len({row["text"] for row in matching})
    assert (told["documents"], told["more_documents"]) == (len({row["document"] for row in matching}), False)
    for text_of, one in known.items():
        some = by_text[text_of]
        assert (one["sentences"], one["documents"]) == (len(some), len({row["document"] for row in some}))
        assert {place["id"] for place in one["places"]} <= {row["id"] for row in some}
        for name in ("similarity", "jaccard", "containment", "word_edit_distance", "match"):
            assert one[name] == some[0][name]
        there = " ".join(words for what, words in one["diff"] if what in "=+")
        assert there == " ".join(one["text"].split())
    suggested = [row["text"] for row in esdedup.suggest(text, store=site.store, limit=10)] if unfinished else []
    assert [one["text"] for one in told["completions"]] == suggested


def test_an_unfinished_sentence_is_found_by_what_contains_it(site: Site) -> None:
    for text in (SCRIPT, HEBREW, LONG):
        told = site.post("/api/check", {"text": text[:40]}).json
        assert told["unfinished"]
        assert text in {one["text"] for one in told["similar"]}
        assert text in {one["text"] for one in told["completions"]}


def test_the_word_that_is_being_typed_is_no_change(site: Site) -> None:
    for end in range(30, 60):
        told = site.post("/api/check", {"text": SCRIPT[:end]}).json
        [one] = [one for one in told["similar"] if one["text"] == SCRIPT]
        assert [what for what, _ in one["diff"] if what == "-"] == [], SCRIPT[:end]
        assert " ".join(words for _, words in one["diff"]) == SCRIPT
    first, _, rest = SCRIPT.split(" ", 2)
    told = site.post("/api/check", {"text": f"{first} neverbefore {rest[:-3]}"}).json
    [one] = [one for one in told["similar"] if one["text"] == SCRIPT]
    assert [words for what, words in one["diff"] if what == "-"] == ["neverbefore"]


ODD = ("", " \n", "a\0b", "x" * MOST_CHARS, "\u202e" * 30, "﷽" * 100, "\x07" * 99, "'; --")


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_check_of_odd_texts(site: Site, text: str) -> None:
    assert site.post("/api/check", {"text": text}).json["matching"] == 0
    assert site.form("/check", text=text).status == 200
    assert site.form("/text", text=text).status == 200


def test_a_pasted_text(site: Site) -> None:
    near = SCRIPT.replace("morning", "evening")
    new = "This sentence is new, and it stands nowhere else in the world, however long you look for it."
    far = near.replace("everybody who opened it", "anybody who visited us")
    text = f"{SCRIPT} {new} Short. {near} {far}\n\n{ARABIC}"
    told = site.post("/api/text", {"text": text}).json
    assert " ".join(one["text"] for one in told["sentences"]) == " ".join(text.split())
    found = {one["text"]: one for one in told["sentences"]}
    assert found[SCRIPT]["best"]["jaccard"] == found[ARABIC]["best"]["jaccard"] == 1.0
    assert 0.7 <= found[near]["best"]["jaccard"] < 1.0
    assert found["Short."]["looked_up"] is False
    assert told["copied"] == sum(one["best"] is not None for one in told["sentences"]) == 3
    assert told["looked_up"] == 5
    assert [one["text"] for one in told["sentences"] if one["similar"]] == [far]
    assert (told["similar"], found[far]["similar"]["text"], found[far]["similar"]["match"]) == (1, SCRIPT, False)
    alone, twice = (site.form("/text", text=text).text for text in (far, f"{far} {far}"))
    assert "not in the collection, exactly or nearly.\n A similar sentence is." in alone
    assert "None of 2 sentences is in the collection, exactly or nearly.\n 2 are similar to a sentence there." in twice
    for one in told["sentences"]:
        if one["looked_up"]:
            rows = [row for row in esdedup.similar(one["text"], store=site.store) if row["match"]]
            best = one["best"] and (one["best"]["text"], one["best"]["jaccard"])
            assert best == ((rows and (rows[0]["text"], rows[0]["jaccard"])) or None)


def test_more_sentences_than_are_looked_up_are_counted(one_site: Site) -> None:
    text = " ".join(f"Sentence number {number} is here to be counted, and only that." for number in range(1_100))
    told = one_site.post("/api/text", {"text": text}).json
    assert (len(told["sentences"]), told["left_out"]) == (1_000, 100)
    assert one_site.post("/api/text", {"text": "x" * (MOST_TEXT + 1)}).status == 422


@pytest.mark.parametrize("sort", SORTS)
def test_pages_hold_each_cluster_once_in_order(site: Site, sort: str) -> None:
    expected = [one["id"] for one in esdedup.clusters(store=site.store, sort=sort)]
    for limit in (7, 20, 100):
        assert [one["id"] for one in pages(site, sort=sort, limit=limit)] == expected


FILTERS: tuple[dict[str, Any], ...] = (
    {"kind": "drift"},
    {"kind": "template"},
    {"kind": "identical", "min_size": 3},
    {"min_size": 4},
    {"document": TITLES["script"]},
    {"document": "../../etc"},
    {"document": "nobody"},
    {"text": "said everybody"},
    {"text": "<script>"},
    {"text": "القاهرة"},
    {"text": 'weird " words'},
    {"text": "bridge", "kind": "drift", "sort": "jaccard"},
)


@pytest.mark.parametrize("asked", FILTERS, ids=str)
def test_filters(site: Site, asked: dict[str, Any]) -> None:
    told = pages(site, **asked)
    found = {one["id"]: one for one in esdedup.clusters(store=site.store, **asked)}
    assert [one["id"] for one in told] == list(found)
    for one in told:
        whole = found[one["id"]]
        for name in ("size", "distinct", "kind", "kind_confidence", "kind_reason", "min_jaccard"):
            assert one[name] == whole[name]
        face = next(member for member in whole["members"] if member["id"] == whole["representative"])
        assert one["text"] == face["text"]
        assert one["place"] == {name: face[name] for name in Place.__annotations__}
    assert site.ask("/clusters", **asked).status == 200


def test_a_field_left_empty_asks_for_nothing(site: Site) -> None:
    empty = dict.fromkeys(("kind", "min_size", "document", "text", "after"), "")
    assert site.api("/clusters", **empty) == site.api("/clusters")
    assert site.ask("/clusters", **empty).status == 200
    assert site.ask("/templates", min_size="", document="", text="").status == 200
    assert site.ask("/contradictions", document="").status == 200


def test_every_cluster_in_full(one_site: Site, collections: Get) -> None:
    site, collection = one_site, collections("embedded")
    trees = {tree["cluster"]: tree for tree in esdedup.lineage(store=site.store)["trees"]}
    rows: dict[str, list[Any]] = {}
    for row in esdedup.drift(store=site.store).to_dicts():
        rows.setdefault(row["cluster"], []).append(row)
    assert trees
    assert rows
    pairs = [json.loads(line) for line in (collection.out / "pairs.jsonl").read_text("utf-8").splitlines()]
    for whole in files(collection):
        told = site.api(f"/clusters/{whole['id']}")
        for name in ("id", "size", "distinct", "kind", "kind_confidence", "kind_reason", "min_jaccard"):
            assert told[name] == whole[name]
        lines = [row["members"][0]["id"] for row in told["aligned"]["rows"]]
        text_of = {member["id"]: member["text"] for member in whole["members"]}
        assert len({text_of[line] for line in lines}) == whole["distinct"]
        within = {
            frozenset((text_of[row["a"]], text_of[row["b"]])) for row in pairs if {row["a"], row["b"]} <= set(text_of)
        }
        assert {frozenset((text_of[lines[edge["a"]]], text_of[lines[edge["b"]]])) for edge in told["edges"]} == within
        if told["weakest"] is not None:
            assert sorted(told["weakest"][side]["id"] for side in "ab") == sorted(whole["weakest"])
        tree = trees.get(whole["id"])
        assert [one["id"] for one in told["lineage"]] == ([one["id"] for one in tree["members"]] if tree else [])
        assert told["contradictions"] == sorted(rows.get(whole["id"], []), key=lambda row: -row["confidence"])


def test_contradictions_are_those_of_drift(site: Site) -> None:
    expected = esdedup.drift(store=site.store).to_dicts()
    told = site.api("/contradictions")
    assert told["total"] == len(expected)
    assert told["after"] is None
    by = lambda row: (-row["confidence"], row["cluster"], row["slot"])  # noqa: E731
    assert sorted(told["contradictions"], key=by) == expected
    of = expected[0]["values"][0]["sentences"][0]["title"]
    told = site.api("/contradictions", article=of)["contradictions"]
    assert told == esdedup.drift(store=site.store, document=of).to_dicts()
    nothing = {"contradictions": [], "cut": [], "after": None, "total": None}
    assert site.api("/contradictions", document="nobody") == nothing


def test_templates_as_data(site: Site) -> None:
    tables = list(esdedup.templates(store=site.store, min_subjects=2))
    heads = site.api("/templates", min_size=2)["clusters"]
    assert [head["id"] for head in heads] == [table.cluster for table in tables] != []
    for head, table in zip(heads, tables, strict=True):
        told = site.api(f"/templates/{table.cluster}")
        assert head["kind"] == "template"
        assert told["frame"] == table.frame
        assert [column["name"] for column in told["columns"]] == [column.name for column in table.columns]
        assert [row["cells"] for row in told["rows"]] == [
            [column.cells[at] for column in table.columns] for at in range(len(table.sentences))
        ]
        exported = site.ask(f"/api/templates/{table.cluster}/export")
        assert exported.kind == "text/csv"
        lines = list(csv.reader(io.StringIO(exported.text)))
        assert lines[0][3:] == [column.name for column in table.columns]
        assert [line[0] for line in lines[1:]] == [sentence["id"] for sentence in table.sentences]


def test_templates_of_an_article(site: Site) -> None:
    every = site.api("/templates", min_size=2)["clusters"]
    of = {"document": every[0]["place"]["document"], "title": every[0]["place"]["title"]}
    for asked in of.values():
        found = site.api("/templates", min_size=2, article=asked)["clusters"]
        assert [one["id"] for one in found] == [
            one["id"] for one in site.api("/clusters", kind="template", article=asked, limit=100)["clusters"]
        ]
        assert found
    assert site.api("/templates", min_size=2, article="nobody")["clusters"] == []


def test_articles_are_those_of_overlap(site: Site) -> None:
    found = esdedup.overlap(store=site.store)
    told = site.api("/articles")
    more = len(found.rows) > 200
    assert told == {"pairs": found.rows[:200].to_dicts(), "more": more, "common_texts": found.common_texts}
    for document in [found.rows[0]["a"], *(f"odd/{name}" for name in ("script", "../..", "é 😀"))]:
        page = site.api("/articles/" + quote(document, safe=""))
        assert page["pairs"] == esdedup.overlap(store=site.store, document=document).rows.to_dicts()
        clusters = esdedup.clusters(store=site.store, document=document)
        assert [one["id"] for one in page["clusters"]] == [one["id"] for one in clusters]
        assert page["id"] == document
        shown = site.ask("/articles/" + quote(document, safe=""))
        assert shown.status == 200
        assert "<script>alert" not in shown.text


def test_the_overview(site: Site, collection: Collection) -> None:
    told = site.api("/overview")
    summary = json.loads((collection.out / "summary.json").read_text("utf-8"))
    for name, count in summary["counts"].items():
        assert told["counts"][name] == count
    sizes: dict[int, int] = {}
    kinds: dict[str, int] = {}
    of_kinds: dict[str, Counter[int]] = defaultdict(Counter)
    for whole in files(collection):
        sizes[whole["size"]] = sizes.get(whole["size"], 0) + 1
        kinds[whole["kind"]] = kinds.get(whole["kind"], 0) + 1
        of_kinds[whole["kind"]][whole["size"]] += 1
    assert told["cluster_sizes"] == [list(one) for one in sorted(sizes.items())]
    assert told["kinds"] == kinds
    assert told["kind_sizes"] == {kind: [list(one) for one in sorted(of_kinds[kind].items())] for kind in kinds}
    assert told["current"] is True
    assert told["unfinished"] is None
    assert told["curve"][-1]["chance"] == 1.0
    assert sum(point["pairs"] for point in told["curve"]) > 0
    assert told["settings"]["jaccard"] == 0.7


def test_exports(one_site: Site, collections: Get) -> None:
    site, collection = one_site, collections("embedded")
    lines = (collection.out / "clusters.jsonl").read_bytes().splitlines(keepends=True)
    for line in lines:
        whole = json.loads(line)
        answer = site.ask(f"/api/clusters/{whole['id']}/export")
        assert answer.body == line
        assert answer.headers["content-disposition"] == f'attachment; filename="{whole["id"]}.json"'
        answer = site.ask(f"/api/clusters/{whole['id']}/export", form="csv")
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert [row["id"] for row in rows] == [member["id"] for member in whole["members"]]
        for row, member in zip(rows, whole["members"], strict=True):
            formula = member["text"].startswith("=")
            assert row["text"] == ("'" if formula else "") + member["text"]
            assert row["title"].removeprefix("'") == (member["title"] or "")
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    assert any(b"=HYPERLINK" in line for line in lines)


@pytest.mark.usefixtures("elastic_url")
def test_both_stores_say_the_same(sites: Any, collections: Get) -> None:
    one, two = sites("embedded"), sites("server")
    ids = [whole["id"] for whole in files(collections("embedded"))]
    asked = [
        *("/clusters?limit=100", "/contradictions", "/templates?min_size=2", "/articles"),
        *(f"/clusters?limit=5&sort={sort}" for sort in SORTS),
        *(f"/clusters/{name}" for name in ids[::3]),
        *(f"/clusters/{name}/export?form=csv" for name in ids[::4]),
        *("/articles/" + quote(f"odd/{name}", safe="") for name in TITLES),
    ]
    for path in asked:
        assert one.ask(f"/api{path}").body == two.ask(f"/api{path}").body, path
    for text in (*TEXTS, *(text[:45] for text in TEXTS)):
        for path in ("/api/check", "/api/text"):
            answers = [json.loads(site.post(path, {"text": text}).body) for site in (one, two)]
            for answer in answers:
                del answer["left_out"]  # each store estimates what it does not compare
            assert answers[0] == answers[1], text
    told = [site.api("/overview") | {"store": ""} for site in (one, two)]
    assert told[0] == told[1]
    for path in set(one.pages()) - {"/overview"}:
        assert one.ask(path).body == two.ask(path).body, path


ERRORS: tuple[tuple[int, str, str, Any], ...] = (
    (404, "GET", f"/clusters/{NONE}", None),
    (404, "GET", f"/templates/{NONE}", None),
    (404, "GET", "/articles/nobody", None),
    (404, "GET", "/articles/%00", None),
    (404, "GET", "/nothing", None),
    (404, "GET", "/clusters/x/y/z", None),
    (404, "GET", "/clusters/..%2F..%2Fetc", None),
    (422, "GET", "/clusters/%22%3E%3Cscript%3Ealert(1)", None),
    (404, "GET", "/articles/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E", None),
    (422, "GET", "/clusters?min_size=one", None),
    (422, "GET", "/clusters?min_size=99999999999999999999", None),
    (422, "GET", "/clusters?kind=<script>", None),
    (422, "GET", "/clusters?sort=colour", None),
    (422, "GET", "/clusters?after=nothing", None),
    (422, "GET", "/clusters?limit=1000000", None),
    (422, "GET", "/clusters?text=" + "x" * 2001, None),
    (400, "GET", f"/clusters?after={NONE}", None),
    (405, "POST", "/clusters", {}),
    (405, "GET", "/check", None),
    (405, "DELETE", "/clusters", None),
    (413, "POST", "/check", {"text": "x" * 3 * 2**20}),
)


@pytest.mark.parametrize(("status", "method", "path", "body"), ERRORS, ids=lambda value: str(value)[:60])
def test_what_cannot_be_answered(site: Site, status: int, method: str, path: str, body: Any) -> None:
    told = site.ask(f"/api{path}", method=method, body=body)
    assert (told.status, told.kind) == (status, "application/json"), told
    assert list(told.json) == ["error"]
    assert told.json["error"]
    shown = site.ask(path, method=method, body=body)
    assert (shown.status, shown.kind) == (status, "text/html"), shown
    assert "<h1>" in shown.text
    assert "<script>alert" not in shown.text


SENSELESS = (b"", b"{", b"[]", b'{"text": 1}', b'{"text": "\\ud800"}', b"\xff\xfe", b"[" * 9999)


@pytest.mark.parametrize("sent", SENSELESS, ids=range(len(SENSELESS)))
def test_bodies_that_mean_nothing(one_site: Site, sent: bytes) -> None:
    told = one_site.post("/api/check", sent, **{"Content-Type": "application/json"})
    assert told.status in (400, 422)
    assert list(told.json) == ["error"]
    assert one_site.ask("/check", method="POST", body=sent).status == 200


@pytest.mark.parametrize(
    ("path", "body", "kind", "line"),
    [
        ("/api/check", b"{", "application/json", "this is not JSON"),
        ("/api/check", b'{"text": "a"}', "text/plain", "send a JSON object, with Content-Type: application/json"),
        ("/api/check", b"{}", "application/json", "text: is missing"),
        (
            "/api/check",
            json.dumps({"text": "x" * (MOST_CHARS + 1)}).encode(),
            "application/json",
            "text: longer than 20,000 characters; send less at once",
        ),
        ("/api/clusters?min_size=many", None, "", "min_size: give a whole number"),
        ("/api/clusters?min_size=1", None, "", "min_size: give 2 or more"),
        ("/api/clusters?limit=1000", None, "", "limit: give 100 or less"),
        ("/api/clusters?sort=age", None, "", "sort: give one of 'size', 'jaccard', 'confidence', "),
    ],
)
def test_what_is_wrong_is_told_in_words(one_site: Site, path: str, body: bytes | None, kind: str, line: str) -> None:
    told = one_site.ask(path, method="GET" if body is None else "POST", body=body, headers={"Content-Type": kind})
    assert told.status == 422
    assert told.json["error"].startswith(line), told.json


def test_a_template_that_is_none(site: Site) -> None:
    drift = site.api("/contradictions")["contradictions"][0]["cluster"]
    assert site.ask(f"/api/templates/{drift}").status == 404


def test_every_route_is_described(one_site: Site, tmp_path: Path) -> None:
    from fastapi.openapi.models import OpenAPI

    from esdedup.web.views import VIEWS  # and all that describes addresses, which only these tests need

    told = one_site.api("/openapi.json")
    described = OpenAPI.model_validate(told)
    assert described.openapi.startswith("3.")
    assert set(told["paths"]) == {f"/api{view.path.replace(':document', '')}" for view in VIEWS} | {
        "/api/clusters/{identity}/export", "/api/templates/{identity}/export", "/stale.atom",
    }  # fmt: skip
    names = set()
    for path, methods in told["paths"].items():
        for method, one in methods.items():
            assert one["summary"], path
            assert one["description"], path
            assert one["operationId"] not in names
            names.add(one["operationId"])
            assert {"200", "400", "404", "422", "503"} <= set(one["responses"]), (path, method)
    references = {part.split('"')[0] for part in json.dumps(told).split('"#/components/schemas/')[1:]}
    assert references <= set(told["components"]["schemas"])


def test_all_kinds_and_orders_can_be_asked_for(one_site: Site) -> None:
    described = one_site.api("/openapi.json")["paths"]["/api/clusters"]["get"]["parameters"]
    schemas = {one["name"]: one["schema"] for one in described}
    [kind] = [one for one in schemas["kind"]["anyOf"] if "enum" in one]
    assert kind["enum"] == list(KINDS)
    assert schemas["sort"]["enum"] == list(ORDERS)


def test_answers_have_the_shapes_that_are_described(one_site: Site) -> None:
    site = one_site
    heads = site.api("/clusters", limit=100)["clusters"]
    similar = site.api("/similar", text=SCRIPT)
    asked: dict[str, list[Any]] = {
        "/check": [site.post("/api/check", {"text": text}).json for text in TEXTS],
        "/text": [site.post("/api/text", {"text": " ".join(TEXTS)}).json],
        "/similar": [similar],
        "/suggest": [site.api("/suggest", prefix=text[:9]) for text in TEXTS],
        "/explain": [site.api("/explain", a=row["id"], b=similar["similar"][0]["id"]) for row in similar["similar"]],
        "/clusters": [site.api("/clusters")],
        "/clusters/{identity}": [site.api(f"/clusters/{head['id']}") for head in heads],
        "/contradictions": [site.api("/contradictions")],
        "/stale": [site.api("/stale")],
        "/templates": [site.api("/templates")],
        "/templates/{identity}": [site.api(f"/templates/{one['id']}") for one in heads if one["kind"] == "template"],
        "/articles": [site.api("/articles")],
        "/articles/{identity:document}": [site.api("/articles/odd/script")],
        "/overview": [site.api("/overview")],
    }
    from pydantic import TypeAdapter

    from esdedup.web.views import VIEWS

    for view in VIEWS:
        adapter = TypeAdapter(view.shape)
        for answer in asked[view.path]:
            adapter.validate_python(answer)
            known = set(get_type_hints(view.shape))
            assert set(answer) == known or (view.path == "/explain" and set(answer) < known), view.path
