"""MediaWiki XML exports, schemas 0.3 to 0.11: pages become rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from lxml import etree

from esdedup.formats.batches import Row, collect
from esdedup.formats.mediawiki.namespaces import Titles, is_redirect
from esdedup.formats.mediawiki.xmlfeed import drop_content, elements, local_name
from esdedup.formats.protocol import Walk

_WIKITEXT = "wikitext"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_HEAD = 512  # bytes


def read_pages(
    pieces: Iterator[bytes], walk: Walk, *, namespaces: Iterable[int], every_revision: bool, contributors: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the pages of one export that are in `namespaces`.

    What `walk` says of the wiki is filled from the site information before the first batch.

    A row is a page's newest revision (the later in the file if two have the same time). With `every_revision`, there is
    a row for each revision, in file order. `contributors` adds who wrote it. A page is one document and one raw record.
    """
    return collect(_Pages(walk, frozenset(namespaces), every_revision, contributors).rows(pieces))


class _Pages:
    """Makes rows from the elements of an export."""

    def __init__(self, walk: Walk, namespaces: frozenset[int], every_revision: bool, contributors: bool) -> None:
        self._namespaces = namespaces
        self._all = every_revision
        self._contributors = contributors
        self._walk = walk
        self._before = walk.records
        self._titles = Titles(walk.namespaces)

    def rows(self, pieces: Iterator[bytes]) -> Iterator[Row]:
        """Yield one row for each page, or for each revision."""
        walk = self._walk
        if walk.limit == 0:
            return
        page = _Page()
        for element in elements(pieces, walk):
            if not walk.language:
                walk.language = element.getroottree().getroot().get(_LANG, "")
            name = local_name(element)
            if name == "revision":
                if not page.known:
                    self._begin(page, element.itersiblings(preceding=True))
                if page.skipped is None and (row := self._revision(page, element)):
                    page.rows += 1
                    yield row
                _drop_before(element, page.best)
                if element is not page.best:
                    drop_content(element)
            elif name == "page":
                walk.cut = False
                if not page.known:
                    self._begin(page, element.iterchildren())
                if row := self._end(page):
                    page.rows += 1
                    yield row
                walk.records += 1
                if walk.limit is not None:
                    walk.limit -= page.rows > 0
                page = _Page()
                drop_content(element)
                _drop_before(element, None)
                if walk.limit == 0:
                    return
            elif name == "siteinfo":
                self._read_siteinfo(element)
            else:
                drop_content(element)
                _drop_before(element, None, only=name)

    def _read_siteinfo(self, element: etree._Element) -> None:
        for namespace in element.iter("{*}namespace"):
            key = _integer(namespace.get("key") or "")
            if key is not None:
                self._walk.namespaces[key] = namespace.text or ""
        self._walk.wiki = (element.findtext("{*}dbname") or "").strip()
        self._walk.base = (element.findtext("{*}base") or "").strip()
        self._titles = Titles(self._walk.namespaces)

    def _begin(self, page: _Page, children: Iterator[etree._Element]) -> None:
        """Read a page's metadata, and decide whether the page is in one of the namespaces."""
        found = {local_name(child): child for child in children}
        page.known = True
        page.title, page.id = _text(found, "title"), _text(found, "id").strip()
        namespace = _integer(_text(found, "ns"))
        if namespace is None:
            namespace = self._titles.namespace(page.title)
        if "redirect" in found and not self._all:
            page.skipped = "redirect"
        elif namespace not in self._namespaces:
            page.skipped = "namespace"
        elif not page.id:
            page.skipped = "no_id"

    def _revision(self, page: _Page, element: etree._Element) -> Row | None:
        """Return a row at once for `every_revision`. Otherwise keep the element if it is the newest revision so far."""
        page.revisions += 1
        cut, self._walk.cut = self._walk.cut, False
        if cut and not self._all:
            page.skipped = page.skipped or "too_long_text"  # its newest text may be this one
            return None
        if cut:
            self._walk.skips.add("too_long_text", page.title)
            return None
        if self._all:
            return self._row(page, element)
        stamps = (child.text or "" for child in element if local_name(child) == "timestamp")
        timestamp = next(stamps, "").strip()
        if page.best is None or timestamp >= page.latest:
            superseded, page.best, page.latest = page.best, element, timestamp
            if superseded is not None:
                drop_content(superseded)
        return None

    def _end(self, page: _Page) -> Row | None:
        if page.skipped is not None:
            self._walk.skips.add(page.skipped, page.title)
        elif not page.revisions:
            self._walk.skips.add("no_text", page.title)
        elif page.best is not None:
            return self._row(page, page.best)
        return None

    def _row(self, page: _Page, element: etree._Element) -> Row | None:
        found = {local_name(child): child for child in element}
        revision = _integer(_text(found, "id"))
        timestamp = _text(found, "timestamp").strip() or None
        contributor = _contributor(found["contributor"]) if self._contributors and "contributor" in found else None
        model = _text(found, "model").strip() or _WIKITEXT
        text = b""
        if "text" in found:
            # as bytes, which is how it is stored: no string is made of it
            text = etree.tostring(found["text"], method="text", encoding="utf-8", with_tail=False)
        begin = _beginning(text)
        if model != _WIKITEXT:
            reason = "not_wikitext"
        elif not begin:
            reason = "no_text"
        elif is_redirect(begin):
            reason = "redirect"
        else:
            return page.id, page.title, text, revision, timestamp, contributor, self._walk.records - self._before + 1
        self._walk.skips.add(reason, f"{page.title} (revision {revision})" if self._all else page.title)
        return None


@dataclass(slots=True)
class _Page:
    """What is known about the current page."""

    known: bool = False
    title: str = ""
    id: str = ""
    skipped: str | None = None
    revisions: int = 0
    rows: int = 0
    best: etree._Element | None = None
    latest: str = ""


def _drop_before(element: etree._Element, kept: etree._Element | None, only: str | None = None) -> None:
    """Remove an element's finished siblings. The element itself stays: the parser may be writing its tail."""
    parent = element.getparent()
    if parent is None:
        return
    previous = element.getprevious()
    while previous is not None:
        earlier = previous.getprevious()
        if previous is not kept and (only is None or local_name(previous) == only):
            previous.clear()  # lxml removes a full one in quadratic time
            parent.remove(previous)
        previous = earlier


def _beginning(text: bytes) -> str:
    """Return the text without leading white space; of a long text, only enough to classify it."""
    begin = text[:_HEAD].decode("utf-8", "ignore").lstrip()
    return begin if len(begin) > _HEAD // 8 or len(text) <= _HEAD else text.decode().lstrip()


def _contributor(element: etree._Element) -> str | None:
    """Return the name of an account, or the address of an anonymous contributor; None if it is hidden."""
    names = ((child.text or "").strip() for child in element if local_name(child) in ("username", "ip"))
    return next(names, None) or None


def _text(children: Mapping[str, etree._Element], name: str) -> str:
    return (children[name].text or "") if name in children else ""


def _integer(text: str) -> int | None:
    text = text.strip()
    return int(text) if len(text) < 19 and text.removeprefix("-").isdecimal() else None
