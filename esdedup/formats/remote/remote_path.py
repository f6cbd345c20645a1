"""A file on a server as a path: what reads files reads it, too."""

from __future__ import annotations

import io
import stat
import sys
from os import stat_result
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from esdedup.errors import SourceError, UsageError
from esdedup.formats.remote.protocol import About, is_address, let_in, server_of, shown, tried
from esdedup.formats.remote.remote_file import RangeFile, StreamFile

if sys.platform == "win32":
    from pathlib import WindowsPath as _Path
else:
    from pathlib import PosixPath as _Path

_BUFFER = 2**16


class RemotePath(_Path):
    """An address such as `s3://bucket/folder/file.jsonl`.

    As text it is what may be shown and stored: see `shown`. `url` is what was typed.
    """

    url: str
    checksum: str | None = None
    """SHA-256 that the file should have, if somebody says so."""

    _about: About | None = None
    _compared = False

    @classmethod
    def of(cls, url: str) -> RemotePath:
        """Return the path of an address. Raise `UsageError` for one with a password, or without a file."""
        split = urlsplit(url)
        if "@" in split.netloc:
            raise UsageError(
                f"{shown(url)}: has a password in the address, where others can read it; use {let_in(url)}"
            )
        if not split.netloc:
            raise UsageError(f"{shown(url)}: names no host or bucket; use {split.scheme}://NAME/PATH")
        if ".." in split.path.split("/"):  # names become paths in a folder of results
            raise UsageError(f"{shown(url)}: has .. in its path; give the address without it")
        path = cls(shown(url))
        path.url = url
        return path

    def __str__(self) -> str:
        scheme, *rest = self.parts or ("",)
        return f"{scheme}//{'/'.join(rest)}" if scheme.endswith(":") else "/".join(self.parts) or "."

    __fspath__ = as_posix = __str__

    def __reduce__(self) -> Any:
        return _again, (self.url, self.checksum)

    def __getattr__(self, name: str) -> Any:
        if name == "url":  # pathlib, which makes the paths of folders and files there, knows the parts alone
            return str(self)
        raise AttributeError(name)

    @property
    def name(self) -> str:
        """The name of the file, without the parameters of the address."""
        name = super().name
        return name.partition("?")[0] if self.parts[0].startswith("http") else name

    @property
    def about(self) -> About:
        """What the server says about the file, asked once. Raise `SourceError` if there is none."""
        if not self.exists() or self._about is None:
            raise SourceError(f"{self}: no such file; check the address")
        return self._about

    def known(self, about: About | None) -> RemotePath:
        """Return the path; a list says this about it."""
        self._about = about
        return self

    def state(self, *, again: bool) -> str:
        """Return what changes when the file does. The server may be asked `again`."""
        if again:
            self._about = None
        return f"{self.about.size} bytes, {self.about.state or 'of unknown age'}"

    def open(self, mode: str = "r", buffering: int = -1, *_: Any, **__: Any) -> Any:
        """Open it to be read. Reading raises `SourceChangedError` if the file changes meanwhile."""
        if mode != "rb":
            self._write()
        kind = RangeFile if self.about.ranges else StreamFile
        raw = kind(self.url, self.about, self.checksum, self._is_right)
        return raw if buffering == 0 else io.BufferedReader(raw, _BUFFER)

    def compare(self) -> None:
        """Compare the file with its checksum, if it was not read in order, which does so. Raise `SourceError`."""
        if self.checksum is not None and not self._compared:
            with self.open("rb", 0) as file:
                while file.read(_BUFFER):
                    pass

    def _is_right(self) -> None:
        self._compared = True

    def stat(self, *, follow_symlinks: bool = True) -> stat_result:
        """Return its size."""
        del follow_symlinks
        return stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, max(0, self.about.size), 0, 0, 0))

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is such a file. Raise `SourceError` if the server does not say."""
        del follow_symlinks
        if self._about is None:
            self._about = tried(lambda: server_of(self.url).about(self.url))
        return self._about is not None

    is_file = exists

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Folders are lists of files, made once."""
        del follow_symlinks
        return False

    is_fifo = is_symlink = is_dir

    def _write(self, *_: Any, **__: Any) -> Any:
        raise UsageError(f"{self}: this command writes to this machine alone; name a path here, and copy what is there")

    mkdir = touch = unlink = rmdir = rename = replace = write_text = write_bytes = symlink_to = hardlink_to = _write

    def resolve(self, strict: bool = False) -> RemotePath:
        """Return the path itself."""
        del strict
        return self


def state_of(path: Path, *, again: bool = False) -> str:
    """Return the state of a file, which changes with it. A server may be asked `again`."""
    if isinstance(path, RemotePath):
        return path.state(again=again)
    found = path.stat()
    return f"{found.st_size} bytes, changed at {found.st_mtime_ns}"


def _again(url: str, checksum: str | None) -> RemotePath:
    path = RemotePath.of(url)
    path.checksum = checksum
    return path


def path_of(text: object) -> Path:
    """Return the path, or the address, that a text names."""
    if isinstance(text, RemotePath):
        return text
    return RemotePath.of(str(text)) if is_address(text) else Path(str(text))
