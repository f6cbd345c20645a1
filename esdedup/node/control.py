"""Start, query and stop a local Elasticsearch node.

It listens only on this machine, 127.0.0.1. It has no security: anyone who can log in to the machine can read and change
its data.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from esdedup.errors import NodeError
from esdedup.node import folder as folders
from esdedup.node.folder import Running
from esdedup.node.jars import HOST, VERSION, check_memory, check_port, free_ports, need_extra, program

LACKS = (
    "security",
    "Kibana",
    "scripts",
    "_reindex, _update_by_query and _delete_by_query",
    "ingest processors",
    "the modules analysis-common, mapper-extras, aggregations and parent-join",
    "SQL, ES|QL and async search",
)
"""What every other Elasticsearch has, and this node does not."""

_OFTEN = 0.1  # seconds between two checks
_GRACE = 120.0  # seconds to close open files
_BRIEFLY = 5.0  # seconds


def start(
    folder: Path | None = None,
    *,
    port: int = 9200,
    heap: int = 2**30,
    wait: float = 120.0,
    name: str = "node-1",
    transport_port: int = 0,
    join: Sequence[str] = (),
    masters: Sequence[str] = (),
) -> Running:
    """Start a node in the background and wait until it is healthy, or return the one that runs in this folder.

    Port 0 means any free port. With `join` (transport addresses of other nodes) or `masters` (names of the nodes that
    form the cluster), the node is a member of a cluster. Then it only has to answer, because it may be waiting for the
    others.
    """
    data = _resolved(folder)
    folders.make(data)
    lock = folders.claim(data)
    if lock is None:
        return _wait_for(data, wait)
    try:
        check_memory(heap)
        need_extra()
        home = program()
        http_port, transport_port = _ports(port, transport_port)
        settings = {
            "cluster.name": "esdedup",
            "node.name": name,
            "path.home": str(home),
            "path.data": str(data / "data"),
            "path.logs": str(data / "logs"),
            "path.repo": str(data / "snapshots"),
            "network.host": HOST,
            "http.port": str(http_port),
            "transport.port": str(transport_port),
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            **_discovery(join, masters),
        }
        config = {
            "name": name,
            "address": f"http://{HOST}:{http_port}",
            "transport": f"{HOST}:{transport_port}",
            "version": VERSION,
            "single": not (join or masters),
            "heap": heap,
            "home": str(home),
            "settings": settings,
        }
        (data / folders.CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
        _launch(data, lock)
    finally:
        os.close(lock)  # the server holds it now
    return replace(_wait_for(data, wait, ours=True), started=True)


def status(folder: Path | None = None) -> dict[str, Any]:
    """Return whether a node runs in this folder, and its state."""
    data = _resolved(folder)
    node = folders.running(data)
    state: dict[str, Any] = {"data": str(data), "running": node is not None}
    if node is not None:
        asked = asdict(_asked(node))
        state |= {name: asked[name] for name in ("address", "transport", "name", "pid", "version", "health", "nodes")}
        state["lacks"] = list(LACKS)
    return state | {"data_bytes": folders.size(data / "data")}


def stop(folder: Path | None = None, *, wait: float = _GRACE) -> dict[str, Any]:
    """Stop the node in this folder. It is killed only if it has not stopped after `wait` seconds."""
    data = _resolved(folder)
    done: dict[str, Any] = {"data": str(data), "stopped": False, "killed": False}
    if not folders.is_held(data):
        return done
    _until(lambda: folders.running(data) is not None or not folders.is_held(data), _BRIEFLY)
    node = folders.running(data)
    if node is None:
        if folders.is_held(data):
            raise NodeError(f"another command is starting a node in {data}; stop it, or wait and stop the node")
        return done
    _signal(node.pid, signal.SIGTERM)
    if not _until(lambda: not folders.is_held(data), wait):
        done["killed"] = True
        _signal(node.pid, signal.SIGKILL)
        _until(lambda: not folders.is_held(data), _BRIEFLY)
    return done | {"stopped": True, "pid": node.pid}


@contextmanager
def running_node(folder: Path, *, heap: int = 2**29, **options: Any) -> Iterator[str]:
    """Run a node on a free port while the block runs; yield its address. Options are those of `start`."""
    if folders.is_held(_resolved(folder)):
        raise NodeError(f"a node already runs in {folder}; choose another folder")
    try:
        yield start(folder, heap=heap, **{"port": 0} | options).address
    finally:
        stop(folder)


def _resolved(folder: Path | None) -> Path:
    return (folders.default_folder() if folder is None else folder).resolve()


def _ports(port: int, transport_port: int) -> tuple[int, int]:
    if port:
        check_port(port, "--port")
    if transport_port:
        check_port(transport_port, "--transport-port")
    first, second = free_ports(2)
    return port or first, transport_port or second


def _discovery(join: Sequence[str], masters: Sequence[str]) -> dict[str, str]:
    if not join and not masters:
        return {"discovery.type": "single-node"}
    return {
        "discovery.seed_hosts": ",".join(join),
        "cluster.initial_master_nodes": ",".join(masters),
        "discovery.initial_state_timeout": "0s",  # answer at once, even if the node is alone
    }


def _launch(data: Path, lock: int) -> None:
    """Start the server in its own session, so that it outlives this process and ignores signals of the terminal."""
    package = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    with (data / "logs" / "console.log").open("wb") as console:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", folders.SERVER, str(data)],
            cwd=data,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            pass_fds=[lock],
            start_new_session=True,
        )
    # if it ends before this process does, it must be reaped, or a zombie stays
    threading.Thread(target=server.wait, daemon=True).start()


def _wait_for(data: Path, wait: float, *, ours: bool = False) -> Running:
    """Return the node in this folder once it is healthy. `ours`: this process started it."""
    until = time.monotonic() + wait
    while folders.is_held(data):
        node = folders.running(data)
        if node is not None and _is_ready(node := _asked(node)):
            return node
        if time.monotonic() > until:
            raise NodeError(
                f"the node in {data} is not ready after {wait:g} seconds; start it again with a longer --wait to keep "
                f"waiting, or stop it; its log: {data / 'logs' / 'node.log'}"
            )
        time.sleep(_OFTEN)
    if not ours:
        raise NodeError(f"another command was starting a node in {data}, but it has ended; run the same command again")
    line, log = folders.last_line(data)
    raise NodeError(f"the node ended while it started: {line}; its log: {log}")


def _is_ready(node: Running) -> bool:
    return node.health in ("green", "yellow") if node.single else node.health is not None


def _asked(node: Running) -> Running:
    """Return the node with the current state of its cluster."""
    host, _, port = node.address.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=_BRIEFLY)
    try:
        connection.request("GET", "/_cluster/health?master_timeout=1s&timeout=1s")
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException):
        return node
    finally:
        connection.close()
    if answer.status != http.client.OK:
        return replace(node, health="no master")
    health = json.loads(body)
    return replace(node, health=health["status"], nodes=health["number_of_nodes"])


def _until(happened: Callable[[], bool], wait: float) -> bool:
    until = time.monotonic() + wait
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(_OFTEN)
    return True


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
