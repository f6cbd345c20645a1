"""A .7z archive as a stream of members, without unpacking it to disk or into memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import py7zr
from py7zr.exceptions import UnsupportedCompressionMethodError
from py7zr.io import Py7zIO, WriterFactory

from esdedup.columns.ahead import Ahead
from esdedup.errors import SourceError

_PIECE = 2**18
_INPUT = 2**14

_Item = str | bytes


class SevenZip:
    """The archive's files in their order; decompression runs in a thread, a few pieces ahead."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _ShortReads(path)
        self._ahead: Ahead[_Item] = Ahead(self._extract)

    @property
    def position(self) -> int:
        """The furthest byte of the archive read so far."""
        return self._file.furthest

    def members(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each file's name, and its bytes in pieces: to be read before the next file is asked for."""
        items = iter(self._ahead)
        name = next(items, None)
        while isinstance(name, str):
            following: list[str] = []
            yield name, _until_name(items, following)
            name = following[0] if following else None

    def close(self) -> None:
        """Stop the thread and close the archive."""
        self._ahead.close()
        self._file.close()

    def _extract(self, put: Callable[[_Item], None]) -> None:
        try:
            with py7zr.SevenZipFile(self._file) as archive:
                if archive.needs_password():
                    raise SourceError(f"{self._path}: the archive is encrypted; decrypt it first")
                self._file.short = True
                archive.extractall(factory=_Members(put))
        except UnsupportedCompressionMethodError as error:
            raise SourceError(f"{self._path}: uses a compression method that cannot be read; pack it again") from error
        except SourceError:
            raise
        except Exception as error:  # every method of compression has errors of its own
            cause = str(error) or type(error).__name__
            raise OSError(cause) from error


class _ShortReads(io.FileIO):
    """A file that hands out little at a time, because the archive reader expands all it gets at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.short = False
        self.furthest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        if self.short and size is not None and not 0 <= size <= _INPUT:
            size = _INPUT
        data = super().read(-1 if size is None else size) or b""
        if self.short:
            self.furthest = max(self.furthest, self.tell())
        return data


class _Members(WriterFactory):
    """Puts each file's name when the archive reader opens it for writing."""

    def __init__(self, put: Callable[[_Item], None]) -> None:
        self._put = put

    def create(self, filename: str) -> Py7zIO:
        self._put(filename)
        return _Member(self._put)


class _Member(Py7zIO):
    """Puts what the archive reader writes."""

    def __init__(self, put: Callable[[_Item], None]) -> None:
        self._put = put
        self._size = 0

    def write(self, s: bytes | bytearray) -> int:
        view = memoryview(s)
        for start in range(0, len(view), _PIECE):
            self._put(bytes(view[start : start + _PIECE]))
        self._size += len(s)
        return len(s)

    def read(self, size: int | None = None) -> bytes:
        del size
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        del whence
        return offset

    def flush(self) -> None:
        return

    def size(self) -> int:
        return self._size


def _until_name(items: Iterator[_Item], following: list[str]) -> Iterator[bytes]:
    for item in items:
        if isinstance(item, str):
            following.append(item)
            return
        yield item
