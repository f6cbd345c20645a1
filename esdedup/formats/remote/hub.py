"""Datasets of a hub (`hf://datasets/OWNER/NAME[@REVISION]/PATH`), by huggingface_hub: files on the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from esdedup.errors import SourceError, UsageError, needs_extra
from esdedup.formats.remote.protocol import About, RemoteError, Server, shown, without_secrets

_FORM = "hf://datasets/OWNER/NAME/PATH, or OWNER/NAME@REVISION"
_DATASET = re.compile("datasets/[^/]+/[^/@]+(@[^/]+)?(/|$)")


class Hub(Server):
    """Lists the files of datasets, and says where on the web they are."""

    credentials: ClassVar = {"hf": "HF_TOKEN"}

    def __init__(self) -> None:
        with needs_extra("hf", "hf://"):
            from huggingface_hub import HfFileSystem
        self._files = HfFileSystem()

    def about(self, url: str) -> About | None:
        """Ask for the size of a file, and for the hash of its content."""
        with self._errors(url):
            try:
                self._files.invalidate_cache()
                found = self._files.info(self._path(url))
            except FileNotFoundError:
                return None
        return About(int(found["size"]), _state(found)) if found["type"] == "file" else None

    def read(self, url: str, begin: int, end: int | None) -> tuple[bytes, str]:
        """Read a range. The state is that of the revision, which does not change."""
        with self._errors(url), self._files.open(self._path(url), "rb", cache_type="none") as file:
            file.seek(begin)
            return file.read(-1 if end is None else end - begin), _state(file.details)

    def below(self, url: str) -> Iterator[tuple[str, About | None]]:
        """List the files of a dataset, or of a folder in it."""
        top = "/".join(url.split("/")[:5])
        with self._errors(url):
            files: Any = self._files.find(self._path(url).rstrip("/"), detail=True)
            for path, found in files.items():
                if found:  # else it is what was asked for, and not there
                    yield f"{top}/{path.split('/', 3)[3]}", About(int(found["size"]), _state(found))

    def _path(self, url: str) -> str:
        """Return an address as the library names files."""
        path = url.partition("://")[2]
        if not _DATASET.match(path):
            raise UsageError(f"{shown(url)}: is not the address of a dataset; use {_FORM}")
        return path

    @contextmanager
    def _errors(self, url: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise SourceError(f"{shown(url)}: no such dataset or file; check the address, and HF_TOKEN") from error
        except PermissionError as error:
            raise SourceError(f"{shown(url)}: access is refused; set HF_TOKEN") from error
        except (OSError, ValueError) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status in (401, 403, 404):
                raise SourceError(f"{shown(url)}: no such dataset, or access is refused; check HF_TOKEN") from error
            raise RemoteError(f"{shown(url)}: cannot be read: {without_secrets(error)}") from error


def _state(found: dict[str, Any]) -> str:
    return str(found.get("blob_id") or found.get("size"))
