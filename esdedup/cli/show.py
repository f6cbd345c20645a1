"""Answers as text for a terminal."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import esdedup

_WIDTH = 100
_SHOWN = 10
_FILES = (
    "clusters.jsonl",
    "clusters.parquet",
    "clusters.txt",
    "pairs.jsonl",
    "pairs.parquet",
    "summary.json",
    "cluster-sizes.png",
)


def summary_text(summary: dict[str, Any], out: Path | None, store: Path | str) -> str:
    """Counts, the largest clusters, where the files are and what to type next."""
    parts = [counts_text(summary["counts"], summary["skipped"])]
    largest = list(islice(esdedup.clusters(store=store, limit=_SHOWN), _SHOWN))
    if largest:
        parts.append("\n".join(["Largest clusters:", *(cluster_line(cluster) for cluster in largest)]))
    if out is not None:
        parts.append(f"Files: {', '.join(name for name in _FILES if (out / name).exists())} in {out}/")
    parts.append(f"Next: esdedup clusters --store {store}")
    return "\n\n".join(parts)


def counts_text(counts: dict[str, int], skipped: dict[str, int]) -> str:
    """One line a count."""
    lines = [f"{count:>15,}  {name.replace('_', ' ')}" for name, count in counts.items()]
    if skipped:
        lines.append("skipped: " + ", ".join(f"{reason} {count:,}" for reason, count in skipped.items()))
    return "\n".join(lines)


def cluster_line(cluster: dict[str, Any]) -> str:
    """A cluster in one line: size, weakest similarity, the beginning of its representative."""
    texts = {member["id"]: member["text"] for member in cluster["members"]}
    least = cluster["min_jaccard"]
    head = f"{cluster['size']:>7,} × {'  –  ' if least is None else format(least, '.3f')}  "
    return head + shortened(texts[cluster["representative"]], _WIDTH - len(head))


def cluster_text(cluster: dict[str, Any], members: int = 5) -> str:
    """A cluster with its first members, each distinct text once."""
    least = cluster["min_jaccard"]
    lines = [
        f"{cluster['id']}  {cluster['size']:,} sentences, {cluster['distinct']:,} distinct"
        + ("" if least is None else f", weakest pair {least:.3f}")
    ]
    shown: set[str] = set()
    for member in cluster["members"]:
        if member["text"] in shown:
            continue
        shown.add(member["text"])
        title = f" [{member['title']}]" if member["title"] else ""
        lines.append(f"  {member['id']}{title}  {shortened(member['text'], 240)}")
        if len(shown) == members:
            break
    if cluster["distinct"] > len(shown):
        lines.append(f"  … {cluster['distinct'] - len(shown):,} more")
    return "\n".join(lines)


def shortened(text: str, width: int) -> str:
    """The text in at most `width` characters, control characters shown as spaces."""
    clean = "".join(character if character.isprintable() else " " for character in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"
