"""goldenmatch without any configuration, or with the one that it makes for its probabilistic way."""

from serving import Arrays, serve, strings, use_cores

use_cores()

import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
from itertools import combinations  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

os.environ |= {"HOME": str(Path.cwd()), "GOLDENMATCH_AUTOCONFIG_MEMORY": "0"}  # remembers nothing of other runs

import goldenmatch  # noqa: E402
import pyarrow as pa  # noqa: E402

try:
    import polars  # what match_df is documented for; without it, some tables fail
except ImportError:
    polars = None

Pairs = list[tuple[int, int, float]]


def link(texts: list[str], probabilistic: bool) -> Arrays:
    task = json.loads(texts[0])
    sides = [side for side in (task["left"], task["right"]) if side is not None]
    named = [dict.fromkeys(name for row in side for name in row if name != "id") for side in sides]
    shared = [name for name in named[0] if name in named[-1]]
    tables = [
        pa.table({name: pa.array([row.get(name) or None for row in side], pa.string()) for name in shared})
        for side in sides
    ]
    whole = _frame(pa.concat_tables(tables))
    frames = [_frame(table) for table in tables]
    ids = [row["id"] for side in sides for row in side]
    began = time.process_time()
    config = goldenmatch.auto_configure_probabilistic_df(whole) if probabilistic else None
    if len(frames) == 1:
        found = goldenmatch.dedupe_df(frames[0], config=config)
        groups = found.clusters
    else:
        found = goldenmatch.match_df(*frames, config=config)
    took = time.process_time() - began
    pairs = _within(groups, found.scored_pairs) if len(frames) == 1 else _matched(found.matched)
    return {"seconds": took, "processor": took, **strings([(ids[a], ids[b], said) for a, b, said in pairs])}


def _frame(table: pa.Table) -> Any:
    return table if polars is None else polars.from_arrow(table)


def _within(groups: dict[int, dict[str, Any]], scored: Pairs) -> Pairs:
    """The pairs of each cluster; those that were not scored have no score of their own."""
    said = {(min(a, b), max(a, b)): score for a, b, score in scored}
    pairs = (pair for group in groups.values() for pair in combinations(sorted(group["members"]), 2))
    return [(*pair, said.get(pair, 0.0)) for pair in pairs]


def _matched(found: pa.Table | None) -> Pairs:
    if found is None:
        return []
    columns = ("__target_row_id__", "__ref_row_id__", "__match_score__")
    return list(zip(*(found[column].to_pylist() for column in columns), strict=True))


serve({"link": link})
