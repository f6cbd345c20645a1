"""Word vectors, signatures and windows, each against plain numpy; and files of word vectors, good and bad."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xxhash

from esdedup.columns.hashing import random_words
from esdedup.errors import VectorsError
from esdedup.papers.projection.hyperplanes import (
    add_hashed,
    add_rows,
    cosines,
    hashed_key,
    hyperplanes,
    near_in_order,
    permutation,
    permute,
    sign,
)
from esdedup.papers.projection.word_vectors import VectorsFile
from tests.support.vectors import as_binary, as_text

RANDOM = np.random.default_rng(1)


def bits_of(signatures: np.ndarray, bits: int) -> np.ndarray:
    """Signatures as a matrix of 0 and 1."""
    spread = [[(int(row[at >> 6]) >> (63 - (at & 63))) & 1 for at in range(bits)] for row in signatures]
    return np.array(spread, np.int64).reshape(len(signatures), bits)


def some_signatures(count: int, bits: int) -> np.ndarray:
    """Many of which are near to others."""
    return sign(np.repeat(RANDOM.normal(size=(count // 4, 30)), 4, axis=0) + 0.2 * RANDOM.normal(size=(count, 30)),
                hyperplanes(3, 30, bits))[0]  # fmt: skip


@pytest.mark.parametrize("length", [1, 64, 70, 400])
def test_drawn_vectors_are_signs_that_are_added_with_weights(length: int) -> None:
    words = RANDOM.integers(0, 2**63, 40).astype(np.uint64)
    weights = RANDOM.random(40)
    offsets = np.array([0, 3, 3, 20, 40])
    sums = np.zeros((4, length))
    add_hashed(words, weights, offsets, hashed_key(7), sums)
    alone = np.zeros((40, length))
    add_hashed(words, np.ones(40), np.arange(41), hashed_key(7), alone)
    assert set(np.unique(alone)) <= {-1.0, 1.0}
    expected = [(alone * weights[:, None])[begin:end].sum(axis=0) for begin, end in pairwise(offsets)]
    assert np.allclose(sums, expected)
    again = np.zeros((1, length))
    add_hashed(words, weights, offsets[2:4], hashed_key(7), again)
    assert again.tolist() == sums[2:3].tolist()
    if length == 400:
        assert abs(alone.mean()) < 0.05
        assert np.abs(np.corrcoef(alone) - np.eye(40)).max() < 0.3
        other = np.zeros((40, length))
        add_hashed(words, np.ones(40), np.arange(41), hashed_key(8), other)
        assert abs((alone * other).mean()) < 0.05


def test_rows_may_be_added_in_parts() -> None:
    rows = RANDOM.normal(size=(9, 5)).astype(np.float32)
    texts = [[0, 0, 4], [], [-1, 2, -1, 8], [5]]
    codes = np.array([code for text in texts for code in text])
    offsets = np.cumsum([0, *(len(text) for text in texts)])
    expected = [sum((rows[code].astype(float) for code in text if code >= 0), np.zeros(5)) for text in texts]
    for size in (1, 2, 9):
        sums, reached = np.zeros((4, 5)), offsets[:-1].copy()
        for first in range(0, 9, size):
            add_rows(rows[first : first + size], first, codes, offsets, reached, sums)
        assert np.array_equal(sums, expected)


def test_cosines_are_those_of_numpy() -> None:
    sums = RANDOM.normal(size=(20, 33))
    a, b = RANDOM.integers(0, 20, 50), RANDOM.integers(0, 20, 50)
    norms = np.linalg.norm(sums, axis=1)
    assert np.allclose(cosines(sums, a, b), (sums[a] * sums[b]).sum(axis=1) / norms[a] / norms[b])


@pytest.mark.parametrize("bits", [1, 64, 100, 128])
def test_bits_are_the_sides_of_hyperplanes(bits: int) -> None:
    sums = RANDOM.normal(size=(300, 50))
    planes = hyperplanes(5, 50, bits)
    signatures, directed = sign(sums.copy(), planes)
    assert directed.all()
    expected = (sums @ planes >= 0).astype(int)
    assert (bits_of(signatures, bits) != expected).mean() < 1e-3  # rounding may turn a bit on the very edge
    assert all(np.array_equal(sign(sums[at : at + 1].copy(), planes)[0], signatures[at : at + 1]) for at in range(300))
    signatures, directed = sign(np.array([[0.0, 0.0], [0.0, -1e-300], [1e300, 0.0]]), hyperplanes(5, 2, bits))
    assert directed.tolist() == [False, True, True]


def test_hyperplanes_are_gaussian_and_bits_measure_angles() -> None:
    planes = hyperplanes(11, 400, 128) / 4096
    assert abs(planes.mean()) < 0.02
    assert abs(planes.std() - 1) < 0.02
    assert abs((np.abs(planes) < 1).mean() - 0.6827) < 0.01
    assert np.array_equal(hyperplanes(11, 400, 128), planes * 4096)
    assert not np.array_equal(hyperplanes(12, 400, 128), planes * 4096)
    one = RANDOM.normal(size=(200, 400))
    two = one + RANDOM.normal(size=(200, 400)) * 0.5
    apart = (bits_of(sign(one.copy(), hyperplanes(11, 400, 128))[0], 128)
             != bits_of(sign(two.copy(), hyperplanes(11, 400, 128))[0], 128)).mean(axis=1)  # fmt: skip
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    angles = np.arccos((one * two).sum(axis=1) / norms) / math.pi
    assert abs(apart.mean() - angles.mean()) < 0.01


@pytest.mark.parametrize("bits", [3, 64, 65, 128])
def test_permutations_move_bits(bits: int) -> None:
    signatures = some_signatures(40, bits)
    orders = [permutation(1, which, bits) for which in range(4)]
    assert all(sorted(order.tolist()) == list(range(bits)) for order in orders)
    assert len({tuple(order.tolist()) for order in orders}) > 1
    for order in orders:
        assert np.array_equal(bits_of(permute(signatures, order), bits), bits_of(signatures, bits)[:, order])


@pytest.mark.parametrize(("window", "most", "cut"), [(1, 5, 0), (10, 5, 0), (10, 5, 7), (200, 3, 3), (3, 64, 9)])
def test_windows_are_the_rows_before(window: int, most: int, cut: int) -> None:
    signatures = some_signatures(80, 64)
    numbers = RANDOM.permutation(80)
    spread = bits_of(signatures, 64)
    expected = [
        tuple(sorted((int(numbers[row]), int(numbers[other]))))
        for row in range(cut, 80)
        for other in range(max(0, row - window), row)
        if (spread[row] != spread[other]).sum() <= most
    ]
    assert list(map(tuple, near_in_order(signatures, numbers, cut, window, most).tolist())) == expected
    assert expected


# -- files of word vectors --------------------------------------------------------------------------------------------

VECTORS = {"Obama": [1.5, -2.25e-3, 3e8], "naïve": [0.1, -0.0, 7.0], "x": [1 / 3, 123456.789, -1e-12]}


def read(path: Path, data: bytes) -> dict[int, list[float]]:
    path.write_bytes(data)
    file = VectorsFile(str(path))
    found = {}
    for words, places in file.entries():
        found |= dict(zip(words.tolist(), file.rows(places).tolist(), strict=True))
    return found


@pytest.mark.parametrize(
    "data",
    [
        as_text(VECTORS),
        as_text(VECTORS, end=" \n"),
        as_text(VECTORS, end="\r\n"),
        as_text(VECTORS).rstrip(),
        as_binary(VECTORS),
        as_binary(VECTORS, end=b""),
    ],
)
def test_text_and_binary_files_hold_the_same(tmp_path: Path, data: bytes) -> None:
    expected = {xxhash.xxh64_intdigest(word.encode()): np.float32(row).tolist() for word, row in VECTORS.items()}
    assert read(tmp_path / "v", data) == expected


def test_many_vectors_are_read_exactly(tmp_path: Path) -> None:
    bits = random_words(np.uint64(4), 3000).astype(np.uint32).view(np.float32)
    numbers = bits[np.isfinite(bits) & (np.abs(bits) > 1e-30)][:2400].reshape(-1, 8)
    vectors = {f"w{at}": row.tolist() for at, row in enumerate(numbers)}
    binary = read(tmp_path / "b", as_binary(vectors))
    assert list(binary.values()) == numbers.tolist()
    assert read(tmp_path / "t", as_text(vectors)) == binary


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not in word2vec's format"),
    "something else": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not in word2vec's format"),
    "no header": (as_text(VECTORS).partition(b"\n")[2], "add such a first line"),
    "too long vectors": (as_text(VECTORS, "3 5000"), "up to 4096"),
    "too few words": (as_text(VECTORS, "9 3"), "ends within word 4 of the 9 words"),
    "too few words, binary": (as_binary(VECTORS, "9 3"), "ends within word 4 of the 9 words"),
    "too many words": (as_text(VECTORS, "2 3"), "there is data after the 2 words"),
    "too many words, binary": (as_binary(VECTORS, "2 3"), "there is data after the 2 words"),
    "truncated": (as_text(VECTORS)[:-20], "ends within word 3 of the 3 words"),
    "truncated, binary": (as_binary(VECTORS)[:-8], "ends within word 3 of the 3 words"),
    "other length": (as_text(VECTORS, "3 4"), "line 2 does not contain a word and 4 numbers"),
    "other length, binary": (as_binary(VECTORS | {"y" * 40: [0.5, 1, 3]}, "3 4"), "damaged|ends within|more"),
    "mixed lengths": (as_text(VECTORS | {"y": [1.0]}), "line 5 does not contain a word and 3 numbers"),
    "no number": (as_text(VECTORS).replace(b"123456.789", b"123e56.7e9"), "no 3 finite numbers at byte"),
    "word in the row": (as_text(VECTORS).replace(b"123456.789", b"12E+x"), "line 4 does not contain"),
    "infinite": (as_binary(VECTORS | {"y": [math.inf, 0, 0]}), "no 3 finite numbers at byte"),
    "only a header": (b"4 3\n", "ends within word 1 of the 4 words"),
    "words without numbers": (b"2 3\nhello\nworld\n", "line 2 does not contain"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    data, message = BAD[case]
    with pytest.raises(VectorsError, match=message) as refused:
        read(tmp_path / "v", data)
    assert str(refused.value).startswith(f"--vectors {tmp_path / 'v'}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("make", [lambda folder: folder / "missing", lambda folder: folder])
def test_missing_files_are_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(VectorsError, match=r"No such file|Is a directory"):
        VectorsFile(str(make(tmp_path)))
