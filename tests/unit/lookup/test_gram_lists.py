"""The lists of a segment say which of its texts have a gram, and never lead outside of them."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.lookup import gram_lists
from esdedup.lookup.gram_lists import FILES, MOST_TEXTS, GramLists, Scored, joined, make_lists
from esdedup.lookup.grams import grams_of
from esdedup.text.search_form import search_form
from tests.support.corpus import sentence

SIZES = np.array([4_000, 1, 300, 2_699])
ENOUGH = np.float32(2)


@pytest.fixture(scope="module")
def forms() -> pa.LargeStringArray:
    """Some grams are in most of them."""
    source = random.Random(1)
    texts = [f"{'The common words. ' * (number % 3 > 0)}{sentence(source, 6)} {number}" for number in range(7_000)]
    return search_form(text_column(texts))


@pytest.fixture(scope="module", params=["at once", "in parts"])
def lists(request: pytest.FixtureRequest, forms: pa.LargeStringArray, tmp_path_factory: Any) -> GramLists:
    """The lists of all blocks, of which three were joined before."""
    path = tmp_path_factory.mktemp("lists") / "some"
    ends = np.cumsum(SIZES)
    each = [make_lists(forms.slice(end - size, size)) for end, size in zip(ends, SIZES, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in parts":
            patch.setattr(gram_lists, "_JOINED_AT_ONCE", 20_000)
        GramLists.write(path, joined(each[:3], [1, 1, 1]))
        GramLists.write(path.with_name("all"), joined([GramLists.read(path), each[3]], [3, 1]))
    return GramLists.read(path.with_name("all"))


@pytest.fixture(scope="module")
def asked(forms: pa.LargeStringArray) -> npt.NDArray[np.uint32]:
    return grams_of(search_form(text_column([f"the common words {forms[1]} {forms[4_005]} xqzj"])))[0]


def numbers() -> npt.NDArray[np.int64]:
    return np.concatenate([block * MOST_TEXTS + np.arange(size) for block, size in enumerate(SIZES)])


def by_text(scored: Scored) -> dict[int, float]:
    return dict(zip(scored.texts.tolist(), scored.scores.tolist(), strict=True))


def test_scores_are_sums_of_weights(
    forms: pa.LargeStringArray, lists: GramLists, asked: npt.NDArray[np.uint32]
) -> None:
    grams, bounds = grams_of(forms)
    has = [set(grams[low:high].tolist()) for low, high in pairwise(bounds)]
    spans = lists.spans(asked)
    expected = [sum(gram in some for some in has) for gram in asked.tolist()]
    assert spans.held.tolist() == expected
    assert min(expected) == 0
    assert max(expected) > len(forms) / 2
    weights = np.random.default_rng(2).random(len(asked)).astype(np.float32) + np.float32(0.1)
    sums = {
        number: sum(weight for gram, weight in zip(asked.tolist(), weights.tolist(), strict=True) if gram in some)
        for number, some in zip(numbers().tolist(), has, strict=True)
    }
    gone = np.zeros(len(SIZES) * MOST_TEXTS, np.uint8)
    gone[[0, 5, MOST_TEXTS, 2 * MOST_TEXTS + 7]] = 1
    for none, blocks, least in ((gone[:0], range(4), 0.0), (gone, range(4), 1.5), (gone, range(1, 3), 2.5)):
        scored = lists.scored(spans, weights, blocks, SIZES, none, np.float32(least), ENOUGH)
        there = {
            number: total for number, total in sums.items()
            if total > 0 and number // MOST_TEXTS in blocks and not (len(none) and none[number])
        }  # fmt: skip
        assert by_text(scored) == pytest.approx({number: total for number, total in there.items() if total >= least})
        assert scored.reached == sum(total >= ENOUGH for total in there.values())
        assert len(scored.texts) > 0


def test_lists_without_texts(tmp_path: Path) -> None:
    GramLists.write(tmp_path / "none", joined([make_lists(text_column([]))], [1]))
    lists = GramLists.read(tmp_path / "none")
    spans = lists.spans(np.array([7], np.uint32))
    lists.expect(spans)
    assert spans.held.tolist() == [0]
    found = lists.scored(
        spans, np.ones(1, np.float32), range(1), np.zeros(1, np.int64), np.empty(0, np.uint8), ENOUGH, ENOUGH
    )
    assert found.reached == len(found.texts) == 0


def test_each_gram_is_found_wherever_it_stands(lists: GramLists) -> None:
    for count in (1, 2, 100, len(lists)):
        some = replace(lists, grams=lists.grams[:count])
        assert some.spans(some.grams).held.tolist() == lists.held[:count].tolist()
    crowded = replace(lists, grams=np.arange(1_000, dtype=np.uint32))
    found = crowded.spans(np.array([0, 999, 1_000, 500, 2**32 - 1], np.uint32))
    assert found.held.tolist() == [lists.held[0], lists.held[999], 0, lists.held[500], 0]


@pytest.mark.parametrize("inner", [9_000_000, -9_000_000])
def test_places_outside_of_the_lists(inner: int) -> None:
    grams = np.array([1, 2], np.uint32)
    lists = GramLists(grams, grams, np.array([0, inner, 1]), np.ones(1, np.uint8))
    spans = lists.spans(grams)
    assert {*spans.begins.tolist(), *spans.ends.tolist()} <= {0, 1}
    with pytest.raises(ValueError, match="end where they cannot"):
        list(joined([lists, lists], [1, 1]))


@pytest.mark.parametrize("steps", [bytes([255] * 50 + [127]) * 20, bytes([127]) * 3_000, bytes([128] * 1_000)])
def test_steps_that_lead_to_texts_that_are_not_there(steps: bytes) -> None:
    one = np.ones(1, np.uint32)
    lists = GramLists(one, one, np.array([0, len(steps)]), np.frombuffer(steps, np.uint8))
    for each in (lists, *joined([lists, lists], [1, 1])):
        found = each.scored(
            each.spans(one),
            np.ones(1, np.float32),
            range(2),
            np.array([10, 10]),
            np.empty(0, np.uint8),
            np.float32(0),
            ENOUGH,
        )
        assert (found.texts % MOST_TEXTS < 10).all()


@pytest.mark.parametrize("ending", FILES)
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_files_that_contradict_each_other(lists: GramLists, tmp_path: Path, ending: str, damage: str) -> None:
    GramLists.write(tmp_path / "some", iter([lists]))
    file = tmp_path / f"some.{ending}"
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-3] if damage == "cut" else b"")
    if ending == "steps" and damage != "gone":  # which is known when they are asked for
        read = GramLists.read(tmp_path / "some")
        assert max(read.spans(read.grams).ends) <= len(read.steps)
        return
    with pytest.raises((OSError, ValueError)):
        GramLists.read(tmp_path / "some")


def test_empty_lists_are_damage() -> None:
    count = 1_000  # each would be written as four bytes, for which there is no room
    grams, held = np.arange(count, dtype=np.uint32), np.ones(count, np.uint32)
    lists = GramLists(grams, held, np.zeros(count + 1, np.int64), np.zeros(0, np.uint8))
    with pytest.raises(ValueError, match="end where they cannot"):
        list(joined([lists], [1]))
