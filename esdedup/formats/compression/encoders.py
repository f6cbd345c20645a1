"""Plain bytes into compressed files, as every compression that can be read has it; equal bytes make equal files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

import py7zr
import zstandard
from py7zr.helpers import ArchiveTimestamp

_GATHERED = 2**18
_GZIP_LEVEL = 6
_SEVEN_ZIP = [{"id": py7zr.FILTER_LZMA2, "preset": 6}]

Members = Iterator[tuple[str | None, Iterator[bytes]]]
"""Names (`None` unless inside an archive) and bytes in pieces: one member, or those of a .7z archive."""


def write_members(path: Path, compression: str, members: Members) -> None:
    """Write `path` anew; `compression` is plain, gzip, bzip2, xz, lzma (the legacy form), zstd or 7z."""
    if compression == "7z":
        _write_archive(path, members)
        return
    with ExitStack() as stack:
        file = stack.enter_context(path.open("wb"))
        encoder = stack.enter_context(_encoder(file, compression))
        for _, pieces in members:
            for piece in _gathered(pieces):
                encoder.write(piece)


def _encoder(file: BinaryIO, compression: str) -> BinaryIO:
    encoder: object = file
    match compression:
        case "gzip":
            encoder = gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0)
        case "bzip2":
            encoder = bz2.BZ2File(file, "wb")
        case "xz":
            encoder = lzma.LZMAFile(file, "wb", format=lzma.FORMAT_XZ)  # noqa: SIM115
        case "lzma":
            encoder = lzma.LZMAFile(file, "wb", format=lzma.FORMAT_ALONE)  # noqa: SIM115
        case "zstd":
            encoder = zstandard.ZstdCompressor(write_checksum=True).stream_writer(file)
    return cast(BinaryIO, encoder)


def _write_archive(path: Path, members: Members) -> None:
    """A .7z archive. The library wants each member as a file, so one after another lies on disk beside it."""
    with py7zr.SevenZipFile(path, "w", filters=_SEVEN_ZIP) as archive:
        for name, pieces in members:
            with tempfile.TemporaryFile(dir=path.parent) as member:
                for piece in _gathered(pieces):
                    member.write(piece)
                member.seek(0)
                archive.writef(member, name)
            # the format wants a time: the beginning of all, so that equal members make equal archives
            archive.header.files_info.files[-1]["lastwritetime"] = ArchiveTimestamp.from_datetime(0)


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that are worth a call."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _GATHERED:
            yield b"".join(held)
            held.clear()
            size = 0
    yield b"".join(held)
