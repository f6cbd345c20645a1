"""Blocks of a lookup: lists say which texts have a gram."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.lookup.grams import grams_of
from esdedup.lookup.text_blocks import MOST_BYTES, MOST_TEXTS, TEXTS, Block, in_blocks, keys_of, make_block
from esdedup.text.search_form import search_form
from tests.support.corpus import sentence


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Some grams are in most of them."""
    source = random.Random(1)
    return [f"{'The common words. ' * (number % 3 > 0)}{sentence(source, 6)} {number}" for number in range(7_000)]


@pytest.fixture(scope="module")
def block(texts: list[str]) -> Block:
    [rows] = in_blocks([of(texts)])
    return Block(*make_block(rows))


def of(texts: list[str]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(range(len(texts)), pa.uint64()), text_column(texts)], schema=TEXTS)


def test_each_text_is_there_in_the_order_of_its_form(texts: list[str], block: Block) -> None:
    held = block.texts(np.arange(len(block))).to_pylist()
    assert sorted(held) == sorted(texts)
    assert keys_of(text_column(held)) == sorted(keys_of(text_column(texts)))
    assert [texts[number] for number in block.hashes.tolist()] == held


def test_scores_are_sums_of_weights(texts: list[str], block: Block) -> None:
    grams, bounds = grams_of(search_form(block.texts(np.arange(len(block)))))
    has = [set(grams[low:high].tolist()) for low, high in pairwise(bounds)]
    asked, _ = grams_of(search_form(text_column([f"the common words {texts[1]} {texts[5]} xqzj"])))
    spans = block.spans(asked)
    expected = np.array([sum(gram in some for some in has) for gram in asked.tolist()])
    assert (spans.ends - spans.begins).tolist() == expected.tolist()
    assert expected.min() == 0
    assert expected.max() > len(texts) / 2
    weights = np.random.default_rng(2).random(len(asked)).astype(np.float32)
    scores = block.scores(spans, weights)
    sums = [sum(weight for gram, weight in zip(asked.tolist(), weights, strict=True) if gram in some) for some in has]
    np.testing.assert_allclose(scores, sums, rtol=1e-5)


def test_blocks_are_cut_by_texts_and_bytes() -> None:
    many = [str(number) for number in range(MOST_TEXTS + 10)]
    assert [len(each) for each in in_blocks([of(many)])] == [MOST_TEXTS, 10]
    long = ["x" * (MOST_BYTES // 2 - 10)] * 3 + ["y" * (MOST_BYTES + 5)] + ["z"]
    assert [len(each) for each in in_blocks([of(long)])] == [2, 1, 1, 1]
    assert in_blocks([of([])]) == []


def test_what_contradicts_itself_is_no_block() -> None:
    rows, lists = make_block(of(["one text", "another text"]))
    with pytest.raises(ValueError, match="none where one must be"):
        Block(pa.record_batch([rows["hash"], pa.array(["one", None], pa.large_string())], schema=TEXTS), lists)
    offsets = pa.py_buffer(np.array([0, 9_000, 1], np.int32).tobytes())  # Arrow itself looks at the last one only
    wrong = pa.Array.from_buffers(pa.list_(pa.uint16()), 2, [None, offsets], children=[pa.array([1], pa.uint16())])
    with pytest.raises(ValueError, match="offsets that cannot be"):
        Block(rows, pa.record_batch([lists["gram"][:2], wrong], schema=lists.schema))
