"""Checks that results have not changed: runs one set of jobs and hashes every file and answer that comes out.

    python scripts/same_results.py record OUT.json                 # with this Python's esdedup
    python scripts/same_results.py compare BEFORE.json AFTER.json   # exit code 1 where they differ

`record` takes `--store http://HOST:PORT` to run the jobs on a server, `--jobs NAME,NAME` for some of them, and `--data`
for the folder of real data. To compare two versions, record each with the Python it is installed in. `compare` also
says where a job's largest process needed more memory than before. The job `spark` needs Java.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

DATA = Path(__file__).parents[1].parent / "shared" / "data"
LEFT_OUT = {".png", ".svg", ".duckdb", ".wal", ".html"}  # pictures, stores; of the report see `report_data`
MEASURED = ("seconds", "peak_memory_mb", "version", "disk_bytes")

MORE = 1.05
"""From which ratio on `compare` says that a job needed more memory."""

RENAMED: dict[str, str] = {}
"""Fields of JSON that have another name now, from old to new; CHANGELOG.md lists them."""

ANSWERS = {
    "clusters": "clusters --limit 1000000 --json",
    "drift": "drift --json",
    "templates": "templates --json",
    "lineage": "lineage --json",
    "overlap": "overlap --limit 100000 --json",
    "sources": "overlap --by sources --json",
    "status": "status --json",
}


class Jobs:
    """Runs commands in one folder, and keeps the hash of all that they write and print."""

    def __init__(self, folder: Path, data: Path, server: str | None) -> None:
        self.folder, self.data, self.server = folder, data, server
        self.hashes: dict[str, str] = {}
        self.memory: dict[str, int] = defaultdict(int)
        """Kilobytes of the largest process of each job."""
        self.job = ""
        self.prefix = f"same-{uuid.uuid4().hex[:8]}"

    def store(self, job: str) -> str:
        """The address of a job's store."""
        return f"{self.server}/{self.prefix}-{job}" if self.server else f"{job}.duckdb"

    def esdedup(self, line: str, *paths: Path | str) -> str:
        """Run one command; what it prints."""
        words = [" " if word == "SPACE" else word.format(*map(str, paths)) for word in line.split()]
        code, printed, errors = self.process("-m", "esdedup", *words)
        if code:
            raise SystemExit(f"esdedup {' '.join(words)}: exit {code}\n{errors}")
        return printed

    def process(self, *words: str) -> tuple[int, str, str]:
        """Run Python; its exit code, what it prints, and what it prints as errors."""
        with (self.folder / "printed").open("wb") as printed, (self.folder / "errors").open("wb") as errors:
            begun = subprocess.Popen([sys.executable, *words], cwd=self.folder, stdout=printed, stderr=errors)
            _, state, used = os.wait4(begun.pid, 0)
            begun.returncode = os.waitstatus_to_exitcode(state)
        self.memory[self.job] = max(self.memory[self.job], used.ru_maxrss)
        told = [(self.folder / name).read_text("utf-8") for name in ("printed", "errors")]
        return begun.returncode, told[0], told[1]

    def schema(self, job: str) -> None:
        """Keep the tables of a job's store, if it is a file."""
        if not self.server:
            with duckdb.connect(str(self.folder / self.store(job)), read_only=True) as db:
                tables = db.execute("SELECT sql FROM duckdb_tables() ORDER BY table_name").fetchall()
            self.keep(f"{job}: schema", compact(tables).encode())

    def answers(self, job: str, names: Iterable[str]) -> None:
        """Keep what questions to a job's store answer."""
        for name in names:
            printed = self.esdedup(f"{ANSWERS[name]} --store {self.store(job)}")
            lines = [self.plain(json.loads(line)) for line in printed.splitlines()]
            self.keep(f"{job}: {name}", "\n".join(map(compact, lines)).encode())

    def files(self, job: str, folder: str) -> None:
        """Keep every file of a folder."""
        for path in sorted((self.folder / folder).rglob("*")):
            if path.name == "report.html":
                self.keep(f"{job}: {path.name}", report_data(path.read_text("utf-8")))
            elif path.is_file() and path.suffix not in LEFT_OUT:
                content = path.read_bytes()
                if path.name == "summary.json":
                    content = compact(self.plain(json.loads(content))).encode()
                self.keep(f"{job}: {path.relative_to(self.folder / folder)}", content)

    def plain(self, value: Any) -> Any:
        """JSON without what differs from run to run: times, memory, where the store lies."""
        if isinstance(value, dict):
            held = {RENAMED.get(name, name): self.plain(item) for name, item in value.items() if name not in MEASURED}
            held.pop("store", None)
            return held
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        return value

    def keep(self, name: str, content: bytes) -> None:
        """Keep the hash of one output."""
        self.hashes[name] = hashlib.sha256(content).hexdigest()


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def report_data(page: str) -> bytes:
    """The cluster ids and the texts of sentences of a report: what stays the same where its words change."""
    ids = re.findall(r"\b[0-9a-f]{16}\b", page)
    return "\n".join(ids).encode()


