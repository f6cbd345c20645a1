"""Snapshots of Wikimedia: a tar archive of JSON Lines, an article a line, with its HTML and its wikitext."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esdedup.errors import SourceError
from esdedup.formats.jsonl import JsonLines
from esdedup.formats.protocol import Walk, as_json_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from esdedup.formats.compression.opener import Member
    from esdedup.formats.decisions import Decisions, Wanted
    from esdedup.formats.line_format import LineBlocks

_PIECE = 2**18
_LONGEST_NAME = 2**16
_OF_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE)
_END, _DAMAGED = tarfile.EOFHeaderError, tarfile.HeaderError  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Snapshot(JsonLines):
    """An article is a document, by default its HTML. Columns are those of JSON lines. Output is cleaned JSON Lines."""

    name = "snapshot"
    summary = "snapshots of Wikimedia in HTML"
    family = "wiki dumps"
    endings = (".json.tar", ".ndjson.tar")
    stdin_name = "stdin.jsonl"
    unit = "sentence"
    rewrites_all = False

    @property
    def cleaner(self) -> str:
        """HTML, unless another markup is named."""
        return self.markup or "html"

    @property
    def drops_sentences(self) -> bool:
        """The texts that are written have no markup."""
        return True

    def read(self, member: Member, walk: Walk) -> Iterator[pa.RecordBatch]:
        """See `Format`; raw records are lines."""
        return super().read(_inside(member, walk), walk)

    def rewrite(self, member: Member, walk: Walk, decisions: Decisions, annotate: bool) -> Iterator[bytes]:
        """See `Format`: cleaned articles as JSON Lines."""
        from esdedup.formats.mediawiki.cleaned import cleaned_pages

        return cleaned_pages(self.read(member, walk), self.cleaner, walk, decisions, annotate)

    def values(
        self, member: Member, walk: Walk, columns: Sequence[str] | None, wanted: Wanted
    ) -> Iterator[tuple[int, list[Any]]]:
        """See `Format`."""
        return super().values(_inside(member, walk), walk, columns, wanted)

    def documents(self, blocks: LineBlocks, walk: Walk) -> Iterator[pa.RecordBatch]:
        """Read each article, by the columns that articles have."""
        body = f"article_body.{self.cleaner}"
        usual = {"id_column": "identifier", "title_column": "name", "text_column": body}
        given = {name: getattr(self, name) or column for name, column in usual.items()}
        yield from JsonLines(**given).documents(blocks, walk)

    def output_name(self, name: str) -> str:
        """Return a name for JSON Lines."""
        return as_json_lines(name)

    @classmethod
    def stem(cls, name: str) -> str | None:
        """Return the name without both endings."""
        return next((name[: -len(each)] for each in cls.endings if name.lower().endswith(each)), None)


def _inside(member: Member, walk: Walk) -> Member:
    return member._replace(pieces=_lines(member.pieces, walk.label), path=None)


def _lines(pieces: Iterator[bytes], label: str) -> Iterator[bytes]:
    """Yield the bytes of all files in an archive, one after another."""
    try:
        file = io.BufferedReader(_Pieces(pieces), _PIECE)
        with tarfile.open(fileobj=file, mode="r|", tarinfo=_Header) as archive:
            for each in archive:
                member, last = archive.extractfile(each) if each.isfile() else None, b""
                while member is not None and (piece := member.read(_PIECE)):
                    yield piece
                    last = piece[-1:]
                if last not in (b"", b"\n"):
                    yield b"\n"
    except (tarfile.TarError, EOFError, _DamagedHeaderError) as error:
        raise SourceError(f"{label}: damaged tar archive: {error}; everything before it was read") from error


class _DamagedHeaderError(Exception):
    """What `tarfile` takes for the end of an archive, except in its first header."""


class _Header(tarfile.TarInfo):
    """Headers of which none may be damaged or missing, and none may be larger than a name is."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> _Header:
        try:
            return super().fromtarfile(tarfile)
        except _END:
            raise
        except _DAMAGED as error:
            raise _DamagedHeaderError(str(error)) from error

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _OF_NAMES and found.size > _LONGEST_NAME:
            raise _DamagedHeaderError("a name that is too long")
        return found


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._held = self._held or next(self._pieces, b"")
        size = min(len(buffer), len(self._held))
        buffer[:size], self._held = self._held[:size], self._held[size:]
        return size
