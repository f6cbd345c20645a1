"""Search as you type, on a file and on a server: what is found, in which order, and against brute force."""

from __future__ import annotations

import json
import random
import re
import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import esdedup
from esdedup.errors import StoreError, UsageError
from esdedup.store.store import Store
from tests.support import commands
from tests.support.corpus import edited, jaccard, sentence, shingle_set
from tests.support.full import few
from tests.support.records import SIGNED, records, table
from tests.support.stores import KINDS

ROWS = records(31, 500)
WORLD = {
    "en": "The University of Cambridge was founded in 1209, and it is the third-oldest university still in operation.",
    "de": "Die Straße zum Bahnhof wurde im Frühjahr 1871 gepflastert, und die Bürger feierten drei Tage lang.",
    "fr": "L’hôtel de ville, édifié à la fin du XIXᵉ siècle, fut entièrement détruit par l’incendie de 1944.",
    "it": "Perché la città è più antica di quanto si creda, gli archeologi scavano ogni estate sotto la piazza.",
    "es": "El niño pequeño soñó con una montaña nevada, y mañana se lo contará a su abuela en el jardín.",
    "et": "Õhtul põles küla ääres suur lõke, mille ümber laulsid öö läbi kõik ümbruskonna mehed ja naised.",
    "ru": "Весной 1871 года в городе открыли вокзал, и ещё три дня жители отмечали это событие на площади.",
    "zh": "剑桥大学成立于1209年，是英语世界中第二古老的大学，也是世界上现存第四古老的大学。",
    "ja": "東京タワーは1958年に完成した電波塔で、高さは333メートルあり、多くの観光客が訪れる。",
}  # fmt: skip
ALL = [*ROWS, *WORLD.items(), *((f"copy{number}", WORLD["en"]) for number in range(3)), ("signs", "?! … !? — ***")]
TEXTS = dict(ALL)


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("searching")
    path = str(folder / "s.duckdb")
    if request.param == "server":
        path = f"{request.getfixturevalue('elastic_url')}/searching-{uuid.uuid4().hex[:8]}"
    esdedup.index(table(folder / "rows.tsv", ALL), store=path, **SIGNED)
    with esdedup.open_store(path, read_only=True) as opened:
        yield opened
    esdedup.drop(store=path)


# -- the measure, by its definition ---------------------------------------------------------------------------


