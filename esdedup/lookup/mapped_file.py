"""Files that are read where they lie: a page when it is needed, and no pages around it, which nobody asks for."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class MappedFile:
    """A file that is mapped to memory. Raises `OSError` if it cannot be read."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            empty = os.fstat(file.fileno()).st_size == 0  # which cannot be mapped
            self.data: mmap.mmap | bytes = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if isinstance(self.data, mmap.mmap) and sys.platform != "win32":
            self.data.madvise(mmap.MADV_RANDOM)

    def array(self, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return its numbers. Raises `ValueError` if it ends within one."""
        return np.frombuffer(self.data, kind)

    def forget(self) -> None:
        """Give back the memory of what was read."""
        if isinstance(self.data, mmap.mmap) and sys.platform != "win32":
            self.data.madvise(mmap.MADV_DONTNEED)

    def expect(self, spans: Iterable[tuple[int, int]]) -> None:
        """Begin to read what lies between these places, all at once: it will be needed."""
        if isinstance(self.data, mmap.mmap) and sys.platform != "win32":
            for begin, end in spans:
                if begin < end:
                    page = begin // mmap.PAGESIZE * mmap.PAGESIZE
                    self.data.madvise(mmap.MADV_WILLNEED, page, end - page)
