"""Small files that unpack to very much: one line, one text or one page without an end.

python -m tests.support.bombs FILE.zst [GIGABYTES]
"""

from __future__ import annotations

import sys
from pathlib import Path

import zstandard

_PART = 2**26


def bomb(path: Path, size: int, *, head: bytes = b"", letter: bytes = b"a") -> Path:
    """Write a .zst file of about `size` bytes when unpacked: `head`, and then one letter. It is made at once."""
    pack = zstandard.ZstdCompressor(level=3).compress
    with path.open("wb") as file:
        file.write(pack(head) if head else b"")
        part = pack(letter * _PART)
        for _ in range(size // _PART):
            file.write(part)
    return path


if __name__ == "__main__":
    bomb(Path(sys.argv[1]), int(sys.argv[2] if len(sys.argv) > 2 else 10) * 10**9)