def words(text: str) -> list[str]:
    """The words of a text in search form, for texts of ASCII letters and signs."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower().replace("'", "")).split()


def grams(text: str) -> set[str]:
    found = set()
    for word in words(text):
        spaced = f" {word}"
        found |= {spaced[at : at + 4] for at in range(len(spaced) - 3)} if len(spaced) >= 4 else {f"{spaced} "}
    return found


def longest_common(one: list[str], other: list[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for at, there in enumerate(other, 1):
            before, row[at] = row[at], before + 1 if word == there else max(row[at], row[at - 1])
    return row[-1]


def similarity(question: str, text: str) -> float:
    if question == text:
        return 1.0
    mine, theirs = grams(question), grams(text)
    common = len(mine & theirs)
    ordered = longest_common(words(question), words(text))
    whole = 0.5 * common / len(mine) + 0.25 * ordered / len(words(question)) + 0.25 * common / len(mine | theirs)
    return min(whole, 0.999999)


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_is_that_of_brute_force(store: Store, seed: int) -> None:
    source = random.Random(seed)
    text = edited(source, source.choice(ROWS)[1], seed)
    found = esdedup.similar(text, store=store, jaccard=0.7, min_similarity=0.35)
    expected = {}
    for key, other in ROWS:
        measured, shared = round(similarity(text, other), 6), round(jaccard(text, other), 6)
        if measured >= 0.35 or shared >= 0.7:
            expected[key] = (measured, shared, shared >= 0.7)
    assert {row.id: (row.similarity, row.jaccard, row.match) for row in found} == expected
    order = [(not row.match, -row.similarity, row.id) for row in found]
    assert order == sorted(order)
    for row in found:
        common = len(shingle_set(text) & shingle_set(row.text))
        assert row.containment == round(common / len(shingle_set(text)), 6)
        assert " ".join(run for what, run in row.diff if what in "=-") == " ".join(text.split())
        assert " ".join(run for what, run in row.diff if what in "=+") == row.text
    first = esdedup.similar(text, store=store, jaccard=0.7, min_similarity=0.35, limit=2).to_dicts()
    assert first == found.to_dicts()[:2]


def without_accents(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def without_signs(text: str) -> str:
    return re.sub(r"[^\w\s]", "", text)


def shuffled(text: str) -> str:
    some = text.split()
    random.Random(1).shuffle(some)
    return " ".join(some)


def mistyped(text: str) -> str:
    source = random.Random(2)
    signs = list(text)
    for at in source.sample(range(1, len(signs) - 1), 3):
        signs[at], signs[at + 1] = signs[at + 1], signs[at]
    return "".join(signs)


CHANGES = {
    "capitals": str.upper,
    "accents": without_accents,
    "signs": without_signs,
    "typos": mistyped,
    "order": shuffled,
    "wide": lambda text: text.replace("1", "１").replace("9", "９"),
    "start": lambda text: text[: len(text) * 6 // 10],
    "end": lambda text: text[len(text) // 2 :],
    "spaces": lambda text: f"\u2003{text}\n".replace(" ", "  \t"),
    "joined": lambda text: text.replace(" ", "", 2),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("language", WORLD)
def test_a_changed_text_is_found_in_nine_languages(store: Store, language: str, change: str) -> None:
    asked = CHANGES[change](WORLD[language])
    assert esdedup.similar(asked, store=store, limit=1)[0].text == WORLD[language]


@pytest.mark.parametrize("text", ["", " \n ", "\ud800", "qqq", "x" * 100_000, "a\0b", "\u202e" * 50, "﷽" * 100])
def test_what_is_like_nothing(store: Store, text: str) -> None:
    assert all(row.similarity >= 0.35 for row in esdedup.similar(text, store=store))


def test_a_text_of_signs_is_found_as_it_is(store: Store) -> None:
    [found] = esdedup.similar("?! …  !? — ***", store=store)
    assert (found.id, found.similarity) == ("signs", 1)
    assert not esdedup.similar("?! …", store=store)


def test_a_text_that_stands_in_several_places(store: Store) -> None:
    found = esdedup.similar(WORLD["en"], store=store, min_similarity=0.9)
    assert [row.id for row in found] == ["copy0", "copy1", "copy2", "en"]
    [completion] = esdedup.suggest("the university of camb", store=store, limit=1)
    assert (completion.id, completion.places, completion.documents) == ("en", 4, 4)


def test_why_there_is_nothing(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    assert not esdedup.similar("q", store=store)
    assert "'q' has too few letters or digits; type at least 2" in caplog.text
    assert not esdedup.similar("university", store=store, min_similarity=0.99)
    assert "nothing is as similar as 0.99; the nearest text has" in caplog.text
    assert not esdedup.similar("university", store=store, source="nowhere")
    assert "there is no source nowhere; the sources are: rows" in caplog.text
    assert not esdedup.suggest("university", store=store, document="nobody")
    assert "there is no document nobody" in caplog.text
    with pytest.raises(UsageError, match="language code"):
        esdedup.similar("university", store=store, lang="english please")


def test_filters(store: Store) -> None:
    assert [row.document for row in esdedup.similar(WORLD["en"], store=store, document="copy1")] == ["copy1"]
    assert len(esdedup.similar(WORLD["en"], store=store, source="rows", min_similarity=0.9)) == 4
    assert [row.document for row in esdedup.suggest("univ", store=store, document="copy2")] == ["copy2"]
    assert esdedup.suggest("the univ", store=store, source="rows")[0].places == 4


# -- suggestions ----------------------------------------------------------------------------------------------


def squeezed(text: str) -> str:
    return "".join(words(text))


@settings(max_examples=40)
@given(data=st.data())
def test_what_begins_so_comes_first_and_in_order(store: Store, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([text for _, text in ROWS]))
    prefix = text[: data.draw(st.integers(2, 90))]
    prefix = data.draw(st.sampled_from([prefix, prefix.upper(), prefix.replace(" ", ", "), f"  {prefix}"]))
    found = [row.text for row in esdedup.suggest(prefix, store=store, limit=10)]
    begin = sorted({other for _, other in ALL if squeezed(other).startswith(squeezed(prefix))}, key=squeezed)
    assert found[: len(begin)] == begin[:10]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "typed",
    [
        "univ cambr", "cambridge univ", "university of cambrige", "of cambridge was found", "THIRD OLDEST univ",
        "third-oldest", "the universty of cam",
    ],
)  # fmt: skip
def test_half_words_typing_errors_and_the_middle(store: Store, typed: str) -> None:
    assert WORLD["en"] in [row.text for row in esdedup.suggest(typed, store=store, limit=5)]


@pytest.mark.parametrize("language", WORLD)
def test_suggestions_in_nine_languages(store: Store, language: str) -> None:
    text = WORLD[language]
    for typed in (text[:12], text[:25].upper(), without_accents(text[:20]), text[15:40]):
        assert text in [row.text for row in esdedup.suggest(typed, store=store, limit=5)], typed


def test_suggestions_without_an_answer(store: Store) -> None:
    for prefix in ("", "  ", "z", "qqqq xxxx", "\U0010ffff", "x" * 1000):
        assert esdedup.suggest(prefix, store=store) == []


# -- both stores ----------------------------------------------------------------------------------------------


def test_both_stores_answer_alike(tmp_path: Path, elastic_url: str) -> None:
    places = [str(tmp_path / "s.duckdb"), f"{elastic_url}/alike-{uuid.uuid4().hex[:8]}"]
    for place in places:
        esdedup.index(table(tmp_path / "rows.tsv", ALL), store=place, **SIGNED)
    source = random.Random(5)
    questions = [(str(number), edited(source, source.choice(ROWS)[1], number % 6)) for number in range(60)]
    one, other = (list(esdedup.similar_to_each(questions, store=place, jaccard=0.3)) for place in places)
    for there, here in zip(one, other, strict=True):
        assert there.similar[:1] == here.similar[:1]
        matches = [[row for row in answer.similar if row["match"]] for answer in (there, here)]
        assert matches[0] == matches[1]
    for number, (_, text) in enumerate(questions):
        there, here = (esdedup.suggest(text[: 5 + number], store=place, limit=1).to_dicts() for place in places)
        assert there == here
    esdedup.drop(store=places[1])


def test_a_store_on_a_server_gets_what_it_lacks_at_the_first_question(tmp_path: Path, elastic_url: str) -> None:
    store = f"{elastic_url}/later-{uuid.uuid4().hex[:8]}"
    esdedup.index(table(tmp_path / "rows.tsv", ALL), store=store, lookup=False, **SIGNED)
    before = esdedup.status(store=store)["counts"]
    with esdedup.open_store(store, read_only=True) as opened:
        assert opened.corpus.lookup_behind() == before["sentences_kept"]
    assert finds(store)
    with esdedup.open_store(store, read_only=True) as opened:
        assert opened.corpus.lookup_behind() == 0
    esdedup.scan(store=store)  # what scans need is still there
    after = esdedup.status(store=store)["counts"]
    assert {name: after[name] for name in before} == before
    esdedup.drop(store=store)


@pytest.mark.parametrize("kind", few([*KINDS, "opensearch"], 0, 1))
def test_what_is_gone_takes_nobody_s_place(tmp_path: Path, request: pytest.FixtureRequest, kind: str) -> None:
    rows = [(f"d{number:02}", f"The same beginning, and then the number {number:02}.") for number in range(40)]
    store = str(tmp_path / "s.duckdb")
    if kind != "embedded":
        url = request.getfixturevalue("elastic_url" if kind == "server" else "opensearch_url")
        store = f"{url}/gone-{uuid.uuid4().hex[:8]}"
    esdedup.index(table(tmp_path / "rows.tsv", rows), store=store, **SIGNED)
    assert [row.id for row in esdedup.suggest("the same", store=store, limit=2)] == ["d00", "d01"]
    esdedup.remove("d00", "d01", store=store)
    esdedup.add(table(tmp_path / "rows.tsv", [("d02", "Something else.")]), store=store)
    assert [row.id for row in esdedup.suggest("the same", store=store, limit=2)] == ["d03", "d04"]
    assert [row.id for row in esdedup.similar(rows[0][1], store=store, limit=1)] == ["d03"]
    esdedup.add(table(tmp_path / "rows.tsv", rows[:3]), store=store)
    assert [row.id for row in esdedup.suggest("the same", store=store, limit=2)] == ["d00", "d01"]
    assert esdedup.similar(rows[0][1], store=store, limit=1)[0].text == rows[0][1]
    esdedup.drop(store=store)


# -- the command ----------------------------------------------------------------------------------------------


def test_many_questions_from_a_file(tmp_path: Path) -> None:
    store = str(tmp_path / "s.duckdb")
    esdedup.index(table(tmp_path / "rows.tsv", ALL), store=store, **SIGNED)
    asked = tmp_path / "questions.jsonl"
    rows: list[dict[str, Any]] = [{"id": 7, "text": WORLD["en"].upper()}, {"text": WORLD["ja"][5:30]}]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = commands.esdedup("similar", "--file", asked, "--store", store, "--limit", "1", "--json", cwd=tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["id"], answer["similar"][0]["text"]) for answer in answers] == [
        ("7", WORLD["en"]), ("2", WORLD["ja"]),
    ]  # fmt: skip
    asked.write_text("nonsense\n" + asked.read_text("utf-8") + '[]\n{"text": 1}\n', "utf-8")
    rest = commands.esdedup("similar", "--file", asked, "--store", store, "--limit", "1", "--json", cwd=tmp_path)
    assert rest.stdout == done.stdout.replace('"id":"2"', '"id":"3"')
    assert rest.returncode == 2
    assert f"esdedup: {asked}: 3 lines are no questions (1, 4, 5), and the others are answered" in rest.stderr
    assert "give either TEXT or --file" in commands.esdedup("similar", "--store", store, cwd=tmp_path).stderr


# -- the lookup of a file -------------------------------------------------------------------------------------


@pytest.fixture
def searched(tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    esdedup.index(table(tmp_path / "rows.tsv", ALL), store=path, **SIGNED)
    return path


def lookup_of(store: Path) -> Path:
    return store.with_name(f"{store.name}.lookup")


def finds(store: Path | str, text: str = WORLD["en"]) -> bool:
    return any(row.text == text for row in esdedup.similar(text.upper(), store=store))


def test_a_store_without_a_lookup_gets_one_at_the_first_question(searched: Path) -> None:
    for file in lookup_of(searched).iterdir():
        file.unlink()
    assert finds(searched)
    assert (lookup_of(searched) / "lookup.json").exists()


def test_a_lookup_is_left_out_if_it_is_not_wanted(tmp_path: Path) -> None:
    source = table(tmp_path / "rows.tsv", ALL)
    store = tmp_path / "s.duckdb"
    esdedup.index(source, store=store, lookup=False, **SIGNED)
    esdedup.run(source, out=tmp_path / "out", report=False, **SIGNED)
    assert not lookup_of(store).exists()
    assert not lookup_of(tmp_path / "out" / "store.duckdb").exists()
    esdedup.index(source, store=store, **SIGNED)
    assert lookup_of(store).exists()


def test_it_follows_what_is_added_and_removed(searched: Path, tmp_path: Path) -> None:
    new = "A sentence that nobody has written down before, about a lighthouse keeper and his twelve geese."
    esdedup.add(table(tmp_path / "more.tsv", [("new", new)]), store=searched)
    assert len(list(lookup_of(searched).glob("*.texts"))) == 2
    assert finds(searched, new)
    esdedup.remove("more/new", store=searched)
    assert not finds(searched, new)
    assert finds(searched)
    esdedup.remove(*(key for key, _ in ROWS), store=searched)
    assert len(list(lookup_of(searched).glob("*.texts"))) == 1  # made again: most of it was gone
    assert finds(searched)


@pytest.mark.full
def test_many_small_additions_are_joined(searched: Path, tmp_path: Path) -> None:
    source = random.Random(9)
    for number in range(20):
        row = (f"new{number}", sentence(source))
        esdedup.index(table(tmp_path / f"{number}.tsv", [row]), store=searched)
        assert finds(searched, row[1])
    assert len(list(lookup_of(searched).glob("*.texts"))) < 17


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "swapped", "nothing", "version"])
def test_a_damaged_lookup_is_made_again(searched: Path, damage: str) -> None:
    [texts], [ends] = (list(lookup_of(searched).glob(f"*.{kind}")) for kind in ("texts", "ends"))
    whole = texts.read_bytes()
    if damage == "cut":
        texts.write_bytes(whole[: len(whole) // 2])
    elif damage == "noise":
        ends.write_bytes(random.Random(1).randbytes(10_000))
    elif damage == "empty":
        (lookup_of(searched) / "lookup.json").write_text("")
    elif damage == "swapped":
        texts.write_bytes(ends.read_bytes())
    elif damage == "nothing":
        ends.unlink()
    else:
        (lookup_of(searched) / "lookup.json").write_text('{"version": 99, "state": "", "segments": ["../../x"]}')
    assert finds(searched)


def test_texts_of_a_lookup_that_cannot_be_unpacked(searched: Path) -> None:
    [texts] = lookup_of(searched).glob("*.texts")
    texts.write_bytes(texts.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"))
    with pytest.raises(StoreError, match=r"s\.duckdb\.lookup: damaged; delete this folder"):
        finds(searched)
    for file in lookup_of(searched).iterdir():
        file.unlink()
    assert finds(searched)


def test_a_copy_and_another_store_in_its_place(searched: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.duckdb"
    moved.write_bytes(searched.read_bytes())
    assert finds(moved)
    new = "A sentence that nobody has written down before, about a lighthouse keeper and his twelve geese."
    esdedup.index(table(tmp_path / "new.tsv", [("new", new)]), store=tmp_path / "other.duckdb", lookup=False, **SIGNED)
    (tmp_path / "other.duckdb").replace(searched)
    assert finds(searched, new)
    assert not finds(searched)


def test_who_may_only_read_has_a_lookup_in_the_cache(
    searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in lookup_of(searched).iterdir():
        file.unlink()
    lookup_of(searched).rmdir()
    lookup_of(searched).write_text("in the way of a folder, as a folder that may not be written to would be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert finds(searched)
    assert list((tmp_path / "cache" / "esdedup" / "lookups").glob("*/lookup.json"))


@pytest.mark.parametrize("linked", ["folder", "lock", "lookup.json"])
def test_links_are_not_followed(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    other, lookup = tmp_path / "other", lookup_of(searched)
    other.mkdir()
    if linked == "folder":
        lookup.rename(tmp_path / "before")
        lookup.symlink_to(other, target_is_directory=True)
    else:
        (lookup / linked).unlink()
        (lookup / linked).symlink_to(other / "made")
    assert finds(searched)
    esdedup.drop(store=searched)
    assert list(other.iterdir()) == []


def test_it_is_dropped_with_the_store(searched: Path) -> None:
    (lookup_of(searched) / "notes.txt").write_text("of somebody else")
    esdedup.drop(store=searched)
    assert [file.name for file in lookup_of(searched).iterdir()] == ["notes.txt"]
    with pytest.raises(StoreError, match="there is no store"):
        finds(searched)
