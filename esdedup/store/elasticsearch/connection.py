"""Requests to a server. Temporary failures are retried; permanent ones raise a one-line error."""

from __future__ import annotations

import logging
import random
import socket
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from threading import Event, Lock, Timer
from typing import Any, NoReturn
from weakref import WeakSet

from elastic_transport import (
    ConnectionTimeout,
    NdjsonSerializer,
    SerializationError,
    TlsError,
    Transport,
    TransportError,
)
from elasticsearch import ApiError, Elasticsearch

from esdedup.errors import NotAStoreError, StoreError, UsageError
from esdedup.store.elasticsearch.address import ServerAddress, client_options
from esdedup.store.elasticsearch.answers import (
    ANSWER_BYTES,
    BLOCKED,
    JSON,
    PASSING,
    GoneError,
    Json,
    Node,
    TooLongError,
    gone,
    is_block,
    is_gone,
    is_of_elasticsearch,
    reason_of,
)

log = logging.getLogger("esdedup")

TIMEOUT = 60.0
"""Seconds to wait for one answer."""

PATIENCE = 120.0
"""Seconds to keep retrying when a server is busy, restarting or unreachable."""

FIRST_PATIENCE = 5.0
"""Seconds to keep retrying an address that has never answered: it may be wrong."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0


SAID_AFTER, SAID_AGAIN = 3.0, 10.0
"""Seconds of retrying after which it is said, and then again."""

SILENT_AFTER = 10.0
"""Seconds without an answer to a request after which it is said. A large search or a refresh may well take a few."""


class Notice:
    """Tells the user that requests are being repeated, in all threads together."""

    def __init__(self) -> None:
        self._last = -SAID_AGAIN
        self._lock = Lock()

    def say(self, why: str, waited: float, patience: float) -> None:
        """Say why, how long already and how long at most, unless this was said just now."""
        with self._lock:
            if time.monotonic() < self._last + SAID_AGAIN:
                return
            self._last = time.monotonic()
        log.warning("waiting for the server: %s, %.0f s, up to %.0f s", why, waited, patience)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Tell the user if a request has no answer after a while."""
        timer = Timer(SILENT_AFTER, self.say, ("no answer yet", SILENT_AFTER, TIMEOUT))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class Pauses:
    """Pauses between attempts, which grow and are randomized so that clients do not retry in step.

    The patience is counted from the first failure. After `ended` is set there are no more attempts.
    """

    def __init__(self, ended: Event | None = None, notice: Notice | None = None) -> None:
        self._begun: float | None = None
        self._notice = notice
        self._next = FIRST_PAUSE
        self._ended = Event() if ended is None else ended

    def wait(self, patience: float | None = None, why: str = "") -> bool:
        """Wait before the next attempt. Return False if `patience` (`PATIENCE`) is used up or the work has ended.

        A long wait is said, with the reason.
        """
        now, patience = time.monotonic(), PATIENCE if patience is None else patience
        self._begun = now if self._begun is None else self._begun
        waited = now - self._begun
        if waited + self._next > patience:
            return False
        if self._notice is not None and waited + self._next > SAID_AFTER and patience > FIRST_PATIENCE:
            self._notice.say(why, waited, patience)
        ended = self._ended.wait(self._next * random.uniform(0.5, 1))
        self._next = min(2 * self._next, LONGEST_PAUSE)
        return not ended


def retries() -> dict[str, Any]:
    """Return the retry options for `streaming_bulk`: as many retries as `PATIENCE` allows, with pauses that double."""
    count, waited, pause = 0, 0.0, FIRST_PAUSE
    while waited + pause <= PATIENCE:
        count, waited, pause = count + 1, waited + pause, min(2 * pause, LONGEST_PAUSE)
    pauses = {"initial_backoff": FIRST_PAUSE, "max_backoff": LONGEST_PAUSE}
    return {"max_retries": count, **pauses, "retry_on_status": PASSING}


