"""Results show, convert and print themselves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import esdedup
from esdedup.output.contents.base import Rows
from esdedup.output.contents.comparisons import Cluster, Explanation, Hit, Sentence
from esdedup.output.contents.job_answers import Indexed

HIT = Hit(
    id="a:1", source="a", document="a", title="A title", position=1, text="Some <b>text</b>.", revision=None,
    timestamp=None, language="en", similarity=0.8, shared_tokens=3, jaccard=0.5, containment=0.75,
    word_edit_distance=2, match=True, diff=[["=", "Some text."]],
)  # fmt: skip


def test_fields_are_attributes_and_items() -> None:
    assert HIT.id == HIT["id"] == "a:1"
    assert "jaccard" in HIT
    assert HIT.get("nothing", 7) == 7
    with pytest.raises(KeyError, match="nothing"):
        HIT["nothing"]
    assert dict(HIT) == HIT.to_dict()


def test_a_result_shows_what_matters() -> None:
    counts = Indexed(
        settings={}, counts={"documents": 1200, "new": 1000}, records={}, renamed=2, skipped={"redirect": 3}, damaged=[]
    )
    assert (
        repr(counts)
        == "Indexed(settings: {}, documents: 1,200, new: 1,000, records: {}, renamed: 2, redirect: 3, damaged: [])"
    )
    assert "&lt;b&gt;" in HIT._repr_html_()
    assert "<b>" not in HIT._repr_html_()


def test_rows_are_a_sequence_and_a_table() -> None:
    rows = Rows([HIT, HIT])
    assert len(rows) == 2
    assert rows[0] is HIT
    assert list(rows[:1]) == [HIT]
    assert rows == [HIT, HIT]
    table = rows.to_arrow()
    assert isinstance(table, pa.Table)
    assert table["id"].to_pylist() == ["a:1", "a:1"]
    assert repr(rows).startswith("2 rows\n  Hit(id: a:1")
    assert "&lt;b&gt;" in rows._repr_html_()
    assert Rows[Sentence]()._repr_html_() == "<p>no rows</p>"
    assert "… 5 more" in repr(Rows([HIT] * 25))


def test_a_field_that_only_some_answers_have_is_left_out() -> None:
    sentence = {name: HIT[name] for name in Sentence._names}
    there = {
        "a": sentence,
        "b": sentence,
        "identical": False,
        "shared_tokens": 0,
        "tokens": 10,
        "chance": 0.1,
        "jaccard": 0.0,
    }
    there |= {"shingle": "char:3", "shingles": ["char:3", "char:4"]}
    there |= {"containment": [0.0, 0.0], "word_edit_distance": 3, "verdict": "not a pair", "diff": []}
    there |= {"thresholds": {"jaccard": 0.8, "word_edit_distance": None}}
    found = Explanation.of(there)
    assert found.to_dict() == there
    assert "values_agreeing" not in found
    assert Explanation.of({**there, "values_agreeing": 5})["values_agreeing"] == 5
    with pytest.raises(TypeError):
        Cluster.of({"nothing": 1})


_NO_VERBS = ("NothingCompared", "Settings")


def test_help_lists_the_verbs() -> None:
    assert esdedup.__doc__ is not None
    for name in esdedup.__all__:
        if name not in _NO_VERBS:
            assert f"`{name}`" in esdedup.__doc__, name


@pytest.mark.parametrize("name", [name for name in esdedup.__all__ if name not in (*_NO_VERBS, "open_store")])
def test_every_verb_says_what_it_takes_and_gives(name: str) -> None:
    told = getattr(esdedup, name).__doc__
    for part in ("Args:", "Raises:", "Example:") + (("Returns:",) if name != "drop" else ()):
        assert part in told, f"{name} has no {part}"


def test_what_stands_in_a_list_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a[1].jsonl").write_text('{"text": "one"}\n')
    with pytest.raises(esdedup_error("SourceError"), match="in a list, give paths and not patterns"):
        esdedup.run([tmp_path / "*.jsonl"], out=tmp_path / "out")
    with pytest.raises(esdedup_error("UsageError"), match="a list of sources holds int"):
        esdedup.run([3], out=tmp_path / "out")  # type: ignore[list-item]
    assert esdedup.run([tmp_path / "a[1].jsonl"], out=tmp_path / "out").counts["documents"] == 1


def esdedup_error(name: str) -> type[Exception]:
    from esdedup import errors

    found: type[Exception] = getattr(errors, name)
    return found
