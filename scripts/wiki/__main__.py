"""Makes a wiki with planted clusters of every kind, and the planted clusters beside it, in FILE.truth.jsonl.

python -m scripts.wiki --articles 150000 --seed 1 -o large.xml.bz2     # also .xml, .xml.gz
python -m scripts.wiki --samples                                       # makes esdedup/demo/data anew
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.wiki.shipped import write_samples
from scripts.wiki.writing import generate_files, truth_beside

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--articles", type=int, default=200, metavar="N", help="number of articles, by default 200")
parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the generator, by default 1")
what = parser.add_mutually_exclusive_group(required=True)
what.add_argument("-o", "--out", type=Path, metavar="FILE")
what.add_argument("--samples", action="store_true")
asked = parser.parse_args()
if asked.articles < 1:
    parser.error(f"--articles {asked.articles}: allowed: 1 or more")
if asked.samples:
    write_samples()
else:
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    generate_files(asked.articles, asked.seed, asked.out)
    print(f"wrote {asked.out} and {truth_beside(asked.out)}")