def run_and_ask(options: str, answers: Iterable[str], *sources: str) -> Callable[[Jobs, str], None]:
    """A job: `run` on sources of the shared data, its files, and questions to its store."""

    def job(jobs: Jobs, name: str) -> None:
        paths = [jobs.data / source for source in sources]
        places = " ".join(f"{{{index}}}" for index in range(len(paths)))
        jobs.esdedup(f"run {places} --out {name} --store {jobs.store(name)} {options}", *paths)
        jobs.files(name, name)
        jobs.answers(name, answers)
        jobs.schema(name)

    return job


def change(jobs: Jobs, name: str) -> None:
    """`run`, then `add` of a later dump, then `remove`."""
    wiki, store = jobs.data / "wiki", jobs.store(name)
    jobs.esdedup(f"run {{0}} --out {name}-run --store {store} --source-name head", wiki / "enwiki-head-a.xml")
    jobs.files(f"{name} run", f"{name}-run")
    added = jobs.esdedup(
        f"add {{0}} --out {name}-add --store {store} --source-name head --json", wiki / "enwiki-head-b.xml"
    )
    jobs.keep(f"{name} add: answer", compact(jobs.plain(json.loads(added))).encode())
    jobs.files(f"{name} add", f"{name}-add")
    removed = jobs.esdedup(f"remove head/12 head/25 head/39 --store {store} --json")
    jobs.keep(f"{name} remove: answer", compact(jobs.plain(json.loads(removed))).encode())
    jobs.answers(name, ANSWERS)
    jobs.esdedup(f"scan --out {name}-scan --store {store} --linkage star --jaccard 0.7")
    jobs.files(f"{name} scan", f"{name}-scan")


def rows(data: Path) -> list[tuple[str, str]]:
    """Some thousand records with copies among them."""
    with gzip.open(data / "sentences" / "debian-descriptions.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").split("\t", 1) for line in file]
    # ids that are distinct, as the columns of a package's sentences are not
    return [(f"{package}-{number}", text) for number, (package, text) in enumerate(lines[::7])]


def write_formats(folder: Path, data: Path) -> dict[str, str]:
    """The records in each format and some compressions, and the options that read them."""
    held = rows(data)
    folder.mkdir()
    tsv = "".join(f"{key}\t{text}\n" for key, text in held).encode()
    jsonl = "".join(
        json.dumps({"id": key, "n": place, "text": text}, ensure_ascii=False) + "\n"
        for place, (key, text) in enumerate(held)
    ).encode()
    (folder / "rows.tsv.gz").write_bytes(gzip.compress(tsv, mtime=0))
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "kind", "text"])
        writer.writerows((key, "a, b", text) for key, text in held)
    (folder / "rows.jsonl.zst").write_bytes(zstandard.compress(jsonl))
    (folder / "rows.jsonl.xz").write_bytes(lzma.compress(jsonl))
    table = pa.table({"id": [key for key, _ in held], "text": [text for _, text in held], "n": range(len(held))})
    pq.write_table(table, folder / "rows.parquet", row_group_size=5_000)
    (folder / "rows.lines.bz2").write_bytes(bz2.compress("".join(f"{text}\n" for _, text in held).encode()))
    (folder / "rows.txt").write_text(" ".join(text for _, text in held[:3000]), "utf-8")
    return {
        "rows.tsv.gz": "--unit record",
        "rows.csv": "--unit record --text-column text",
        "rows.jsonl.zst": "--unit record --keep longest",
        "rows.jsonl.xz": "--unit sentence --annotate",
        "rows.parquet": "--unit record",
        "rows.lines.bz2": "--unit record --format lines",
        "rows.txt": "--unit sentence --keep none",
    }