class Connection:
    """A connection to a server. All requests are idempotent, because each may arrive twice."""

    def __init__(self, address: ServerAddress, connections: int = 8) -> None:
        self.address = address
        self.notice = Notice()
        self._known = False  # whether Elasticsearch has answered
        self._given_up = False
        self._ends: WeakSet[Event] = WeakSet()
        self._ended = self.end()
        # both spellings of the media type: the plain one, and the versioned one
        json = {name: Json() for name in (JSON, "application/vnd.elasticsearch+json")}
        options = client_options(address)
        try:
            self._client = Elasticsearch(
                **options,
                connections_per_node=connections,
                request_timeout=TIMEOUT,
                max_retries=0,
                retry_on_timeout=False,
                node_class=Node,
                serializers={**json, "application/vnd.elasticsearch+x-ndjson": NdjsonSerializer()},
            )
        except ValueError as error:
            what = "ES_CLOUD_ID" if "cloud_id" in options else str(address)
            raise UsageError(f"{what} is not valid: {error}") from error

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        missing: bool = False,
        lines: bool = False,
        raising: Collection[int] = (),
        ended: Event | None = None,
        **parameters: Any,
    ) -> Any:
        """Send a request and return the parsed JSON answer. With `missing`, return None for a 404.

        Retry for a while if the server is busy or unreachable, until `ended` is set. `lines` means that the body is
        newline-delimited JSON. Raise `StoreError`, or the client's `ApiError` for the statuses in `raising`.
        """
        kind = "application/x-ndjson" if lines else JSON
        headers = {"accept": JSON} | ({} if body is None else {"content-type": kind})
        pauses = Pauses(ended or self._ended, self.notice)
        while True:
            try:
                with self.notice.watch():
                    answer = self._client.perform_request(method, path, params=parameters, headers=headers, body=body)
                if is_of_elasticsearch(answer.meta.headers, answer.body):
                    self._known = True
                    return answer.body
                cause: Exception = SerializationError(f"the answer to {method} {path} does not come from Elasticsearch")
            except ApiError as error:
                ours = is_of_elasticsearch(error.meta.headers, error.body)
                self._known = self._known or ours
                if ours and missing and error.status_code == 404 and not is_gone(error.body):
                    return None
                if error.status_code in raising:
                    raise
                self._raise_if_final(error, f"{method} {path}", ours=ours)
                cause = error
            except (TransportError, UnicodeDecodeError) as error:
                self._raise_if_hopeless(error, f"{method} {path}")
                cause = error
            # if Elasticsearch has never answered, the address may be wrong
            patience = PATIENCE if self._known or isinstance(cause, ApiError) else min(PATIENCE, FIRST_PATIENCE)
            if not pauses.wait(patience, _briefly(cause)):
                self._give_up(cause)

    @property
    def transport(self) -> Transport:
        """The transport that sends the requests."""
        return self._client.transport

    def end(self) -> Event:
        """Return an `ended` event for `ask`, for work that may end before the connection does."""
        event = Event()
        self._ends.add(event)
        if self._given_up:
            event.set()
        return event

    def give_up(self) -> None:
        """Stop retrying from now on, in all threads, because the user interrupted the command."""
        self._given_up = True
        for event in list(self._ends):
            event.set()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    # -- errors ---------------------------------------------------------------------------------------------

    def _raise_if_final(self, error: ApiError, request: str, *, ours: bool) -> None:
        """Raise an error that a retry cannot fix."""
        status, body = error.status_code, error.body
        reason = reason_of(body)
        if is_block(body):
            self._fail(BLOCKED.format(reason=reason), error)
        if status == 401:
            self._fail("access denied (401); set ES_API_KEY, or ES_USERNAME and ES_PASSWORD", error)
        if status == 403:
            self._fail(
                f"permission denied (403): {reason}; use credentials that can read and write {self.address.prefix}-*",
                error,
            )
        if not (ours or self._known or status in PASSING):
            raise NotAStoreError(
                f"{self.address}: the server is neither Elasticsearch nor OpenSearch; check --store"
            ) from error
        if "media_type_header" in str(body):
            self._fail(
                f"the server is older than the Python client ({version('elasticsearch')}); "
                "pip install 'elasticsearch>=8.16,<9', which supports servers 8 and 9",
                error,
            )
        if not ours or status in PASSING:
            return
        if is_gone(body):
            raise GoneError(f"{self.address}: {gone(reason)}") from error
        self._fail(f"the server rejected {request} ({status}): {reason}", error)

    def _raise_if_hopeless(self, error: Exception, request: str) -> None:
        """Raise an error that a retry cannot fix, for a request without a usable answer."""
        if isinstance(error.__cause__, TooLongError):
            raise TooLongError(
                f"{self.address}: the answer to {request} is longer than {ANSWER_BYTES >> 20} MiB; "
                "run the same command again"
            ) from error
        if not isinstance(error, TlsError):
            return
        line = " ".join(str(error.message).split())
        if "fingerprint" in line.lower():
            self._fail("the certificate does not match ES_CA_FINGERPRINT; check the address and the fingerprint", error)
        if "certificate verify failed" in line.lower() or "doesn't match" in line:
            why = line.rpartition("verify failed: ")[2].partition(" (_ssl")[0]
            self._fail(
                f"the server's certificate is not trusted ({why}); set ES_CA_CERTS to the CA certificate file, "
                "or ES_CA_FINGERPRINT",
                error,
            )
        if any(words in line.lower() for words in _NO_TLS):
            self._fail("the server does not use TLS; try http:// instead of https://", error)

    def _give_up(self, error: Exception) -> NoReturn:
        if isinstance(error, ApiError):
            self._fail(f"still busy or unavailable ({error.status_code}): {reason_of(error.body)}", error)
        if isinstance(error, ConnectionTimeout):
            self._fail(f"no answer within {TIMEOUT:g} seconds", error)
        if isinstance(error, SerializationError | UnicodeDecodeError):
            self._fail(str(error), error)
        root = _root(error)
        if isinstance(root, ConnectionRefusedError):
            hint = "start the server, or start one on this machine with esdedup node start"
            self._fail(f"connection refused; {hint}", error)
        if isinstance(root, ConnectionResetError) and not self._known and str(self.address).startswith("http://"):
            hint = "try https:// instead of http://"
            self._fail(f"the server closed the connection without an answer; {hint}", error)
        if isinstance(root, socket.gaierror):
            self._fail("no host of this name is known; correct the address", error)
        self._fail(f"no connection ({' '.join(str(root).split())})", error)

    def _fail(self, what: str, error: Exception) -> NoReturn:
        rest = "" if "; " in what else "; run the same command again to continue"
        raise StoreError(f"{self.address}: {what}{rest}") from error


_NO_TLS = ("wrong_version_number", "wrong version number", "record layer failure", "unknown protocol", "packet length")


def _briefly(error: Exception) -> str:
    """Return why a request is repeated, in a few words."""
    if isinstance(error, ApiError):
        return str(error.status_code)
    if isinstance(error, ConnectionTimeout):
        return f"no answer within {TIMEOUT:g} seconds"
    root = _root(error)
    return "connection refused" if isinstance(root, ConnectionRefusedError) else " ".join(str(root).split())[:80]


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
