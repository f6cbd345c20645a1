"""Texts in other encodings than UTF-8: read as UTF-8, and written back as they were."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from esdedup.errors import SettingsError
from esdedup.formats.protocol import Format
from esdedup.options import option

_UTF8 = "utf-8"
_MARKED = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_KEPT = "surrogateescape"
"""Invalid bytes stay what they are, so the reader counts them, and a rewritten source has them again."""


@dataclass(frozen=True)
class EncodedText(Format):
    """A format of text."""

    encoding: str = option(
        _UTF8, "Encoding of the source, such as cp1252, latin-1, utf-16 or shift_jis.", unit="NAME",
        pattern=r"[A-Za-z0-9_.:-]+", expected="give the name of an encoding, such as cp1252 or utf-16",
    )  # fmt: skip

    def check_together(self) -> None:
        """Check that the encoding exists, and is one of text."""
        try:
            known = codecs.lookup(self.encoding)
            "".encode(known.name)
        except LookupError:
            raise SettingsError(
                f"encoding is {self.encoding!r}; give the name of an encoding, such as cp1252 or utf-16"
            ) from None

    def as_utf8(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield pieces of a source as UTF-8. Bytes that are invalid in the encoding are invalid there too."""
        name = codecs.lookup(self.encoding).name
        if name == _UTF8:
            return pieces
        return _converted(pieces, name, _UTF8)

    def rewritten(
        self, pieces: Iterator[bytes], rewrite: Callable[[Iterator[bytes]], Iterator[bytes]]
    ) -> Iterator[bytes]:
        """Return the pieces of a source as `rewrite` changes them: it gets UTF-8 and returns UTF-8."""
        name = codecs.lookup(self.encoding).name
        if name == _UTF8:
            return rewrite(pieces)
        first = next(pieces, b"")
        return _converted(rewrite(self.as_utf8(chain([first], pieces))), _UTF8, _marked(name, first))


def _marked(name: str, first: bytes) -> str:
    """Return the encoding with its byte order, if a mark at the beginning says it."""
    return _MARKED.get(first[:2], "utf-16-le") if name == "utf-16" else name


def _converted(pieces: Iterator[bytes], source: str, target: str) -> Iterator[bytes]:
    first = next(pieces, b"")
    decode = codecs.getincrementaldecoder(_marked(source, first))(_KEPT)
    encode = codecs.getincrementalencoder(target)(_KEPT)
    yield encode.encode(decode.decode(first))
    for piece in pieces:
        yield encode.encode(decode.decode(piece))
    yield encode.encode(decode.decode(b"", final=True), final=True)
