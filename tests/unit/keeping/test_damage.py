"""Damage is counted in the texts in which its signs stand, and only looked for there."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from esdedup.keeping.damage import AT_END, COUNTED, LESS, signs_of

PIECES = [
    *map(chr, range(128)), *"•·¦§´\ufffd\x85\xad\u200bäß東。…абвХ”“\ue000\xa0‐", "ï¿½", "(cid:1)", "-- ", "...", "[…]",
    "&amp;", "<b>", "<a@b.c>", "'''", "\\emph{", "wint", "wint", "mmoonn", "abcabcabc",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=30))
def test_what_is_not_looked_at_has_no_match(made: list[str]) -> None:
    texts = pa.array(made, pa.large_string())
    found = signs_of(texts)
    for name, pattern in (COUNTED | LESS).items():
        counted = (found.counts | found.less)[name]
        assert counted.tolist() == pc.count_substring_regex(texts, pattern).to_pylist(), name
    ends = pc.utf8_slice_codeunits(texts, -60)
    for name, pattern in AT_END.items():
        assert found.ends[name].tolist() == pc.match_substring_regex(ends, pattern).to_pylist(), name
    assert found.counts["doubled inside words"].tolist() == list(map(doubled, made))


def doubled(text: str) -> int:
    """Parts of words that follow themselves, byte by byte, and letters that are all doubled."""
    data, count = text.encode(), 0
    letters = [byte >= 128 or bytes([byte]).isalpha() for byte in data]
    for period in range(3, 17):
        run = 0
        for at in range(len(data) - period):
            run = run + 1 if letters[at] and data[at] == data[at + period] else 0
            count += run == period
    at = pairs = 0
    while at < len(data):
        twice = 97 <= data[at] <= 122 and data[at : at + 1] == data[at + 1 : at + 2]
        pairs = pairs + 1 if twice else 0
        count += pairs == 3
        at += 1 + twice
    return count
