"""What `node` says about a local Elasticsearch."""

from __future__ import annotations

from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.field_types import MISSING, Count


@answer
class NodeStatus(Result):
    """A node's data folder, and the node that runs there."""

    data: str
    """The data folder."""
    running: bool
    """Whether a node runs there. Only then the answer has the fields that describe it."""
    address: str = MISSING
    """Address of the node, for `--store`."""
    transport: str = MISSING
    """Address for other nodes, for `--join`."""
    name: str = MISSING
    """Name of the node."""
    pid: Count = MISSING
    """Number of its process."""
    version: str = MISSING
    """Version of Elasticsearch."""
    health: str | None = MISSING
    """Health of the cluster: green, yellow, red or `no master`; null while the node does not answer."""
    nodes: Count | None = MISSING
    """Number of nodes of the cluster; null while the node does not answer."""
    lacks: list[str] = MISSING
    """Features of other Elasticsearch servers that the node does not have."""
    data_bytes: Count
    """Size of the data, in bytes."""


@answer
class NodeStarted(Result):
    """A node that runs."""

    data: str
    """The data folder."""
    pid: Count
    """Number of its process."""
    name: str
    """Name of the node."""
    address: str
    """Address of the node, for `--store`."""
    transport: str
    """Address for other nodes, for `--join`."""
    version: str
    """Version of Elasticsearch."""
    single: bool
    """Whether the node forms a cluster alone."""
    health: str | None
    """Health of the cluster: green, yellow, red or `no master`."""
    nodes: Count | None
    """Number of nodes of the cluster."""
    started: bool
    """Whether this command has started the node; false if it was running already."""


@answer
class NodeStopped(Result):
    """What `node stop` has done."""

    data: str
    """The data folder."""
    stopped: bool
    """Whether a node was running there, and has ended."""
    killed: bool
    """Whether it had to be killed, because it did not stop in time."""
    pid: Count = MISSING
    """Number of its process."""
