"""Small helpers for the tests of written sources."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import py7zr
import zstandard
from py7zr.io import BytesIOFactory

from esdedup.columns.records import Skips
from esdedup.formats.decisions import Verdict
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.rewrite import Rewritten, output_names, rewrite_source
from esdedup.text.splitting import Splitting
from tests.support.sources import PACK, pack_7z, rows_of

ENDINGS = [*PACK, ".7z"]
CLUSTER = "00000000000000ab"
Drops = Mapping[int, Sequence[int]]
"""Positions to drop by place."""


def marks(drops: Drops, keeps: Drops | None = None) -> list[tuple[int, list[Verdict]]]:
    places: dict[int, list[Verdict]] = {}
    for keep, positions in ((False, drops), (True, keeps or {})):
        for place, found in positions.items():
            places.setdefault(place, []).extend(Verdict(position, CLUSTER, keep) for position in found)
    return [(place, sorted(places[place])) for place in sorted(places)]


@dataclass
class Written(Rewritten):
    """What was written, and where."""

    path: Path


def rewrite(
    path: Path | str,
    folder: Path,
    drops: Drops | None = None,
    keeps: Drops | None = None,
    *,
    unit: str = "record",
    annotate: bool = False,
    keep_going: bool = False,
    threads: int = 1,
    **options: Any,
) -> Written:
    reading = Reading.of(**options)
    (source,) = discover([str(path)], reading)
    stream = iter(marks(drops or {}, keeps))
    place = folder / output_names([source])[0]
    done = rewrite_source(
        source,
        Splitting(unit, "en"),
        stream,
        place,
        annotate=annotate,
        limit=reading.limit,
        keep_going=keep_going,
        threads=threads,
    )
    return Written(**asdict(done), path=place)


def packed(path: Path, data: bytes) -> Path:
    """Write `data` to `path`, compressed as its name says."""
    if path.suffix == ".7z":
        return pack_7z(path, {path.stem: data})
    path.write_bytes(PACK[path.suffix if path.suffix in PACK else ""](data))
    return path


def unpacked(path: Path) -> bytes:
    match path.suffix:
        case ".gz":
            return gzip.decompress(path.read_bytes())
        case ".bz2":
            return bz2.decompress(path.read_bytes())
        case ".xz":
            return lzma.decompress(path.read_bytes(), lzma.FORMAT_XZ)
        case ".lzma":
            return lzma.decompress(path.read_bytes(), lzma.FORMAT_ALONE)
        case ".zst":
            return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read()
        case ".7z":
            (data,) = members(path).values()
            return data
    return path.read_bytes()


def members(path: Path) -> dict[str, bytes]:
    factory: Any = BytesIOFactory(2**24)
    with py7zr.SevenZipFile(path) as archive:
        names = archive.getnames()
        archive.extractall(factory=factory)
    found: dict[str, bytes] = {}
    for name in names:
        file = factory.get(name)
        file.seek(0)
        found[name] = file.read()
    return found


def texts(path: Path, **options: Any) -> list[str]:
    """The texts of the documents that stand in a file."""
    reading = Reading.of(**options)
    (source,) = discover([str(path)], reading)
    return [row["text"] for row in rows_of(source, reading, Skips())]
