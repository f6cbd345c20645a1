"""A MediaWiki export as a stream of finished elements, in memory that does not grow with the file."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from lxml import etree

from esdedup.errors import SourceError
from esdedup.formats.protocol import Walk
from esdedup.formats.text_limit import ENDLESS

# The elements that the parser reports: everything large or frequent, so that it can be dropped when done.
_TAGS = ("revision", "page", "siteinfo", "upload", "logitem")
_MAX_PROLOG = 2**20
_PRUNE_AFTER = 2**22
_TAG = 32  # bytes, more than the beginning of an end tag in any encoding
_DEEPEST = 8

_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_BYTE_ORDER_MARK = re.compile("\ufeff|\xef\xbb\xbf")  # the second is UTF-8 read as Latin-1
_NAME = re.compile(r"<([^\s/>!?]+)[\s/>]")
_FATAL = int(etree.ErrorLevels.FATAL)

_log = logging.getLogger("esdedup")


def local_name(element: etree._Element) -> str:
    """Return the tag without its XML namespace."""
    return _without_namespace(str(element.tag))


@lru_cache(maxsize=1024)
def _without_namespace(tag: str) -> str:
    # a dump has about twenty different tags, a hundred million times
    return tag[tag.rfind("}") + 1 :]


def drop_content(element: etree._Element) -> None:
    """Empty a finished element. Its tail stays: the parser may be writing it."""
    element.clear(keep_tail=True)  # type: ignore[call-arg]


def elements(pieces: Iterator[bytes], walk: Walk) -> Iterator[etree._Element]:
    """Yield each finished revision, page, siteinfo, upload and log item, children before parents.

    The caller drops what it no longer needs: the element's content, and its siblings before it. If the text of a
    revision is too large, `walk.cut` is set, and most of it is left out. Damage raises `SourceError` after the elements
    before it.
    """
    label = walk.label
    prolog = _Prolog(label)
    for piece in pieces:
        prolog.add(piece)
        if prolog.complete:
            break
    if prolog.empty:
        return
    if prolog.fragment:
        _log.warning("%s: has no root element; its pages are read anyway", label)
    yield from _Feed(walk, prolog).elements(pieces)


class _Prolog:
    """The bytes up to the first element. It rejects a DOCTYPE and checks whether there is a root."""

    def __init__(self, label: str) -> None:
        self._label = label
        self.data = b""
        self.root: str | None = None
        self.complete = False
        self.empty = True

    def add(self, piece: bytes) -> None:
        """Look at one more piece of the file."""
        self.data += piece
        encoding = self._encoding()
        text = self.data[: 2 * _MAX_PROLOG].decode(encoding, "replace")
        mark = _BYTE_ORDER_MARK.match(text)
        at = mark.end() if mark else 0
        while match := _SKIPPED.match(text, at):
            at = match.end()
        self.empty = at == len(text)
        if text.startswith("<!DOCTYPE", at):
            raise SourceError(
                f"{self._label}: has a DOCTYPE, which MediaWiki exports do not have; it is refused because "
                "it may define entities; remove it from the file"
            )
        if found := _NAME.match(text, at):
            self.root = found[1].rpartition(":")[2]
            self.complete = True
            if self.fragment:
                # add a root if there is none, after anything that may only be at the beginning
                before = len(text[:at].encode(encoding))
                self.data = self.data[:before] + "<mediawiki>".encode(encoding) + self.data[before:]
        elif len(text) - at > 8 and not text.startswith("<", at):
            self.complete = True  # not XML: the parser reports that
        elif len(self.data) > _MAX_PROLOG:
            raise SourceError(
                f"{self._label}: no element in its first {len(self.data)} bytes; is it a MediaWiki export?"
            )

    @property
    def fragment(self) -> bool:
        """Whether there are pages without a root."""
        return self.root in ("page", "siteinfo")

    def end_of_text(self) -> bytes:
        """How the end tag of a text begins."""
        return "</text".encode(self._encoding())

    def closing(self) -> bytes:
        """The end tag of the root that was added."""
        return "</mediawiki>".encode(self._encoding())

    def _encoding(self) -> str:
        if self.data.startswith((codecs.BOM_UTF16_LE, b"<\0")):
            return "utf-16-le"
        if self.data.startswith((codecs.BOM_UTF16_BE, b"\0<")):
            return "utf-16-be"
        return "latin-1"


class _Feed:
    """The push parser, which gets the file piece by piece."""

    def __init__(self, walk: Walk, prolog: _Prolog) -> None:
        self._walk = walk
        self._label = walk.label
        self._prolog = prolog
        self._left_out = -1  # bytes of the text that is too large; -1 outside one
        self._seen = b""  # the last bytes that were read of it
        tags = {*_TAGS, "mediawiki"}
        if prolog.root and re.fullmatch(r"[\w.-]+", prolog.root):  # otherwise the parser reports what is wrong with it
            tags.add(prolog.root)
        self._parser = etree.XMLPullParser(
            events=("start", "end"),
            tag=[f"{{*}}{name}" for name in sorted(tags)],
            huge_tree=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        self._root: etree._Element | None = None
        self._root_ended = False
        self._pages = 0

    def elements(self, pieces: Iterator[bytes]) -> Iterator[etree._Element]:
        unseen = 0
        piece = self._prolog.data
        self._prolog.data = self._prolog.data[:4]  # enough to know the encoding
        while piece:
            if self._left_out >= 0 and not (piece := self._after_text(piece)):
                piece = next(pieces, b"")
                continue
            error = self._feed(piece)
            unseen += len(piece)
            for element in self._finished():
                unseen = 0
                yield element
            if error:
                raise error
            if unseen > self._walk.max_text and self._in_page():
                self._walk.cut = True
                self._left_out = unseen = 0
                self._seen = piece[-_TAG:]
            elif unseen > _PRUNE_AFTER and not self._in_page():
                self._prune()
                unseen = 0
            piece = next(pieces, b"")
        if self._prolog.fragment and not self._root_ended:
            error = self._feed(self._prolog.closing())
            yield from self._finished()
            if error:
                raise error
        try:
            self._parser.close()
        except etree.XMLSyntaxError as broken:
            raise self._damaged(broken) from broken
        if not self._pages:
            _log.warning("%s: has no <page>; is it a MediaWiki export of pages?", self._label)

    def _after_text(self, piece: bytes) -> bytes:
        """Return what follows the text that is too large in a piece: its end tag, or nothing yet."""
        data, mark = self._seen + piece, self._prolog.end_of_text()
        at = data.find(mark)
        if at < 0:
            self._left_out += len(piece)
            self._seen = data[-_TAG:]
            if self._left_out > ENDLESS * self._walk.max_text:
                raise SourceError(
                    f"{self._label}: a text has more than {self._left_out:,} bytes, and no end; everything before it "
                    "was read; download the file again, or repair it there"
                )
            return b""
        self._left_out = -1
        return data[max(at, len(self._seen)) :]

    def _feed(self, piece: bytes) -> SourceError | None:
        try:
            self._parser.feed(piece)
        except etree.XMLSyntaxError as broken:
            return self._damaged(broken)
        # an undefined entity stops the parser without an exception
        log = self._parser.feed_error_log
        if len(log) and any(int(entry.level) >= _FATAL for entry in log):
            return self._damaged(None)
        return None

    def _finished(self) -> Iterator[etree._Element]:
        for event, found in self._parser.read_events():
            element = cast(etree._Element, found)
            if self._root is None:
                self._root = element
                if element.getroottree().docinfo.internalDTD is not None:
                    raise SourceError(f"{self._label}: has a DOCTYPE, which is refused; remove it first")
            if event == "start":
                continue
            if element.getparent() is None:
                self._root_ended = True
            name = local_name(element)
            if name == "page":
                self._pages += 1
            if name in _TAGS:
                yield element

    def _in_page(self) -> bool:
        """Whether the element that is being read is a page, or in one."""
        node = self._root
        for _ in range(_DEEPEST):
            if node is None or local_name(node) == "page":
                return node is not None
            node = node[-1] if len(node) else None
        return False

    def _prune(self) -> None:
        """Drop finished elements outside pages that are not needed. The last child may be unfinished."""
        node = self._root
        for _ in range(_DEEPEST):
            if node is None or not len(node) or local_name(node) == "page":
                return
            last = node[-1]
            for child in node.iterchildren():
                if child is not last:
                    child.clear()  # lxml removes full ones in quadratic time
            del node[:-1]
            node = last

    def _damaged(self, broken: etree.XMLSyntaxError | None) -> SourceError:
        fatal = [entry for entry in self._parser.feed_error_log if int(entry.level) >= _FATAL]
        if fatal:
            line, column, cause = fatal[0].line, fatal[0].column, fatal[0].message
        elif broken is not None:
            line, column = broken.position
            cause = re.sub(r", line \d+, column \d+( \(.*)?$", "", str(broken.msg))
        else:
            line, column, cause = 0, 0, "unknown"
        return SourceError(
            f"{self._label}: damaged XML at line {line}, column {column}: {' '.join(cause.split())}; "
            "everything before it was read; download the file again, or repair it there"
        )
