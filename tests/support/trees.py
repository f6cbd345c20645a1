"""Random trees of sources, and whether what `dedupe` wrote of one comes from what it read, record by record.

Run it as `python -m tests.support.trees --trees 2000 --seed 1`; it prints what happened, and stops at the first fault.
"""

from __future__ import annotations

import argparse
import bz2
import collections
import csv
import gzip
import io
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import esdedup
from esdedup.errors import EsdedupError, OutLockedError, UsageError
from esdedup.formats.locations import discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.rewrite import output_names
from esdedup.jobs import indexing, rewriting
from tests.support.corpus import corpus
from tests.support.killed import KilledError

POOL = corpus(4711, 60)
PACK: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".zst": (zstandard.compress, lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
}
NAMES = ("a", "b", "part", "Part", "001", "drops", "x.y")
Row = tuple[str, str]
NOTE = "esdedup"


# -- sources ------------------------------------------------------------------------------------------------


def encoded(kind: str, rows: list[Row]) -> bytes:
    """A source of some format that holds these ids and texts."""
    objects = [{"id": key, "text": text} for key, text in rows]
    if kind == "json":
        return json.dumps(objects, indent=1).encode()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in objects).encode()
    if kind == "tsv":
        return "".join(f"{key}\t{text}\n" for key, text in rows).encode()
    if kind == "csv":
        lines = io.StringIO()
        csv.writer(lines).writerows([("id", "text"), *rows])
        return lines.getvalue().encode()
    if kind == "txt":
        return rows[0][1].encode()
    table = pa.table({"id": [key for key, _ in rows], "text": [text for _, text in rows]}, schema=SCHEMA)
    sink = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, sink, row_group_size=3)
    else:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string_view())])
KINDS = ("jsonl", "jsonl", "tsv", "csv", "txt", "txt", "json", "parquet", "arrow")


def decoded(kind: str, data: bytes) -> list[Row]:
    """The ids and texts of a source or of what was written of it, without annotations."""
    if kind == "json":
        return [(row["id"], row["text"]) for row in json.loads(data)]
    if kind == "jsonl":
        return [(row["id"], row["text"]) for row in map(json.loads, data.splitlines())]
    if kind == "tsv":
        return [(row[0], row[1]) for row in (line.split("\t") for line in data.decode().splitlines())]
    if kind == "csv":
        return [(row[0], row[1]) for row in list(csv.reader(io.StringIO(data.decode())))[1:]]
    if kind == "txt":
        return [("", data.decode())]
    table = pq.read_table(io.BytesIO(data)) if kind == "parquet" else pa.ipc.open_stream(data).read_all()
    return list(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))


