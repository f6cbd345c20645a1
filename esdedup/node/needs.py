"""What a node needs from the machine: memory and ports. Checked before the start, because Java's messages
are unclear.
"""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

import psutil

from esdedup.errors import NodeError

HOST = "127.0.0.1"
LEAST_HEAP = 256 * 2**20
_BESIDE = 2**29  # what Java and Elasticsearch take in addition to the heap


def check_memory(heap: int) -> None:
    """Raise `NodeError` if the heap is too small to start, or too large for the machine."""
    if heap < LEAST_HEAP:
        raise NodeError(
            f"a heap of {_shown(heap)} is too little for Elasticsearch; give --heap {_shown(LEAST_HEAP)} or more"
        )
    available = psutil.virtual_memory().available
    if heap + _BESIDE > available:
        raise NodeError(
            f"a heap of {_shown(heap)} needs {_shown(heap + _BESIDE)} of memory in all, but only "
            f"{_shown(available)} are available; give a smaller --heap or end other programs"
        )


def check_port(port: int, option: str) -> None:
    """Raise `NodeError` if the port cannot be used. The message names the process that uses it, if known."""
    try:
        with _listening_on(port):
            return
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise NodeError(f"port {port}: {error.strerror}; choose another port: {option}") from error
    raise NodeError(f"port {port} is in use{_by_whom(port)}; stop it or choose another port: {option}")


def free_ports(number: int) -> list[int]:
    """Return this many different free ports."""
    with ExitStack() as stack:
        return [stack.enter_context(_listening_on(0)).getsockname()[1] for _ in range(number)]


def _listening_on(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Elasticsearch does
        listener.bind((HOST, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def _by_whom(port: int) -> str:
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                return (
                    f" by process {connection.pid} ({psutil.Process(connection.pid).name()})" if connection.pid else ""
                )
    except psutil.Error:  # some systems allow only root to see this
        pass
    return ""


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f}GiB" if size >= 2**30 else f"{size / 2**20:.0f}MiB"