def dedupe(jobs: Jobs, name: str) -> None:
    """`dedupe` of each format."""
    files = write_formats(jobs.folder / "formats", jobs.data)
    for file, options in files.items():
        label = f"{name} {file}"
        out = f"{name}-{file}"
        jobs.esdedup(f"dedupe formats/{file} -o {out} --store {jobs.store(f'{name}-{file}')} {options}")
        jobs.files(label, out)
    out = f"{name}-wiki"
    wiki = jobs.data / "wiki" / "enwiki-head-a.xml"
    jobs.esdedup(
        f"dedupe {{0}} formats/rows.tsv.gz -o {out} --store {jobs.store(out)} --kinds identical --unit sentence", wiki
    )
    jobs.files(f"{name} wiki", out)


WRONG = """
run
run nowhere.jsonl --out x
run {0} --out x --jacard 0.9
run {0} --out x --jaccard 2
run {0} --out x --verify cosine
run {0} --out x --format nothing
run {0} --out x --preset nothing
run {0} --out x --config nowhere.toml
run {0} --out x --preset records-cosine --jaccard 0.9
dedupe {0}
dedupe {0} -o x --keep last
dedupe {0} -o -
dedupe {0} -o x --against nowhere.jsonl
index {0}
index {0} --store nowhere.txt
add {0} --store nowhere.duckdb --complete --limit 3
scan --store nowhere.duckdb
remove 1 --store nowhere.duckdb
status --store nowhere.duckdb
status --store http://127.0.0.1:9/x
clusters --store nowhere.duckdb
clusters --store nowhere.duckdb --sort age
similar --store nowhere.duckdb
similar text --store nowhere.duckdb
explain 1 2 --store nowhere.duckdb
drop --store nowhere.duckdb
report --store nowhere.duckdb --out x
plan --budget 3
evaluate --store nowhere.duckdb
extract nowhere.xml -o -
statuss
"""
"""Commands that fail, one a line."""


def errors(jobs: Jobs, name: str) -> None:
    """Exit codes and messages of commands that cannot be done."""
    source = jobs.folder / "rows.jsonl"
    source.write_text("".join(compact({"id": str(n), "text": f"This is the text {n}."}) + "\n" for n in range(9)))
    for line in filter(None, WRONG.splitlines()):
        code, printed, said = jobs.process("-m", "esdedup", *line.format("rows.jsonl").split())
        words = (printed + said).replace(str(jobs.folder), "DIR")
        jobs.keep(f"{name} {line}", f"{code}\n{words}".encode())


PAGES = (
    "/", "/api", "/overview", "/clusters", "/contradictions", "/templates", "/articles", "/api/overview",
    "/api/clusters?sort=jaccard", "/api/contradictions", "/api/templates", "/api/articles", "/api/clusters?limit=5",
    "/api/nothing", "/clusters/0", "/openapi.json",
)  # fmt: skip


