"""Clusters laid out for reading: what is shown is what stands there, and what is not shown is counted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.output.aligned import Aligned, Row, align_cluster
from tests.support.clusters import a_cluster

WORDS = st.sampled_from(
    ["The", "the", "town", "of", "Arlen", "1,234", "1234", "had", "men", "שלום", "中文", "…", "\n", "\0"]
)
TEXTS = st.lists(st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=40)), min_size=1, max_size=6)
LONG_TEXTS = st.lists(st.sampled_from(["ab", "cd1", "x", ".", "中" * 90]), max_size=900).map(" ".join)


def text_of(row: Row) -> str:
    return "".join(piece["text"] for piece in row["pieces"])


def slots_of(row: Row) -> list[int]:
    return [piece["slot"] for piece in row["pieces"] if piece["slot"] is not None]


def fillers(row: Row) -> list[str]:
    return [piece["text"] for piece in row["pieces"] if piece["slot"] is not None]


def different(row: Row) -> list[str]:
    return [piece["text"] for piece in row["pieces"] if piece["differs"]]


@given(TEXTS)
def test_pieces_make_each_text_again_and_rows_have_the_same_slots(texts: list[str]) -> None:
    view = align_cluster(a_cluster(texts), longest=10_000)
    assert {text_of(row) for row in view["rows"]} == set(texts)
    assert text_of(view["rows"][0]) == texts[0]
    for row in view["rows"]:
        assert [piece["slot"] for piece in row["pieces"] if piece["slot"] is not None] == list(
            range(len(view["slots"]))
        )
        assert row["copies"] == len(row["members"]) + row["more"]
        assert not any(piece["left_out"] for piece in row["pieces"])
    assert sum(row["copies"] for row in view["rows"]) == len(texts)
    assert json.loads(json.dumps(view)) == view


@given(
    st.lists(
        st.lists(st.sampled_from(["ab", "cd1", "x", ".", "中" * 90]), max_size=900).map(" ".join),
        min_size=1,
        max_size=4,
    )
)
def test_long_texts_are_shortened_and_what_is_missing_is_counted(texts: list[str]) -> None:
    view = align_cluster(a_cluster(texts), longest=400)
    lengths = sorted(len(text) for text in set(texts))
    shown = [sum(len(piece["text"]) + piece["left_out"] for piece in row["pieces"]) for row in view["rows"]]
    assert sorted(shown) == lengths
    assert all(len(text_of(row)) <= 400 for row in view["rows"])
    assert len({tuple(slots_of(row)) for row in view["rows"]}) == 1


def test_rows_may_leave_out_what_the_first_one_tells() -> None:
    same = "where a clear pine and a bent flute and three mills of old had"
    long = f"in the amber office of Klouyo, {same} blocked the way of all who came that"
    first, second = align_cluster(a_cluster([f"Ten men {long} day.", f"Two men {long} year."]), shorten_repeats=True)[
        "rows"
    ]
    assert text_of(first) == f"Ten men {long} day."
    shown = [(piece["text"], piece["left_out"]) for piece in second["pieces"]]
    assert shown == [
        ("Two", 0),
        (" men in the amber office of Klouyo, ", len(same)),
        (" blocked the way of all who came that ", 0),
        ("year", 0),
        (".", 0),
    ]


def test_what_differs_from_most_is_told_apart() -> None:
    view = align_cluster(
        a_cluster(
            [
                "A poor nation of 7 million people sought to acquire it.",
                "A poor nation of 4.5 million people sought to acquire it.",
                "A poor nation of 4.5 million people sought to acquire it.",
                "A nation of 4.5 million people sought to acquire it.",
            ]
        )
    )
    first, second, third = view["rows"]
    assert [slot["type"] for slot in view["slots"]] == ["words", "number"]
    assert fillers(first) == ["poor", "7 million"]
    assert (second["copies"], third["copies"]) == (2, 1)
    assert different(first) == [fillers(first)[1]]
    assert different(second) == []
    assert different(third) == [""]


def test_words_that_are_spelled_otherwise_are_marked() -> None:
    view = align_cluster(a_cluster(["The City of Arlen , had 1,234 men.", "The city of Arlen, had 1234 men."]))
    assert view["slots"] == []
    assert different(view["rows"][0]) == []
    assert different(view["rows"][1]) == ["city", ",", "1234"]


def test_a_gap_stands_where_others_have_something() -> None:
    first, second = align_cluster(a_cluster(["A C++ compiler of old.", "A C compiler of old."]))["rows"]
    assert [piece["text"] for piece in second["pieces"]] == ["A C", "", " compiler of old."]
    first, second = align_cluster(a_cluster(["He came twice.", "He came."]))["rows"]
    assert [piece["text"] for piece in first["pieces"]] == ["He came ", "twice", "."]
    assert [piece["text"] for piece in second["pieces"]] == ["He came", "", "."]


def test_copies_are_one_row() -> None:
    view = align_cluster(a_cluster(["All the same."] * 5000), sentences=3)
    assert view["slots"] == []
    [row] = view["rows"]
    assert (row["copies"], len(row["members"]), row["more"]) == (5000, 3, 4997)
    assert "text" not in row["members"][0]


def test_of_many_texts_the_most_said_and_then_the_nearest_are_shown() -> None:
    near = [f"The town of Arlen had {number} men." for number in range(100, 110)]
    far = [f"The village of Brumo and of {number} others had once no women." for number in range(4000)]
    view = align_cluster(a_cluster([*near, *far, far[7]]), rows=4)
    assert [text_of(row) for row in view["rows"]] == [near[0], far[7], near[1], near[2]]
    assert view["more_texts"] == 4010 - 4
    assert view["more_sentences"] == 4011 - 5


@pytest.mark.parametrize("text", ["", " ", "\n", "‮txet", "word " * 30_000])
def test_any_text_can_stand_alone_or_beside_another(text: str) -> None:
    for texts in ([text], [text, "Something else."], ["Something else.", text]):
        view: Aligned = align_cluster(a_cluster(texts))
        assert len(view["rows"]) == len(texts)
