"""The protocol of a server of files: what is there, and the bytes between two places of it."""

from __future__ import annotations

import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from esdedup.errors import SourceError, UsageError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_QUERY = re.compile(r"\?[^\s\"'<>)]*")
_SIGNING = re.compile(
    r"x-(amz|goog|ms)-.*|awsaccesskeyid|googleaccessid|key-pair-id|policy|expires|sig|signature|token|access_token|"
    r"api_?key|s[eprtv]|sk(oid|tid|t|e|s|v)|spr|sip",
    re.IGNORECASE,
)
"""Names of parameters that let somebody read a file, and change every time."""


TRIES = 5
WAIT = 0.5  # seconds before the second try; then twice as long each time

_log = logging.getLogger("esdedup")


class About(NamedTuple):
    """A file on a server."""

    size: int  # bytes; -1 if the server does not say
    state: str  # ETag, or else time of the last change; empty if the server says neither
    ranges: bool = True  # whether parts of it can be asked for


class RemoteError(SourceError):
    """A server does not give a file."""


class Server(ABC):
    """Where the files of an address are. Every request may be repeated. Errors are `RemoteError`, without secrets."""

    credentials: ClassVar[Mapping[str, str]]
    """By scheme, which environment variables let one in."""

    @abstractmethod
    def about(self, url: str) -> About | None:
        """Return what is known about a file; None if there is none."""

    @abstractmethod
    def read(self, url: str, begin: int, end: int | None) -> tuple[bytes, str]:
        """Return the bytes from `begin` to `end`, or the rest, and the state of the file that they are from."""

    @abstractmethod
    def below(self, url: str) -> Iterator[tuple[str, About | None]]:
        """Yield the addresses of all files below a folder, whose address ends in a slash, and what the list says about
        them.
        """

    def stream(self, url: str) -> BinaryIO:
        """Return all bytes of a file that cannot be read in parts."""
        raise RemoteError(f"{shown(url)}: cannot be read as a stream")

    def check_writable(self, url: str) -> None:
        """Raise `UsageError` if files cannot be written."""
        raise UsageError(f"{shown(url)}: {urlsplit(url).scheme}:// addresses can only be read; write elsewhere")

    def put(self, path: Path, url: str) -> None:
        """Write a file. It is there as a whole, or not at all."""
        raise NotImplementedError

    def delete(self, url: str) -> None:
        """Delete a file, if it is there."""
        raise NotImplementedError


_SERVERS = {
    "s3": "objects:Objects", "gs": "objects:Objects", "az": "objects:Objects", "http": "web:Web", "https": "web:Web",
    "hf": "hub:Hub",
}  # fmt: skip
"""What serves the addresses of each scheme."""

_open: dict[str, Server] = {}


def is_address(text: object) -> bool:
    """Whether a text is an address and not a path. Raise `UsageError` if its scheme is not one of ours."""
    match = _ADDRESS.match(str(text))
    if match is None:
        return False
    if match[1].lower() not in _SERVERS:
        raise UsageError(
            f"{shown(str(text))}: {match[1]}:// addresses are not read; use one of "
            f"{', '.join(f'{scheme}://' for scheme in _SERVERS)}, or download the files"
        )
    return True


def server_of(url: str) -> Server:
    """Return what serves an address."""
    scheme = url.partition(":")[0].lower()
    if scheme not in _open:
        module, _, name = _SERVERS[scheme].partition(":")
        _open[scheme] = getattr(import_module(f"esdedup.formats.remote.{module}"), name)()
    return _open[scheme]


def let_in(url: str) -> str:
    """Return which environment variables let one read an address."""
    scheme = url.partition(":")[0].lower()
    return server_of(url).credentials[scheme]


def shown(url: str) -> str:
    """Return an address as it may be shown and stored: without a password and, on the web, without the values of its
    parameters. A hash of those that do not sign the request takes their place, so different files have different names.
    """
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    begin = f"{scheme.lower()}://{host.rpartition('@')[2]}{slash}"
    if not scheme.lower().startswith("http"):
        return begin + path  # any sign may be in the name of an object
    split = urlsplit(url)
    telling = [pair for pair in parse_qsl(split.query, keep_blank_values=True) if not _SIGNING.fullmatch(pair[0])]
    mark = f"?{sha256(urlencode(telling).encode()).hexdigest()[:8]}" if telling else ""
    return f"{begin}{split.path.removeprefix('/')}{mark}"


def without_secrets(error: object) -> str:
    """Return the first line of an error, without the parameters of addresses; of what a server has sent, its code."""
    line = str(error).strip().split("\n")[0]
    code = _CODE.search(str(error))
    return _QUERY.sub("", line.partition("<")[0]).strip(" :")[:300] + (f" ({code[1]})" if code else "")


T = TypeVar("T")


def tried(once: Callable[[], T]) -> T:
    """Return what a request gives, which is repeated if the server does not answer it well."""
    wait = WAIT
    for left in reversed(range(TRIES)):
        try:
            return once()
        except RemoteError as error:
            if not left:
                raise RemoteError(f"{error}; {TRIES} tries failed, so run the command again later") from error
            _log.debug("%s; trying again", error)
        time.sleep(wait)
        wait *= 2
    raise AssertionError
