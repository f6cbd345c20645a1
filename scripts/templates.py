"""Counts which templates stand inside the sentences of dumps, so that those that are missing in inline.toml are seen.

python scripts/templates.py DUMP… [--most N] [--known]

A template stands inside a sentence if a word, or an opening bracket, precedes it in its line. One line for each name,
the most frequent first: how often, in how many of the dumps, the name, and one of its uses.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from esdedup.columns.records import Skips
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from esdedup.text.folded_names import fold
from esdedup.text.wikitext.rules import Names

_USE = re.compile(r"(?:(?<=[\w,(;–-] )|(?<=[(«„“]))\{\{\s*([^|{}\n:<#]{1,60}?)\s*[|}][^{}\n]{0,60}")
_BEHIND = 40  # characters of the line that are shown before a use


def uses(dump: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each template that stands inside a sentence, the use, and whether it is known in this wiki."""
    for source in discover([str(dump)], Reading()):
        with DocumentStream(source, Skips()) as stream:
            for batch in stream:
                names = Names(site=stream.site)
                for page in batch["text"].to_pylist():
                    for match in _USE.finditer(page):
                        begin = max(page.rfind("\n", 0, match.start()) + 1, match.start() - _BEHIND)
                        yield match[1], page[begin : match.end()], names.patterns(match[1]) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dumps", nargs="+", type=Path, metavar="DUMP")
    parser.add_argument("--most", type=int, default=50, metavar="N", help="how many names to print (default: 50)")
    parser.add_argument("--known", action="store_true", help="also those that inline.toml has")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    dumps: dict[str, set[Path]] = defaultdict(set)
    examples: dict[str, str] = {}
    known = total = 0
    for dump in asked.dumps:
        for name, use, is_known in uses(dump):
            total += 1
            if is_known:
                known += 1
                if not asked.known:
                    continue
            folded = fold(name)
            counts[folded] += 1
            dumps[folded].add(dump)
            examples.setdefault(folded, use)
    print(f"{total:,} uses inside sentences, {known:,} of templates that are known")
    for name, count in counts.most_common(asked.most):
        print(f"{count:7,} {len(dumps[name]):3} {name:30} {examples[name]!r}")


if __name__ == "__main__":
    main()
