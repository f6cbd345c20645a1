"""splink and goldenmatch on tables of records whose true pairs are known."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scripts.benchmarks.peer import Peer, PeerError

Rows = Sequence[Mapping[str, str | None]]

_PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "splink": ("with_splink", {}),
    "goldenmatch": ("with_goldenmatch", {"probabilistic": False}),
    "goldenmatch, probabilistic": ("with_goldenmatch", {"probabilistic": True}),
}

FASTEST = "splink"
"""The only one that answers for a million records in minutes."""

_LINES = {
    "febrl1": 40, "febrl3": 40, "febrl4": 44, "fake_1000": 35, "restaurant": 36, "abtbuy": 34, "imdbtmdb": 45,
    "sigmod": 23, "persons": 35,
}  # fmt: skip


def lines(peer: str, name: str) -> int:
    """Lines of code that a person types for a table that is already read, one argument of splink's settings a line."""
    return {"splink": _LINES[name], "goldenmatch": 2, "goldenmatch, probabilistic": 3}[peer]


def peers(
    name: str, left: Rows, right: Rows | None, chosen: Sequence[str] = tuple(_PEERS)
) -> Iterator[tuple[str, float, set[tuple[str, str]]]]:
    """Of each peer the processor seconds and the pairs of ids; of one that fails, a line on stderr."""
    text = json.dumps({"name": name, "left": _named(left), "right": None if right is None else _named(right)})
    for peer in chosen:
        script, arguments = _PEERS[peer]
        try:
            with Peer(script, [text]) as process:
                arrays = process.result("link", **arguments)
        except PeerError as error:
            print(f"{peer}, {name}: {error}", file=sys.stderr)
            continue
        pairs = [(a, b) for a, b, _ in json.loads(arrays["texts"].tobytes())]
        yield (
            peer,
            float(arrays["processor"]),
            {(min(pair), max(pair)) for pair in pairs} if right is None else set(pairs),
        )


def _named(rows: Rows) -> list[dict[str, str | None]]:
    """Rows whose columns are named by the last part of an address, in letters that SQL takes unquoted."""
    names = {name: re.sub(r"\W+", "_", name.rsplit("/", 1)[-1]) for row in rows for name in row}
    return [{names[name]: value for name, value in row.items()} for row in rows]
