"""`--templates`: what a reader sees of the templates of a user's own wiki. On both stores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import esdedup
from esdedup.errors import SettingsError, StoreSettingsError
from tests.support.commands import esdedup as command
from tests.support.dumps import dump
from tests.support.stores import RunJob, Stores

_TIME = "2020-01-01T00:00:00Z"
_MILL = "The mill of the town stands beside {} and has two wheels of oak which turn in every season of the year."
_OURS = "the old pond of Arlen"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """Two pages with a sentence in common, which one of them writes with a template."""
    pages = {"One": [(_TIME, [_MILL.format("{{pond|Arlen}}")])], "Two": [(_TIME, [_MILL.format(_OURS)])]}
    return dump(tmp_path / "wiki.xml", pages, lang="en")


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text('[places]\nPond = "the old pond of {1}"\n', "utf-8")
    return path


@pytest.mark.parametrize("wikitext", ["fast", "reference"])
def test_what_a_template_shows_is_compared(
    tmp_path: Path, wiki: Path, ours: Path, run: RunJob, stores: Stores, wikitext: str
) -> None:
    run(wiki, out=tmp_path, templates=ours, wikitext=wikitext)
    [cluster] = esdedup.clusters(store=stores.at(tmp_path))
    assert cluster.kind == "identical"
    assert {member["text"] for member in cluster.members} == {_MILL.format(_OURS)}


@pytest.mark.both_stores
def test_a_store_keeps_its_templates(tmp_path: Path, wiki: Path, ours: Path, run: RunJob, stores: Stores) -> None:
    run(wiki, out=tmp_path, templates=str(ours))
    store = stores.at(tmp_path)
    other = dump(tmp_path / "other.xml", {"Three": [(_TIME, [_MILL.format("{{Pond|Brumo}}")])]}, lang="en")
    changed = tmp_path / "changed.toml"
    changed.write_text('pond = "a pond"\n', "utf-8")
    with pytest.raises(StoreSettingsError, match=r"the store has templates .*pond of.* you requested .*a pond"):
        esdedup.index(other, store=store, templates=changed)
    ours.unlink()  # the store knows them
    esdedup.index(other, store=store)
    [found] = esdedup.similar(_MILL.format("the old pond of Brumo"), store=store, limit=1)
    assert found.text == _MILL.format("the old pond of Brumo")


def test_sentences_are_dropped_from_pages_as_they_were_compared(tmp_path: Path, wiki: Path, ours: Path) -> None:
    done = esdedup.dedupe(wiki, out=tmp_path / "out", templates=ours)
    assert done["records"]["dropped"]["identical"] == 1
    [row] = [json.loads(line) for line in (tmp_path / "out" / "wiki.jsonl").read_text("utf-8").splitlines()]
    assert row["text"] == _MILL.format(_OURS)


def test_extracted_text_has_them(wiki: Path, ours: Path) -> None:
    assert [row.text for row in esdedup.extract(wiki, templates=ours)] == 2 * [_MILL.format(_OURS)]
    page = command("extract", wiki, "--page", "One", "--dropped", "--templates", ours, cwd=ours.parent)
    assert "the old pond of" in page.stdout.replace("[+", "").replace("+]", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "none.toml: No such file or directory"),
        ("pond", "ours.toml: this is not TOML"),
        ("", "there is no template in it"),
        ('pond = "{1"', "pond: { alone; write {{ for a brace"),
        ("pond = 1", "pond needs a pattern in quotes"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_read(
    tmp_path: Path, wiki: Path, ours: Path, text: str | None, words: str
) -> None:
    if text is None:
        ours = tmp_path / "none.toml"
    else:
        ours.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as error:
        esdedup.run(wiki, out=tmp_path / "found", templates=ours)
    assert words in str(error.value)
    assert not (tmp_path / "found").exists()
