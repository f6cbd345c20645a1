"""Read a .7z archive as a stream of members, without decompressing it to disk or into memory."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from esdedup.columns.ahead import Ahead
from esdedup.errors import SourceError, needs_extra
from esdedup.formats.compression.opener import readable
from esdedup.formats.compression.protocol import PIECE, Compression, Members, Raw
from esdedup.formats.compression.streams import gathered

if TYPE_CHECKING:
    from py7zr.io import WriterFactory

_INPUT = 2**14
_PRESET = 6

_Item = str | bytes


class SevenZip(Compression):
    """The files of a .7z archive."""

    name = "7z"
    endings = (".7z",)
    magic = b"7z\xbc\xaf\x27\x1c"

    def members(self, raw: Raw, threads: int, closing: ExitStack) -> Members:
        """Yield the files in order. They are always decompressed in a thread, a few pieces ahead."""
        del threads
        if raw.path is None or not raw.file.seekable():
            where = "standard input" if raw.path is None else readable(raw.path)
            raise SourceError(f"{where}: a .7z archive cannot be read as a stream; save it and name the file")
        file = closing.enter_context(_ShortReads(raw.path, raw))
        ahead = Ahead[_Item](lambda put: _extract(file, put))
        closing.callback(ahead.close)
        items = iter(ahead)
        name = next(items, None)
        while isinstance(name, str):
            following: list[str] = []
            yield name, _until_name(items, following)
            name = following[0] if following else None

    def write(self, path: Path, members: Members, *, apart: bool = False) -> None:
        """Write an archive. The library needs each member as a file, so they are written beside it, one at a time."""
        with needs_extra("7z", "writing a .7z archive"):
            import py7zr
            from py7zr.helpers import ArchiveTimestamp

        filters = [{"id": py7zr.FILTER_LZMA2, "preset": _PRESET}]
        with py7zr.SevenZipFile(path, "w", filters=filters) as archive:
            for name, pieces in members:
                with tempfile.TemporaryFile(dir=path.parent) as member:
                    for piece in gathered(pieces):
                        member.write(piece)
                    member.seek(0)
                    archive.writef(member, name)
                # the format needs a time: a constant one, so that equal members make equal archives
                archive.header.files_info.files[-1]["lastwritetime"] = ArchiveTimestamp.from_datetime(0)


class _ShortReads(io.RawIOBase):
    """A file that returns little at a time, because the archive reader decompresses everything it gets at once."""

    def __init__(self, path: Path, raw: Raw) -> None:
        self.name = str(path)
        self.short = False
        self._raw, self._file = raw, path.open("rb")

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int | None = -1, /) -> bytes:
        if self.short and size is not None and not 0 <= size <= _INPUT:
            size = _INPUT
        data = self._file.read(-1 if size is None else size) or b""
        if self.short:
            self._raw.position = max(self._raw.position, self.tell())
        return data


def _extract(file: _ShortReads, put: Callable[[_Item], None]) -> None:
    """Pass on each file's name and content."""
    with needs_extra("7z", f"{file.name}: a .7z archive"):
        import py7zr
        from py7zr.exceptions import UnsupportedCompressionMethodError

    try:
        with py7zr.SevenZipFile(cast(BinaryIO, file)) as archive:
            if archive.needs_password():
                raise SourceError(f"{file.name}: the archive is encrypted; decrypt it first")
            file.short = True
            archive.extractall(factory=_passed_on(put))
    except UnsupportedCompressionMethodError as error:
        raise SourceError(f"{file.name}: unknown compression method; pack it with another") from error
    except SourceError:
        raise
    except Exception as error:  # each compression method raises its own errors
        raise OSError(str(error) or type(error).__name__) from error


def _passed_on(put: Callable[[_Item], None]) -> WriterFactory:
    """Return what passes on the name of each file that the archive reader writes, and what it writes."""
    from py7zr.io import Py7zIO, WriterFactory

    class Member(Py7zIO):
        written = 0

        def write(self, s: bytes | bytearray) -> int:
            view = memoryview(s)
            for start in range(0, len(view), PIECE):
                put(bytes(view[start : start + PIECE]))
            self.written += len(s)
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
            return self.written

    class Members(WriterFactory):
        def create(self, filename: str) -> Py7zIO:
            put(filename)
            return Member()

    return Members()


def _until_name(items: Iterator[_Item], following: list[str]) -> Iterator[bytes]:
    for item in items:
        if isinstance(item, str):
            following.append(item)
            return
        yield item
