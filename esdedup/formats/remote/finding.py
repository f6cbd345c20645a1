"""Which files an address means: one, those of a folder, or those that match a pattern."""

from __future__ import annotations

import fnmatch
import re
from urllib.parse import quote, urlsplit

from esdedup.errors import SourceError
from esdedup.formats.remote.protocol import About, server_of, shown, tried
from esdedup.formats.remote.remote_path import RemotePath

_MAGIC = re.compile(r"[*[]")
_SUMS = re.compile(r"(.*[-_.])?sha256sums(\.txt)?", re.IGNORECASE)
_SUM = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")


def files_at(url: str) -> tuple[list[RemotePath], RemotePath | None]:
    """Return the files that an address means, and the folder, if it is one. Raise `SourceError` if there are none."""
    magic = _MAGIC.search(url)
    if magic is not None and ("*" in url or not RemotePath.of(url).exists()):
        found = _below(url[: url.rindex("/", 0, magic.start()) + 1])
        pattern = re.compile(_translated(url))
        matches = {each: about for each, about in found.items() if pattern.fullmatch(each)}
        if not matches:
            raise SourceError(f"{shown(url)}: no file matches this pattern; check it")
        return _paths(matches), None
    path = RemotePath.of(url)
    if not url.endswith("/") and path.parent != path.parent.parent and path.exists():
        return [path], None
    folder = url if url.endswith("/") else f"{url}/"
    if urlsplit(url).scheme.startswith("http") and folder != url:
        raise SourceError(f"{path}: no such file; check the address, which ends in / if it is a folder")
    found = _below(folder)
    if not found:
        raise SourceError(f"{path}: no file of this name, and none in a folder of this name; check the address")
    return _with_checksums(found), RemotePath.of(folder)


def _below(folder: str) -> dict[str, About | None]:
    """Return the files below a folder that are not hidden."""
    found = tried(lambda: sorted(server_of(folder).below(folder), key=lambda each: each[0]))
    return {
        url: about
        for url, about in found
        if not any(part.startswith(".") for part in url[len(folder) :].split("/"))
    }  # fmt: skip


def _paths(found: dict[str, About | None]) -> list[RemotePath]:
    return [RemotePath.of(url).known(about) for url, about in found.items()]


def _with_checksums(found: dict[str, About | None]) -> list[RemotePath]:
    """Return the files, with the checksums that lists beside them give.

    Raise `SourceError` if a list names a file that is not there.
    """
    lists = [url for url in found if _SUMS.fullmatch(url.rpartition("/")[2])]
    paths = {path.url: path for path in _paths({url: found[url] for url in found if url not in lists})}
    for url in lists:
        with RemotePath.of(url).open("rb") as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
        for match in filter(None, map(_SUM.fullmatch, lines)):
            name = match[2].removeprefix("./")
            named = f"{url.rpartition('/')[0]}/{quote(name) if url.startswith('http') else name}"
            if named not in paths:
                raise SourceError(f"{shown(url)}: names {match[2]}, which is not there; wait until all files are")
            paths[named].checksum = match[1].lower()
    return list(paths.values())


def _translated(pattern: str) -> str:
    """Return a pattern as a regular expression: `*` and brackets within a name, `**` across folders."""
    parts = []
    for part in pattern.split("/"):
        one = fnmatch.translate(part).removeprefix("(?s:").rpartition(")")[0].replace(".*", "[^/]*")
        parts.append(r"(?:[^/]+/)*" if part == "**" else (re.escape(part) if not _MAGIC.search(part) else one) + "/")
    return "".join(parts).removesuffix("/") if pattern.rpartition("/")[2] != "**" else "".join(parts) + "[^/]+"
