"""goldenmatch without any configuration, or with the one that it makes for its probabilistic way."""

from serving import Arrays, serve, strings, use_cores

use_cores()

import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
from itertools import combinations  # noqa: E402

os.environ |= {"HOME": os.getcwd(), "GOLDENMATCH_AUTOCONFIG_MEMORY": "0"}  # remembers nothing of other runs

import goldenmatch  # noqa: E402
import pyarrow as pa  # noqa: E402
from goldenmatch.core.autoconfig import auto_configure_probabilistic_df  # noqa: E402

Pairs = list[tuple[str, str, float]]


def link(texts: list[str], probabilistic: bool) -> Arrays:
    task = json.loads(texts[0])
    sides = [side for side in (task["left"], task["right"]) if side is not None]
    named = [dict.fromkeys(name for row in side for name in row if name != "id") for side in sides]
    names = [name for name in named[0] if name in named[-1]]
    tables = [pa.table({name: pa.array([row.get(name) or None for row in side], pa.string()) for name in names})
              for side in sides]  # fmt: skip
    ids = [row["id"] for side in sides for row in side]
    began = time.process_time()
    pairs = (_deduplicated if len(tables) == 1 else _matched)(tables, ids, probabilistic)
    return {"seconds": time.process_time() - began, **strings(pairs)}


def _deduplicated(tables: list[pa.Table], ids: list[str], probabilistic: bool) -> Pairs:
    config = auto_configure_probabilistic_df(tables[0]) if probabilistic else None
    found = goldenmatch.dedupe_df(tables[0], config=config)
    said = {(min(a, b), max(a, b)): score for a, b, score in found.scored_pairs}
    return [
        (ids[a], ids[b], said.get((a, b), 0.0))
        for group in found.clusters.values()
        for a, b in combinations(sorted(group["members"]), 2)
    ]


def _matched(tables: list[pa.Table], ids: list[str], probabilistic: bool) -> Pairs:
    config = auto_configure_probabilistic_df(pa.concat_tables(tables)) if probabilistic else None
    found = goldenmatch.match_df(*tables, config=config).matched
    if found is None:
        return []
    ends = [found[f"__{end}_row_id__"].to_pylist() for end in ("target", "ref")]
    return [(ids[a], ids[b], score) for a, b, score in zip(*ends, found["__match_score__"].to_pylist(), strict=True)]


serve({"link": link})
