from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.matching.groups import NO_TOKEN
from esdedup.matching.signers.minhash_kernels import COLUMN_BITS, TOKEN_BITS
from esdedup.store.elasticsearch.token_words import texts_of_tokens, tokens_of_texts, words_of_tokens

HIGHEST = 2 ** (TOKEN_BITS - COLUMN_BITS) - 1
VALUES = st.one_of(st.just(None), st.sampled_from([0, 1, HIGHEST]), st.integers(0, HIGHEST))


@given(st.integers(1, 28).flatmap(lambda columns: st.lists(st.lists(VALUES, min_size=columns, max_size=columns))))
def test_they_are_read_as_they_were_written(rows: list[list[int | None]]) -> None:
    columns = len(rows[0]) if rows else 3
    tokens = np.full((len(rows), columns), NO_TOKEN, np.int64)
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            if value is not None:
                tokens[at, column] = value << COLUMN_BITS | column
    texts = texts_of_tokens(tokens)
    read, sound = tokens_of_texts(texts, columns)
    assert read.tolist() == tokens.tolist()
    assert sound.tolist() == (tokens != NO_TOKEN).any(axis=1).tolist()
    held = tokens[tokens != NO_TOKEN]
    assert {word for text in texts for word in text.split()} >= set(words_of_tokens(held))


WHOLE = texts_of_tokens(np.array([[5 << COLUMN_BITS, 7 << COLUMN_BITS | 1]]))[0]


@pytest.mark.parametrize(
    "text", [None, "", " ", "abc", WHOLE + " ", WHOLE[:-1], WHOLE.replace(" ", "_"), WHOLE + "é", "é" * 7, WHOLE * 9,
             "<" + WHOLE[1:], "~~~~~~~", "-------x"],
)  # fmt: skip
def test_what_others_wrote_is_not_taken_for_tokens(text: str | None) -> None:
    read, sound = tokens_of_texts([WHOLE, text, WHOLE], 2)
    assert sound.tolist() == [True, False, True]
    assert read[0].tolist() == read[2].tolist() == [5 << COLUMN_BITS, 7 << COLUMN_BITS | 1]
    assert (read[1] == NO_TOKEN).all()
