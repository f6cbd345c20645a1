"""Write clusters of near-duplicates, in which it is known which copy to keep: rows.jsonl and truth.jsonl.

python -m scripts.survivors --out FOLDER --data ../shared/data
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.survivors import clusters, part


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"wrote {path}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
parser.add_argument("--clusters", type=int, default=400, metavar="N", help="number of clusters, by default 400")
parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the generator, by default 1")
parser.add_argument("--data", type=Path, metavar="FOLDER", help="real prose; by default, all texts are generated")
asked = parser.parse_args()
made = clusters(asked.clusters, asked.seed, asked.data)
rows = [{key: value for key, value in asdict(copy).items() if key != "damage"} for each in made for copy in each.copies]
random.Random(f"rows {asked.seed}").shuffle(rows)
asked.out.mkdir(parents=True, exist_ok=True)
_write(asked.out / "rows.jsonl", rows)
_write(
    asked.out / "truth.jsonl",
    (
        {
            "name": each.name, "kind": each.kind, "policy": each.policy, "best": sorted(each.best),
            "damage": {copy.id: copy.damage for copy in each.copies}, "part": part(each.name),
            "language": each.language, "original": each.original,
        }
        for each in made
    ),
)  # fmt: skip
