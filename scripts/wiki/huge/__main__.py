"""Writes a huge wiki to standard output, as a MediaWiki export.

python -m scripts.wiki.huge --sentences 1000000 | esdedup run - --format wikipedia --out found
python -m scripts.wiki.huge --sentences 1000000 --month 1 | esdedup add - --format wikipedia --store found/store.duckdb
"""

from __future__ import annotations

import argparse
import os
import sys

from scripts.wiki.huge.pages import HugeWiki

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--sentences", type=int, required=True, metavar="N", help="compared sentences, or a few more")
parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the generator, by default 1")
parser.add_argument("--month", type=int, default=0, metavar="M", help="months after the first dump, by default 0")
asked = parser.parse_args()
if asked.sentences < 1 or asked.month < 0:
    parser.error("--sentences must be 1 or more, --month 0 or more")
try:
    for piece in HugeWiki(asked.sentences, asked.seed, asked.month).export():
        sys.stdout.buffer.write(piece)
except BrokenPipeError:  # who reads it has ended, and says why
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)
