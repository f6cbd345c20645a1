"""Files on the web, by urllib3: HTTP ranges, redirects, and lists of folders."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, ClassVar, cast
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from lxml import etree, html
from urllib3.exceptions import HTTPError, SSLError

from esdedup._version import __version__
from esdedup.errors import SourceError
from esdedup.formats.remote.protocol import About, RemoteError, Server, let_in, shown, without_secrets

_HEADERS = {"Accept-Encoding": "identity", "User-Agent": f"esdedup/{__version__}"}
_SCHEMES = ("http", "https")
_REDIRECTS = 10
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
_MOST_LISTED = 2**24
_DEEPEST = 6
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


class Web(Server):
    """A server of files. `below` reads the lists that it makes of its folders, and SHA256SUMS there."""

    credentials: ClassVar = dict.fromkeys(_SCHEMES, "an address that is signed")

    def __init__(self) -> None:
        self._pools: dict[str, urllib3.PoolManager] = {}

    def about(self, url: str) -> About | None:
        """Ask for the first byte, because many servers answer HEAD in another way."""
        with self._answer(url, {"Range": "bytes=0-0"}) as answer:
            if answer.status in (404, 410):
                return None
            state = _state(answer)
            if answer.status == 416:
                return About(_size(answer) or 0, state)
            if answer.status == 206:
                size = _size(answer)
                if size is not None:
                    return About(size, state)
            _check(url, answer)
            length = answer.headers.get("Content-Length", "")
            return About(int(length) if length.isdecimal() else -1, state, ranges=False)

    def read(self, url: str, begin: int, end: int | None) -> tuple[bytes, str]:
        """Ask for a range."""
        with self._answer(url, {"Range": f"bytes={begin}-{'' if end is None else end - 1}"}) as answer:
            _check(url, answer)
            match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if answer.status != 206 or match is None or match[1] != str(begin):
                raise RemoteError(f"{shown(url)}: other bytes came than those that were asked for")
            return answer.read(decode_content=False), _state(answer)

    def stream(self, url: str) -> BinaryIO:
        """Ask for the whole file."""
        return cast(BinaryIO, _Stream(self, url))

    def below(self, url: str) -> Iterator[tuple[str, About | None]]:
        """Yield what the lists of a folder link to that lies in it, down to folders of folders."""
        for found in self._listed(url, url, set(), _DEEPEST):
            yield found, None

    def _listed(self, top: str, url: str, seen: set[str], depth: int) -> Iterator[str]:
        seen.add(url)
        with self._answer(url, {}) as answer:
            _check(url, answer)
            page = answer.read(_MOST_LISTED + 1, decode_content=False)
            base = answer.geturl() or url
        if len(page) > _MOST_LISTED:
            raise SourceError(f"{shown(url)}: its list is longer than {_MOST_LISTED >> 20} MiB; give folders in it")
        if not page.strip():
            return
        try:
            links = [anchor.get("href") or "" for anchor in html.fromstring(page).iter("a")]
        except (etree.LxmlError, ValueError) as error:
            raise SourceError(f"{shown(url)}: its list cannot be read; give the addresses of its files") from error
        for link in links:
            found = urljoin(urljoin(url, base), link).partition("#")[0]
            if not found.startswith(top) or "?" in found or found in seen:
                continue
            if not found.endswith("/"):
                seen.add(found)
                yield found
            elif ".." not in unquote(found).split("/"):
                if not depth:
                    raise SourceError(f"{shown(found)}: {_DEEPEST} folders deep; give the folder that has the files")
                yield from self._listed(top, found, seen, depth - 1)

    @contextmanager
    def _answer(self, url: str, headers: dict[str, str]) -> Iterator[urllib3.BaseHTTPResponse]:
        """Yield the answer to a request. Only addresses with encryption follow one with encryption."""
        target = url
        try:
            for _ in range(_REDIRECTS):
                answer = self._pool(target).request(
                    "GET", target, headers=_HEADERS | headers, redirect=False, retries=False, preload_content=False,
                    timeout=_TIMEOUT,
                )  # fmt: skip
                following = answer.get_redirect_location()
                if not following:
                    break
                answer.drain_conn()
                following = urljoin(target, following)
                if urlsplit(following).scheme not in (("https",) if urlsplit(target).scheme == "https" else _SCHEMES):
                    raise SourceError(f"{shown(url)}: leads to {shown(following)}, which is not encrypted")
                target = following
            else:
                raise SourceError(f"{shown(url)}: leads from one address to the next, more than {_REDIRECTS} times")
            try:
                yield answer
            finally:
                answer.close()
        except SSLError as error:
            raise SourceError(
                f"{shown(url)}: its certificate is not trusted: {without_secrets(error)}; set SSL_CERT_FILE"
            ) from error
        except (HTTPError, OSError) as error:
            raise RemoteError(f"{shown(url)}: cannot be read: {without_secrets(_cause(error))}") from error

    def _pool(self, url: str) -> urllib3.PoolManager:
        split = urlsplit(url)
        proxy = None if proxy_bypass(split.hostname or "") else getproxies().get(split.scheme)
        key = proxy or ""
        if key not in self._pools:
            context = ssl.create_default_context()
            self._pools[key] = (
                urllib3.ProxyManager(proxy, ssl_context=context, maxsize=8)
                if proxy
                else urllib3.PoolManager(ssl_context=context, maxsize=8)
            )
        return self._pools[key]


class _Stream:
    """An answer as a file. What urllib3 raises becomes `RemoteError`."""

    def __init__(self, web: Web, url: str) -> None:
        self._url = url
        self._context = web._answer(url, {})
        self._answer = self._context.__enter__()
        try:
            _check(url, self._answer)
        except SourceError:
            self.close()
            raise

    def read(self, size: int) -> bytes:
        try:
            return self._answer.read(size, decode_content=False)
        except (HTTPError, OSError) as error:
            self.close()
            raise RemoteError(f"{shown(self._url)}: cannot be read: {without_secrets(_cause(error))}") from error

    def close(self) -> None:
        self._context.__exit__(None, None, None)


def _check(url: str, answer: urllib3.BaseHTTPResponse) -> None:
    """Raise an error for an answer that is not a file: one that may be different the next time, or not."""
    if answer.status >= 500 or answer.status in (408, 429):
        raise RemoteError(f"{shown(url)}: the server answers {answer.status}")
    if answer.status in (401, 403, 407):
        raise SourceError(f"{shown(url)}: access is refused (HTTP {answer.status}); use {let_in(url)}")
    if answer.status not in (200, 206):
        raise SourceError(f"{shown(url)}: the server answers {answer.status}; check the address")


def _state(answer: urllib3.BaseHTTPResponse) -> str:
    return answer.headers.get("ETag", answer.headers.get("Last-Modified", "")).strip('"')


def _size(answer: urllib3.BaseHTTPResponse) -> int | None:
    match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    return int(match[3]) if match and match[3] != "*" else None


def _cause(error: BaseException) -> BaseException:
    """Return what an error is about, and not who noticed it."""
    return getattr(error, "reason", None) or error
