"""Blocks of a lookup: each text is there, in its order, and what contradicts itself is no block."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from esdedup.columns.arrays import text_column
from esdedup.lookup.gram_lists import MOST_TEXTS
from esdedup.lookup.text_blocks import (
    GROUP,
    MOST_BYTES,
    TEXTS,
    Block,
    DamagedLookupError,
    Dictionary,
    in_blocks,
    keys_of,
    make_block,
    texts_of,
)
from tests.support.corpus import sentence


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Some grams are in most of them."""
    source = random.Random(1)
    return [f"{'The common words. ' * (number % 3 > 0)}{sentence(source, 6)} {number}" for number in range(7_000)]


@pytest.fixture(scope="module")
def block(texts: list[str]) -> Block:
    [rows] = in_blocks([of(texts)])
    return block_of(rows)


def block_of(rows: pa.RecordBatch) -> Block:
    dictionary = Dictionary.of(rows, EMPTY)
    return Block(make_block(rows, dictionary)[0], dictionary)


EMPTY = Dictionary(b"")


def key_of(text: str) -> bytes:
    [key] = keys_of(text_column([text]))
    return key


def of(texts: list[str]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(range(len(texts)), pa.uint64()), text_column(texts)], schema=TEXTS)


def test_each_text_is_there_in_the_order_of_its_form(texts: list[str], block: Block) -> None:
    held = block.texts(np.arange(len(block))).to_pylist()
    assert sorted(held) == sorted(texts)
    assert keys_of(text_column(held)) == sorted(keys_of(text_column(texts)))
    assert [texts[number] for number in block.hashes.tolist()] == held


def test_blocks_are_cut_by_texts_and_bytes() -> None:
    many = [str(number) for number in range(MOST_TEXTS + 10)]
    assert [len(each) for each in in_blocks([of(many)])] == [MOST_TEXTS, 10]
    long = ["x" * (MOST_BYTES // 2 - 10)] * 3 + ["y" * (MOST_BYTES + 5)] + ["z"]
    assert [len(each) for each in in_blocks([of(long)])] == [2, 1, 1, 1]
    assert in_blocks([of([])]) == []


def test_what_contradicts_itself_is_no_block() -> None:
    groups, _ = make_block(of([f"text {number}" for number in range(GROUP + 1)]), EMPTY)

    def changed(batch: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
        return batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), column)

    with pytest.raises(ValueError, match="none where one must be"):
        Block(changed(groups, "packed", pa.array([b"one", None], pa.large_binary())), EMPTY)
    with pytest.raises(ValueError, match="none where one must be"):
        Block(changed(groups, "hashes", pa.array([[1, None], [3]], pa.list_(pa.uint64()))), EMPTY)
    with pytest.raises(ValueError, match="too many texts, or sizes, or groups"):
        Block(pa.concat_batches([groups, groups]), EMPTY)
    block = Block(changed(groups, "sizes", pa.array([[2**32 - 1] * GROUP, [1]], pa.list_(pa.uint32()))), EMPTY)
    with pytest.raises(DamagedLookupError, match="sizes that cannot be"):
        block.texts(np.array([1]))


@pytest.mark.parametrize("packed", [b"no compressed texts", b""])
def test_texts_that_cannot_be_unpacked(packed: bytes) -> None:
    groups, _ = make_block(of(["many words, " * 20, "many words, and others, " * 20]), EMPTY)
    sizes = groups.set_column(2, groups.schema.field(2), pa.array([[400, 600]], pa.list_(pa.uint32())))
    damaged = sizes.set_column(3, groups.schema.field(3), pa.array([packed * 2], pa.large_binary()))
    with pytest.raises(DamagedLookupError, match=None if packed else "sizes that cannot be"):
        Block(damaged, EMPTY).texts(np.array([1]))
    with pytest.raises(DamagedLookupError):  # the texts are longer than is said
        Block(sizes, EMPTY).texts(np.array([0]))


def test_groups_share_a_dictionary_once_there_is_enough_to_train_it_on() -> None:
    source = random.Random(3)
    for count, trained in ((1_000, False), (20_000, True)):
        texts = [sentence(source, 8) for _ in range(count)]
        dictionary = Dictionary.of(of(texts), EMPTY)
        assert bool(dictionary.data) == trained
        groups, _ = make_block(of(texts), dictionary)
        asked = np.array([count - 1, 3, count // 2])
        read = Block(groups, Dictionary(dictionary.data)).texts(asked).to_pylist()
        assert read == [sorted(texts, key=key_of)[at] for at in asked]


def test_a_dictionary_goes_on_while_it_is_as_good_as_a_new_one() -> None:
    source = random.Random(3)
    here, more = (of([sentence(source, 8) for _ in range(20_000)]) for _ in range(2))
    other = of([sentence(source, 8).upper() for _ in range(20_000)])
    last = Dictionary.of(here, EMPTY)
    assert last is not EMPTY
    assert Dictionary.of(more, last) is last
    assert Dictionary.of(other, last) is not last


def test_a_dictionary_that_is_not_the_one_that_was_used() -> None:
    source = random.Random(3)
    texts = of([sentence(source, 8) for _ in range(20_000)])
    dictionary = Dictionary.of(texts, EMPTY)
    groups, _ = make_block(texts, dictionary)
    magic = bytes.fromhex("37a430ec")  # of dictionaries
    for wrong in (b"", b"no dictionary", magic + bytes(100), dictionary.data[:-9_000]):
        with pytest.raises(DamagedLookupError):
            Block(groups, Dictionary(wrong)).texts(np.arange(20_000))


def test_texts_that_would_be_too_small_are_not_compressed() -> None:
    texts = ["x" * 100_000, "y" * 100_000, *(f"a text of its own {number}" for number in range(100)), ""]
    block = block_of(of(texts))
    assert sorted(block.texts(np.arange(len(texts))).to_pylist()) == sorted(texts)
    assert block.texts(np.array([102, 0, 50, 0])).to_pylist() == ["y" * 100_000, "", "a text of its own 53", ""]
    assert block.texts(np.array([], np.int64)).to_pylist() == []


def test_texts_of_several_blocks() -> None:
    source = random.Random(5)
    texts = [f"{sentence(source, 5)} {number}" for number in range(100)]
    rows = pa.record_batch([pa.array(range(100), pa.uint64()), text_column(texts)], schema=TEXTS)
    cut = [rows.slice(begin, size) for begin, size in ((0, 30), (30, 1), (31, 60), (91, 9))]
    blocks = list(map(block_of, cut))
    places = [(number, row) for number, block in enumerate(blocks) for row in range(len(block))]
    for count in (100, 7, 0):
        asked = source.sample(places, count)
        numbers, at = np.array(asked, np.int64).reshape(-1, 2).T
        own = [int(blocks[number].hashes[row]) for number, row in asked]
        assert texts_of(blocks, numbers, at).to_pylist() == [texts[one] for one in own]
