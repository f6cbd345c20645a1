"""Objects in S3, Google Cloud Storage and Azure, by obstore."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import (
    BaseError,
    GenericError,
    NotSupportedError,
    PermissionDeniedError,
    UnauthenticatedError,
)  # fmt: skip
from obstore.store import AzureStore, GCSStore, S3Store

from esdedup.errors import SourceError
from esdedup.formats.remote.protocol import About, RemoteError, Server, let_in, shown, without_secrets

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

T = TypeVar("T")

_STORES: dict[str, Callable[..., ObjectStore]] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}

_RETRIES: RetryConfig = {
    "max_retries": 1,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=5), "base": 2},
}
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_CERTIFICATES = ("AWS_CA_BUNDLE", "SSL_CERT_FILE")


class Objects(Server):
    """A bucket or container. Its folders are what its names have in common."""

    credentials: ClassVar = {
        "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or for a public bucket AWS_SKIP_SIGNATURE=true",
        "gs": "GOOGLE_APPLICATION_CREDENTIALS, or for a public bucket GOOGLE_SKIP_SIGNATURE=true",
        "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or for a public container "
        "AZURE_SKIP_SIGNATURE=true",
    }  # fmt: skip

    def __init__(self) -> None:
        self._stores: dict[tuple[str, str], ObjectStore] = {}

    def about(self, url: str) -> About | None:
        """Ask for the metadata of an object."""
        store, key = self._at(url)
        if not key:
            return None
        with self._errors(url):
            try:
                return _about(_waited_for(lambda: obstore.head(store, key)))
            except FileNotFoundError:
                return None

    def read(self, url: str, begin: int, end: int | None) -> tuple[bytes, str]:
        """Ask for a range of an object."""
        store, key = self._at(url)
        options: GetOptions = {"range": {"offset": begin} if end is None else (begin, end)}
        with self._errors(url):
            result = obstore.get(store, key, options=options if begin or end else None)
            return bytes(result.bytes()), _about(result.meta).state

    def below(self, url: str) -> Iterator[tuple[str, About | None]]:
        """List the objects with a prefix. What ends in a slash stands for a folder."""
        store, prefix = self._at(url)
        top = url[: len(url) - len(prefix)]
        with self._errors(url):
            chunks = iter(obstore.list(store, prefix or None))
            while (chunk := _waited_for(lambda: next(chunks, None))) is not None:
                for meta in chunk:
                    if not meta["path"].endswith("/"):
                        yield top + meta["path"], _about(meta)

    def check_writable(self, url: str) -> None:
        """Write a small object, and delete it: what is refused is known before the work begins."""
        store, key = self._at(f"{url.rstrip('/')}/.esdedup.begin")
        with self._errors(url):
            _waited_for(lambda: obstore.put(store, key, b"", use_multipart=False))
        self.delete(f"{url.rstrip('/')}/.esdedup.begin")

    def put(self, path: Path, url: str) -> None:
        """Write an object, in parts if it is large."""
        store, key = self._at(url)
        with self._errors(url):
            _waited_for(lambda: obstore.put(store, key, path))

    def delete(self, url: str) -> None:
        """Delete an object, if it is there."""
        store, key = self._at(url)
        with self._errors(url):
            try:
                obstore.delete(store, key)
            except FileNotFoundError:
                return

    def _at(self, url: str) -> tuple[ObjectStore, str]:
        split = urlsplit(url, allow_fragments=False)
        at = split.scheme.lower(), split.netloc
        if at not in self._stores:
            client: ClientConfig = {"timeout": timedelta(minutes=5), "read_timeout": timedelta(seconds=20)}
            if any(os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS):
                client["allow_http"] = True
            bundle = next((found for name in _CERTIFICATES if (found := os.environ.get(name))), None)
            if bundle:
                client["root_certificate"] = Path(bundle).read_bytes()
            with self._errors(url):
                self._stores[at] = _STORES[at[0]](split.netloc, client_options=client, retry_config=_RETRIES)
        return self._stores[at], url.split("/", 3)[3] if url.count("/") > 2 else ""

    @contextmanager
    def _errors(self, url: str) -> Iterator[None]:
        label = shown(url)
        try:
            yield
        except FileNotFoundError as error:
            raise SourceError(f"{label}: no such object; check the address") from error
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise SourceError(f"{label}: access is refused; check {let_in(url)}") from error
        except (GenericError, NotSupportedError) as error:
            cause = without_secrets(error)
            if "redential" in cause or "metadata" in cause or "403" in cause:
                raise SourceError(f"{label}: access is refused; set {let_in(url)} ({cause})") from error
            if " 404 " in cause:
                raise SourceError(f"{label}: no such bucket; check the address") from error
            raise RemoteError(f"{label}: cannot be read: {cause}") from error
        except (BaseError, OSError, ValueError) as error:
            raise SourceError(f"{label}: cannot be read: {without_secrets(error)}") from error


def _waited_for(call: Callable[[], T]) -> T:
    """Return what a call gives, in a thread: Ctrl-C does not wait for a server."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="esdedup-remote", daemon=True).start()
    return done.result()


def _about(meta: Any) -> About:
    changed = meta["last_modified"]
    return About(int(meta["size"]), (meta["e_tag"] or "").strip('"') or str(changed or ""))
