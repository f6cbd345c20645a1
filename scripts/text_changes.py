"""Compare the sentences that this checkout and another one read from dumps.

    git worktree add --detach /tmp/before COMMIT
    python scripts/text_changes.py /tmp/before DUMP… [--sample N]

For each document, the sentences that only one of them has are printed, with - before those of the other checkout. The
counts of each dump go to standard error. `--sample` prints only so many changed documents of a dump, spread over it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

_FINGERPRINTS = re.compile(r"[\U000e0100-\U000e01ef]")
"""Of holes: they may change without a change that a reader sees."""


def sentences(checkout: Path, dump: str) -> dict[str, Counter[str]]:
    """Return the sentences of each document of a dump, as a checkout reads them."""
    command = [
        sys.executable,
        "-m",
        "esdedup",
        "extract",
        dump,
        "--sentences",
        "--min-chars",
        "0",
        "--keep-going",
        "-o",
        "-",
    ]
    run = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(checkout)}, cwd=checkout, stdout=subprocess.PIPE, check=False
    )
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in run.stdout.decode().splitlines():
        row = json.loads(line)
        found[f"{row['document']} {row['title']}"][_FINGERPRINTS.sub("", row["text"])] += 1
    return found


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path, help="another checkout, such as a git worktree")
    parser.add_argument("dumps", nargs="+")
    parser.add_argument("--sample", type=int, help="print so many changed documents of each dump")
    given = parser.parse_args()
    for dump in given.dumps:
        path = str(Path(dump).resolve())
        before, after = sentences(given.before, path), sentences(Path(__file__).resolve().parents[1], path)
        changed = [name for name in {**before, **after} if before[name] != after[name]]
        gone = sum((before[name] - after[name]).total() for name in changed)
        new = sum((after[name] - before[name]).total() for name in changed)
        step = max(1, len(changed) // given.sample) if given.sample else 1
        for name in changed[::step]:
            print(f"# {dump}: {name}")
            for sign, side in (("-", before[name] - after[name]), ("+", after[name] - before[name])):
                for text in side.elements():
                    print(sign, text)
        total = sum(counts.total() for counts in before.values())
        print(
            f"{dump}: {total:,} sentences, {gone:,} gone, {new:,} new, in {len(changed):,} documents", file=sys.stderr
        )


if __name__ == "__main__":
    main()