def page(jobs: Jobs, name: str) -> None:
    """What the page and its API answer, and the cluster and template that stand first."""
    jobs.esdedup(f"run {{0}} --out {name} --store {jobs.store(name)}", jobs.data / ARTICLES)
    words = [sys.executable, "-m", "esdedup", "serve", "--store", jobs.store(name), "--port", "0"]
    with subprocess.Popen(words, cwd=jobs.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as site:
        try:
            assert site.stderr is not None
            address = next(found[0] for line in site.stderr if (found := re.search(r"http://[0-9.:]+", line)))
            firsts = [
                f"/api/{kind}/{first['id']}{more}"
                for kind in ("clusters", "templates")
                for first in json.loads(fetched(f"{address}/api/{kind}")[1])["clusters"][:1]
                for more in ("", "/export")
            ]
            for path in [*PAGES, *firsts]:
                code, content = fetched(address + path)
                jobs.keep(f"{name} {path}", f"{code}\n{steady(content)}".encode())
            for route, body in (("check", "text"), ("text", "text")):
                for text in ("The old bridge was built in 1790.", "", "a"):
                    code, content = fetched(f"{address}/api/{route}", compact({body: text}).encode())
                    jobs.keep(f"{name} {route} {text}", f"{code}\n{steady(content)}".encode())
        finally:
            site.terminate()


def fetched(url: str, body: bytes | None = None) -> tuple[int, str]:
    """The status and content of an answer."""
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def steady(content: str) -> str:
    """A page without what differs from run to run: names of files, sizes, times, keys."""
    content = re.sub(r"/assets/[0-9a-zA-Z_-]+/", "/assets/", content)
    content = re.sub(r'"(seconds|peak_memory_mb|disk_bytes|version|store)":[^,}]+', "", content)
    return re.sub(r"/tmp/\S+|[0-9.,]+ (MB|MiB|s|ms|seconds)\b", "…", content)


PYTHON = """
import json, sys
import esdedup, pandas as pd, pyarrow as pa, polars as pl
data = sys.argv[1]
rows = [{"id": n, "text": f"The mill number {n // 3} was built here in the year {1700 + n // 2}."} for n in range(60)]
def told(name, value):
    print(json.dumps([name, value], default=str, sort_keys=True))
for name, table in {
    "dicts": rows, "pandas": pd.DataFrame(rows), "polars": pl.DataFrame(rows), "arrow": pa.Table.from_pylist(rows),
    "strings": [row["text"] for row in rows],
}.items():
    done = esdedup.dedupe(table, quiet=True)
    told(name, [type(done.kept).__name__, str(done.kept), done.records, repr(done)])
found = esdedup.cluster_texts([row["text"] for row in rows])
told("cluster_texts", [getattr(found, name).tolist() for name in ("label",)])
told("run", repr(dict(esdedup.run(pa.Table.from_pylist(rows), out="python", quiet=True).counts)))
store = "python/store.duckdb"
for name in ("clusters", "templates", "drift", "lineage", "overlap"):
    answer = getattr(esdedup, name)(store=store)
    rows_of = [answer] if hasattr(answer, "to_dict") else answer
    told(name, [row.to_dict() if hasattr(row, "to_dict") else repr(row) for row in rows_of])
told("similar", esdedup.similar(rows[0]["text"], store=store).to_dicts())
told("suggest", esdedup.suggest("The mill", store=store).to_dicts())
told("explain", esdedup.explain("0", "1", store=store).to_dict())
told("extract", [page.to_dict() for page in esdedup.extract(data + "/wiki/enwiki-head-a.xml", quiet=True)][:50])
told("split", list(esdedup.split("One sentence. Another one.")))
"""


def python(jobs: Jobs, name: str) -> None:
    """What the functions answer for tables in memory and for a store."""
    code, printed, said = jobs.process("-c", PYTHON, str(jobs.data))
    if code:
        raise SystemExit(said)
    for line in printed.splitlines():
        label, value = json.loads(line)
        jobs.keep(f"{name} {label}", compact(jobs.plain(value)).encode())


def spark(jobs: Jobs, name: str) -> None:
    """`run` and `dedupe` on Spark."""
    jobs.esdedup(f"run {{0}} --out {name} --engine local[2]", jobs.data / "wiki" / "enwiki-head-a.xml")
    jobs.files(name, name)
    for answer in ("clusters", "status"):
        printed = jobs.esdedup(f"{ANSWERS[answer]} --store {name}/lake")
        lines = [jobs.plain(json.loads(line)) for line in printed.splitlines()]
        jobs.keep(f"{name}: {answer}", "\n".join(map(compact, lines)).encode())


RECORDS = "--unit record --min-chars 75 --max-chars 600"
RESTAURANTS = ("restaurant/fodors.csv", "restaurant/zagats.csv")
ARTICLES = "wiki/enwiki-106-articles.xml.bz2"
NEWS = "nearup/articles_1000.train"
EVERY: dict[str, Callable[[Jobs, str], None]] = {
    "articles": run_and_ask("", ANSWERS, ARTICLES),
    "heads": run_and_ask("", ANSWERS, "wiki/enwiki-head-a.xml", "wiki/enwiki-head-b.xml"),
    "history": run_and_ask("--revisions all", ANSWERS, "wiki/enwiki-anarchism-history-1000.xml.bz2"),
    "debian": run_and_ask(RECORDS, ("status",), "sentences/debian-descriptions.tsv.gz"),
    "exact": run_and_ask("--exact --jaccard 0.7", ("status",), ARTICLES),
    "star": run_and_ask("--linkage star --across documents --no-kinds --table parquet", ("status",), ARTICLES),
    "documents": run_and_ask(
        "--format tsv --separator SPACE --preset documents", ANSWERS, "nearup/articles_1000.train"
    ),
    "records": run_and_ask("--text-column name,addr,city --preset records-cosine", ANSWERS, *RESTAURANTS),
    "solr": run_and_ask("--text-column name,addr,city --preset solr", ANSWERS, *RESTAURANTS),
    "signatures": run_and_ask("--text-column name,addr,city --preset solr --query-by signature", (), *RESTAURANTS),
    "weissman": run_and_ask("--preset weissman", ("status",), ARTICLES),
    "projection": run_and_ask("--preset random-projection", ("status",), ARTICLES),
    "lsh": run_and_ask("--format tsv --separator SPACE --preset lsh", ("status",), NEWS),
    "change": change,
    "dedupe": dedupe,
    "errors": errors,
    "page": page,
    "python": python,
    "spark": spark,
}


def record(out: Path, data: Path, server: str | None, names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        jobs = Jobs(Path(folder), data, server)
        for name in names:
            begun = time.perf_counter()
            jobs.job = name
            EVERY[name](jobs, name)
            print(f"{name}: {time.perf_counter() - begun:.1f} s, {len(jobs.hashes)} outputs so far", flush=True)
            told = {"hashes": jobs.hashes, "memory": jobs.memory}
            out.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def compare(before: Path, after: Path) -> int:
    old, new = (json.loads(path.read_text("utf-8")) for path in (before, after))
    for job, most in old["memory"].items():
        if new["memory"].get(job, 0) > most * MORE:
            print(f"more memory: {job}: {new['memory'][job] / 1024:.0f} MB, {most / 1024:.0f} before")
    one, two = old["hashes"], new["hashes"]
    differ = [name for name in one if name in two and one[name] != two[name]]
    missing = sorted(one.keys() ^ two.keys())
    for name in differ:
        print(f"differs: {name}")
    for name in missing:
        print(f"only in {before if name in one else after}: {name}")
    print(
        f"{len(one.keys() & two.keys()) - len(differ)} outputs are equal, {len(differ)} differ, {len(missing)} missing"
    )
    return 1 if differ or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--data", type=Path, default=Path(os.environ.get("ESDEDUP_TEST_DATA", DATA)))
    recording.add_argument("--store", dest="server")
    recording.add_argument("--jobs", default=",".join(EVERY))
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = parser.parse_args()
    if asked.verb == "compare":
        return compare(asked.before, asked.after)
    record(asked.out, asked.data.absolute(), asked.server, asked.jobs.split(","))
    return 0


if __name__ == "__main__":
    sys.exit(main())
