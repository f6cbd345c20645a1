"""The lists of a segment say which of its texts have a gram, and never lead outside of them."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.lookup.gram_lists import LISTS, MOST_TEXTS, GramLists, Scored, joined, make_lists
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


@pytest.fixture(scope="module")
def batch(forms: pa.LargeStringArray) -> pa.RecordBatch:
    ends = np.cumsum(SIZES)
    return joined([make_lists(forms.slice(end - size, size)) for end, size in zip(ends, SIZES, strict=True)])


@pytest.fixture(scope="module")
def asked(forms: pa.LargeStringArray) -> npt.NDArray[np.uint32]:
    return grams_of(search_form(text_column([f"the common words {forms[1]} {forms[4_005]} xqzj"])))[0]


def numbers() -> npt.NDArray[np.int64]:
    return np.concatenate([block * MOST_TEXTS + np.arange(size) for block, size in enumerate(SIZES)])


def by_text(scored: Scored) -> dict[int, float]:
    return dict(zip(scored.texts.tolist(), scored.scores.tolist(), strict=True))


def test_scores_are_sums_of_weights(
    forms: pa.LargeStringArray, batch: pa.RecordBatch, asked: npt.NDArray[np.uint32]
) -> None:
    lists = GramLists(batch)
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


def test_lists_of_one_block_stay_as_they_are(forms: pa.LargeStringArray) -> None:
    lists = make_lists(forms)
    assert joined([lists]) is lists


def test_a_segment_without_texts() -> None:
    lists = GramLists(make_lists(text_column([])))
    spans = lists.spans(np.array([7], np.uint32))
    assert spans.held.tolist() == [0]
    found = lists.scored(
        spans, np.ones(1, np.float32), range(1), np.zeros(1, np.int64), np.empty(0, np.uint8), ENOUGH, ENOUGH
    )
    assert found.reached == len(found.texts) == 0


def test_each_gram_is_found_wherever_it_stands(batch: pa.RecordBatch) -> None:
    for count in (1, 2, 100, len(batch)):
        lists = GramLists(batch.slice(0, count))
        assert lists.spans(batch["gram"].to_numpy()[:count]).held.tolist() == batch["texts"].to_pylist()[:count]
    crowded = pa.record_batch([pa.array(range(1_000), pa.uint32()), *batch.slice(0, 1_000).columns[1:]], schema=LISTS)
    found = GramLists(crowded).spans(np.array([0, 999, 1_000, 500, 2**32 - 1], np.uint32))
    held = crowded["texts"].to_pylist()
    assert found.held.tolist() == [held[0], held[999], 0, held[500], 0]


@pytest.mark.parametrize("inner", [9_000_000, -9_000_000])
def test_places_outside_of_the_lists(inner: int) -> None:
    offsets = pa.py_buffer(np.array([0, inner, 1], np.int64).tobytes())  # Arrow itself looks at the last one only
    wrong = pa.Array.from_buffers(pa.large_binary(), 2, [None, offsets, pa.py_buffer(b"1")])
    one_two = pa.array([1, 2], pa.uint32())
    lists = GramLists(pa.record_batch([one_two, one_two, wrong], schema=LISTS))
    spans = lists.spans(np.array([1, 2], np.uint32))
    assert {*spans.begins.tolist(), *spans.ends.tolist()} <= {0, 1}


@pytest.mark.parametrize("steps", [bytes([255] * 50 + [127]) * 20, bytes([127]) * 3_000, bytes([128] * 1_000)])
def test_steps_that_lead_to_texts_that_are_not_there(steps: bytes) -> None:
    one = pa.array([1], pa.uint32())
    lists = GramLists(pa.record_batch([one, one, pa.array([steps], pa.large_binary())], schema=LISTS))
    sizes = np.array([10, 10])
    found = lists.scored(
        lists.spans(np.array([1], np.uint32)),
        np.ones(1, np.float32),
        range(2),
        sizes,
        np.empty(0, np.uint8),
        np.float32(0),
        ENOUGH,
    )
    assert (found.texts % MOST_TEXTS < 10).all()


def test_values_that_are_missing(batch: pa.RecordBatch) -> None:
    for at, name in enumerate(LISTS.names):
        missing = pa.array([None] * len(batch), LISTS.field(name).type)
        with pytest.raises(ValueError, match="none where one must be"):
            GramLists(batch.set_column(at, LISTS.field(name), missing))