class Tree:
    """Folders of sources, some with the same names."""

    def __init__(self, folder: Path, source: random.Random) -> None:
        self.folder = folder
        self._random = source
        self._ids = 0
        kinds = source.sample(KINDS, source.randint(1, 3))
        for _ in range(source.randint(1, 6)):
            self.add(source.choice(kinds))

    def rows(self, count: int) -> list[Row]:
        """New records, of few texts."""
        self._ids += count
        return [(f"r{self._ids - at}", self._random.choice(POOL)) for at in range(count)]

    def add(self, kind: str) -> None:
        """One more source."""
        inside = self.folder.joinpath(*self._random.choices("pqr", k=self._random.randint(0, 2)))
        pack = self._random.choice(list(PACK))
        path = inside / f"{self._random.choice(NAMES)}.{kind}{pack}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PACK[pack][0](encoded(kind, self.rows(1 if kind == "txt" else self._random.randint(1, 12)))))

    def files(self) -> list[Path]:
        """All sources."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def change(self) -> str:
        """Change one source, and say how."""
        files = self.files()
        if not files:
            return "nothing"
        path = self._random.choice(files)
        how = self._random.choice(["replace", "same", "cut", "grow", "delete"])
        kind, pack = kind_of(path)
        old = path.read_bytes()
        if how == "delete":
            path.unlink()
        elif how == "cut":
            path.write_bytes(old[: self._random.randrange(len(old))])
        elif how == "grow":
            path.write_bytes(old + PACK[pack][0](encoded(kind, self.rows(1))))
        else:
            count = len(decoded(kind, PACK[pack][1](old)))
            count = count if how == "same" or kind == "txt" else self._random.randint(1, 12)
            new = path.with_name(".new")
            new.write_bytes(PACK[pack][0](encoded(kind, self.rows(count))))
            new.replace(path)
        return f"{how} {path.relative_to(self.folder)}"


def kind_of(path: Path) -> tuple[str, str]:
    """The format and the compression of a source."""
    pack = path.suffix if path.suffix in PACK else ""
    return path.name.removesuffix(pack).rpartition(".")[2], pack


def records(path: Path) -> list[Row]:
    kind, pack = kind_of(path)
    return decoded(kind, PACK[pack][1](path.read_bytes()))


# -- what is right ------------------------------------------------------------------------------------------


def visible(folder: Path) -> dict[str, bytes]:
    """The files that a person sees in a folder of results, but for the store."""
    found = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and path.suffix != ".duckdb"
    }


def faults(arguments: list[Path], out: dict[str, bytes], how: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the results of a tree, as it is now."""
    sources = discover([str(path) for path in arguments], Reading.of())
    names = output_names(sources)
    if len(set(names)) < len(names):
        yield f"outputs with several owners: {names}"
    drops = [json.loads(line) for line in out.get("drops.jsonl", b"").splitlines()]
    if extra := out.keys() - {*names, "drops.jsonl"}:
        yield f"files of nobody: {extra}"
    known = {text for path in how["against"] for _, text in records(path)}
    dropped = collections.Counter(drop["id"].rpartition("/")[2] for drop in drops)
    kept_texts: collections.Counter[str] = collections.Counter()
    lost_texts: list[str] = []
    for source, name in zip(sources, names, strict=True):
        assert source.path is not None
        kind, pack = kind_of(source.path)
        read, written = records(source.path), []
        if name in out:
            written = decoded(kind, PACK[pack][1](out[name]))
        if how["annotate"]:
            if written != read:
                yield f"{name}: annotated records differ"
            continue
        if kind == "txt":
            lost_texts += [] if written else [read[0][1]]
            if written and written != read:
                yield f"{name}: another text"
        else:
            left = [row for row in read if not dropped[row[0]]]
            if written != left:
                yield f"{name}: {len(written)} records written, {len(left)} of {len(read)} should be"
            lost_texts += [text for key, text in read if dropped[key]]
        kept_texts.update(text for _, text in written)
    if how["annotate"]:
        return
    if len(lost_texts) != len(drops):
        yield f"{len(lost_texts)} records are missing, {len(drops)} are listed"
    if how["keep"] != "none":
        yield from (f"lost: {text[:40]}" for text in lost_texts if text not in kept_texts and text not in known)
        yield from (f"still there: {text[:40]}" for text, count in kept_texts.items() if count > 1 or text in known)


# -- runs ---------------------------------------------------------------------------------------------------


@contextmanager
def at_a_moment(number: int, event: Callable[[], None]) -> Iterator[None]:
    """Let something happen at one of the moments of a run: before or after a source is read or written."""
    left = [number]

    def around(function: Any) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            for when in ("before", "after"):
                left[0] -= 1
                if left[0] == 0:
                    event()
                if when == "before":
                    done = function(*arguments, **options)
            return done

        return called

    with (
        mock.patch.object(indexing._Loader, "_take_in", around(indexing._Loader._take_in)),
        mock.patch.object(rewriting, "rewrite_source", around(rewriting.rewrite_source)),
        mock.patch.object(rewriting.Rewriting, "_publish", around(rewriting.Rewriting._publish)),
    ):
        yield


