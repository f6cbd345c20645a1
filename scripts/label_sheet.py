"""Write clusters of real dumps for people who label them, without what esdedup says of them.

    python -m scripts.label_sheet ../shared/data FOLDER

FOLDER/sheet.jsonl has one cluster a line, in an order that tells nothing: an id, the corpus, and up to six of its texts
with page, document, revision and time. Labels go to scripts/benchmarks/truth.tsv, which holds no text of others.
"""

from __future__ import annotations

import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from scripts.benchmarks.truth_corpora import CORPORA, HALVES, clustered, hashes_of

SHOWN = 6
"""Texts of a cluster that are shown: the representative, then those with the smallest hashes."""

OF_EACH = 5
"""Clusters of each stratum of each half of a corpus."""


def main(data: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for corpus in CORPORA for half in HALVES for row in sampled(data, folder, corpus, half)]
    rows.sort(key=lambda row: zlib.crc32(row["id"].encode()))
    (folder / "sheet.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    print(f"{len(rows)} clusters in {folder / 'sheet.jsonl'}")


def sampled(data: Path, folder: Path, corpus: str, half: str) -> Iterator[dict[str, Any]]:
    """Take clusters of every stratum, by a hash of their id."""
    strata: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for cluster in clustered(data, folder, corpus, half, kinds=False).clusters():
        strata[stratum(cluster)].append(cluster)
    for some in strata.values():
        some.sort(key=lambda cluster: zlib.crc32(cluster["id"].encode()))
        for cluster in some[:OF_EACH]:
            texts = shown(cluster)
            a, b, *_ = hashes_of([text["text"] for text in texts])
            yield {"id": f"{corpus}-{a}-{b}", "half": half, "distinct": cluster["distinct"], "texts": texts}


def stratum(cluster: dict[str, Any]) -> tuple[Any, ...]:
    """What is known of a cluster without judging it: where its texts stand, whether figures differ, and its size."""
    members = cluster["members"]
    where = {(member["document"], member["revision"]) for member in members}
    place = "one revision" if len(where) == 1 else "one page" if len(titles(members)) == 1 else "pages"
    figures = {"".join(letter for letter in member["text"] if letter.isdigit()) for member in members}
    return place, len(figures) > 1, min(cluster["distinct"], 4) > 3


def titles(members: Iterable[dict[str, Any]]) -> set[str]:
    return {member["title"] or member["document"] for member in members}


def shown(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """The texts that are shown, each with up to three of its places."""
    places: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for member in cluster["members"]:
        places[member["text"]].append(
            {name: member[name] for name in ("title", "document", "source", "position", "revision", "timestamp")}
        )
    face = next(member["text"] for member in cluster["members"] if member["id"] == cluster["representative"])
    hashed = dict(zip(places, hashes_of(list(places)), strict=True))
    order = sorted(places, key=lambda text: (text != face, hashed[text]))[:SHOWN]
    return [{"text": text, "count": len(places[text]), "places": places[text][:3]} for text in order]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
