"""Files of word vectors, as word2vec writes them."""

from __future__ import annotations

import struct

import numpy as np


def as_text(vectors: dict[str, list[float]], header: str | None = None, end: str = "\n") -> bytes:
    length = len(next(iter(vectors.values())))
    rows = [f"{word} {' '.join(f'{np.float32(number):.9g}' for number in row)}" for word, row in vectors.items()]
    return end.join([header or f"{len(vectors)} {length}", *rows, ""]).encode()


def as_binary(vectors: dict[str, list[float]], header: str | None = None, end: bytes = b"\n") -> bytes:
    length = len(next(iter(vectors.values())))
    rows = [word.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + end for word, row in vectors.items()]
    return (header or f"{len(vectors)} {length}").encode() + b"\n" + b"".join(rows)
