"""wikiextractor and segment_wiki of gensim: plain text of a dump, by their commands, on one core."""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from serving import Arrays, serve, strings

_WIKIEXTRACTOR = "wikiextractor.WikiExtractor {file} -o {folder}/pages --json --processes 1 --quiet"


def wikiextractor(texts: list[str], dump: str) -> Arrays:
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.xml"
        empty.write_text("<mediawiki>\n</mediawiki>\n")
        start, whole = (_run(_WIKIEXTRACTOR.format(file=file, folder=folder)) for file in (empty, dump))
        empty.unlink()
        seconds = whole - start
        files = sorted(path for path in Path(folder, "pages").rglob("*") if path.is_file())
        pages = [json.loads(line)["text"] for path in files for line in path.read_text("utf-8").splitlines()]
    return {"seconds": seconds, **strings([page.replace("\n", "\n\n") for page in pages])}


def segment_wiki(texts: list[str], dump: str) -> Arrays:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pages.json.gz"
        seconds = _run(f"gensim.scripts.segment_wiki -f {dump} -o {out} -w 1 -m 0")
        return {"seconds": seconds, **strings(list(_pages(out)))}


def _pages(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield "\n\n".join(json.loads(line)["section_texts"])


def _run(command: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", *command.split()], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


serve({"wikiextractor": wikiextractor, "segment_wiki": segment_wiki})
