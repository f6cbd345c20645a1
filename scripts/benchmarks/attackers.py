"""python -m scripts.benchmarks.attackers NAME PORT SECONDS PATH: one visitor who means no good, and ends by himself.

One process that costs little: it opens connections to a server of this machine and keeps them in the state that its
name says. What the server drops is opened again, up to a bound. Prints what it did as JSON.
"""

from __future__ import annotations

import json
import resource
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

HOST = "127.0.0.1"
_HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_MOST_OPENED = 10_000
_OPENED_AGAIN = 500  # connections a second
_MOST_REQUESTS = 60_000
_LARGE = 2**26
_PART = b"x" * 2**16


@dataclass(eq=False)
class Line:
    """A connection, and what is still to be sent on it."""

    socket: socket.socket
    sending: Iterator[bytes]  # empty: nothing for now
    pause: float = 0.0  # seconds between two parts
    due: float = 0.0
    rest: bytes = b""
    asks_again: bool = False  # as soon as it is answered


@dataclass(frozen=True)
class Attack:
    connections: int
    sent: Callable[[str], Iterator[bytes]]
    pause: float = 0.0
    reads: bool = True
    asks_again: bool = False
    most_opened: int = _MOST_OPENED


def _half_header(_: str) -> Iterator[bytes]:
    yield b"GET /" + _HEAD + b"X-More: "


def _large_header(_: str) -> Iterator[bytes]:
    yield b"GET /" + _HEAD + b"X-More: "
    for _ in range(_LARGE // len(_PART)):
        yield _PART


def _request(path: str) -> Iterator[bytes]:
    yield b"GET " + path.encode() + _HEAD + b"\r\n"


def _slow_body(_: str) -> Iterator[bytes]:
    yield b"POST /api/check" + _HEAD + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    for _ in count():
        yield b" "


def _large_body(_: str) -> Iterator[bytes]:
    yield b"POST /api/check" + _HEAD + b"Content-Type: application/json\r\nContent-Length: 2600000\r\n\r\n"
    for _ in range(38):  # 2.49 MB, and the rest never comes
        yield _PART


def _requests(path: str) -> Iterator[bytes]:
    for _ in count():
        yield from _request(path)


ATTACKS = {
    "half headers": Attack(2_000, _half_header),
    "headers of 64 MB": Attack(20, _large_header, most_opened=500),
    "slow readers": Attack(500, _request, reads=False),
    "slow bodies": Attack(500, _slow_body, pause=1.0),
    "bodies without their end": Attack(500, _large_body, most_opened=1_000),
    "idle connections": Attack(2_000, lambda _: iter(())),
    "flood without a token": Attack(100, _requests, asks_again=True),
}


@dataclass
class Done:
    opened: int = 0
    dropped: int = 0
    sent: int = 0  # bytes
    answers: Counter[str] = field(default_factory=Counter)


class _Attacker:
    def __init__(self, attack: Attack, port: int, path: str) -> None:
        self._attack = attack
        self._port = port
        self._path = path
        self._selector = selectors.DefaultSelector()
        self._lines: set[Line] = set()
        self.done = Done()

    def run(self, seconds: float) -> None:
        begin = time.monotonic()
        while (now := time.monotonic()) < begin + seconds:
            self._open(self._attack.connections + int(_OPENED_AGAIN * (now - begin)))
            for line in list(self._lines):
                if self._attack.pause and line.due <= now:
                    self._send(line)
            for key, events in self._selector.select(0.02):
                if events & selectors.EVENT_READ and not self._read(key.data):
                    continue
                if events & selectors.EVENT_WRITE:
                    self._send(key.data)
        for line in list(self._lines):
            self._close(line)

    def _open(self, most: int) -> None:
        """Open what is missing, `most` in all."""
        while len(self._lines) < self._attack.connections and self.done.opened < min(most, self._attack.most_opened):
            one = socket.socket()
            one.setblocking(False)
            if not self._attack.reads:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(BlockingIOError):
                one.connect((HOST, self._port))
            line = Line(one, self._attack.sent(self._path), self._attack.pause, asks_again=self._attack.asks_again)
            self._lines.add(line)
            self.done.opened += 1
            self._selector.register(one, self._events(writes=True), line)

    def _events(self, *, writes: bool) -> int:
        reads = selectors.EVENT_READ if self._attack.reads else 0
        return reads | (selectors.EVENT_WRITE if writes else 0) or selectors.EVENT_WRITE

    def _send(self, line: Line) -> None:
        """Send the next part, and wait as long as it is to be waited."""
        try:
            line.rest = line.rest or next(line.sending)
            sent = line.socket.send(line.rest)
        except StopIteration:
            self._quiet(line)
            return
        except BlockingIOError:
            return
        except OSError:
            self._drop(line)
            return
        self.done.sent += sent
        line.rest = line.rest[sent:]
        if not line.rest and (line.pause or line.asks_again):
            line.due = time.monotonic() + line.pause
            self._quiet(line)

    def _quiet(self, line: Line) -> None:
        if self._attack.reads:
            self._selector.modify(line.socket, selectors.EVENT_READ, line)
        elif line.socket in self._selector.get_map():
            self._selector.unregister(line.socket)

    def _read(self, line: Line) -> bool:
        """Return whether the connection is still open."""
        try:
            got = line.socket.recv(2**16)
        except BlockingIOError:
            return True
        except OSError:
            got = b""
        if not got:
            self._drop(line)
            return False
        if got.startswith(b"HTTP/1.1 "):
            self.done.answers[got[9:12].decode()] += 1
            if line.asks_again and self.done.answers.total() < _MOST_REQUESTS:
                self._send(line)
        return True

    def _drop(self, line: Line) -> None:
        self.done.dropped += 1
        self._close(line)

    def _close(self, line: Line) -> None:
        self._lines.discard(line)
        if line.socket in self._selector.get_map():
            self._selector.unregister(line.socket)
        line.socket.close()


def main() -> None:
    name, port, seconds, path = sys.argv[1:]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    attacker = _Attacker(ATTACKS[name], int(port), path)
    attacker.run(min(float(seconds), 60.0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    done = attacker.done
    print(
        json.dumps(
            {
                "opened": done.opened,
                "dropped": done.dropped,
                "sent": done.sent,
                "answers": done.answers,
                "seconds of processor": round(used.ru_utime + used.ru_stime, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