def try_tree(seed: int) -> str:
    """Try one tree. Return what happened. Raise `AssertionError` for a fault."""
    source = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tree-") as name:
        base, out = Path(name), Path(name) / "out"
        tree = Tree(base / "in", source)
        against = []
        if source.random() < 0.3:
            against = [base / "reference.jsonl"]
            against[0].write_bytes(encoded("jsonl", [(f"o{at}", source.choice(POOL)) for at in range(5)]))
        files = tree.files()
        arguments = source.choice([[tree.folder], files, sorted({path.parent for path in files})])
        arguments = [
            path for path in arguments if not any(path != other and other in path.parents for other in arguments)
        ]
        how: dict[str, Any] = {
            "against": against, "keep": source.choice(["first", "longest", "none"]),
            "annotate": source.random() < 0.2 and all(kind_of(path)[0] != "txt" for path in files),
            "unit": "record", "jaccard": 1.0, "fresh": True, "keep_going": source.random() < 0.1,
            "max_chars": 2**20, "quiet": True, "workers": 1,
        }  # fmt: skip
        happened = source.choice(["nothing", "nothing", "change", "change", "kill", "beside", "SIGKILL"])
        if happened == "SIGKILL" and seed % 10:
            happened = "kill"
        first = Path(shutil.copytree(tree.folder, base / "earlier"))
        with suppress(EsdedupError):
            esdedup.dedupe(first, out=out, **{**how, "against": against})
        old = visible(out)
        shutil.rmtree(first)
        told = [happened]

        def run() -> None:
            esdedup.dedupe(arguments, out=out, **how)

        def right(snapshot: Path | None) -> list[str]:
            """The faults of the results, by the sources as they are or, if they fit these better, as they were."""
            try:
                found = list(faults(arguments, visible(out), how))
            except Exception as error:  # a source that was cut, or is gone
                found = [repr(error)]
            if found and snapshot is not None:
                shutil.rmtree(tree.folder)
                shutil.copytree(snapshot, tree.folder)
                found = list(faults(arguments, visible(out), how))
            return found

        snapshot = Path(shutil.copytree(tree.folder, base / "as-it-was"))
        try:
            if happened == "change":
                with at_a_moment(source.randint(1, 14), lambda: told.append(tree.change())):
                    run()
            elif happened == "beside":
                with at_a_moment(source.randint(1, 14), lambda: told.append(beside(arguments, out, how))):
                    run()
            elif happened == "kill":
                with suppress(KilledError), at_a_moment(source.randint(1, 14), killed):
                    run()
                run()
            elif happened == "SIGKILL":
                kill_process(arguments, out, how, source.uniform(0.5, 3.0))
                run()
            else:
                run()
        except EsdedupError as error:
            told.append(type(error).__name__)
            empty = "no text in the sources" in str(error)
            assert empty or happened == "change" or isinstance(error, UsageError), f"seed {seed}: {told}: {error}"
            if not empty and "damaged" not in str(error) and not how["keep_going"]:
                assert visible(out) == old, f"seed {seed}: {told}: {error}: the old results are not there"
                return " ".join(told)
            if not empty:
                return " ".join(told)
        wrong = right(snapshot)
        assert not wrong, f"seed {seed}: {told} {how} {[str(path.relative_to(base)) for path in arguments]}: {wrong}"
        return " ".join(told)


def killed() -> None:
    raise KilledError


def beside(arguments: list[Path], out: Path, how: dict[str, Any]) -> str:
    """A second command that writes to the same folder. It must be told who does."""
    caught: list[BaseException] = []

    def second() -> None:
        try:
            esdedup.dedupe(arguments, out=out, **{**how, "store": out.parent / "second.duckdb"})
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    assert caught, "two commands wrote to one folder"
    assert isinstance(caught[0], OutLockedError), caught
    return "refused"


def kill_process(arguments: list[Path], out: Path, how: dict[str, Any], after: float) -> None:
    given = {**how, "against": [str(path) for path in how["against"]]}
    code = f"import esdedup; esdedup.dedupe({[str(path) for path in arguments]!r}, out={str(out)!r}, **{given!r})"
    code = code.replace("dedupe([", "dedupe(*[")
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    outcomes: collections.Counter[str] = collections.Counter()
    clock = time.monotonic()
    for seed in range(given.seed, given.seed + given.trees):
        told = try_tree(seed).split()
        outcomes[" ".join([told[0], *(word for word in told[1:] if word.isalpha() or word.endswith("Error"))])] += 1
    out = sys.stdout.write
    out(f"{given.trees:,} trees, no fault, {time.monotonic() - clock:.0f} s\n")
    for outcome, count in sorted(outcomes.items()):
        out(f"{count:>7,}  {outcome}\n")


if __name__ == "__main__":
    main()
