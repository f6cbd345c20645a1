"""What is written comes from what was read: sources that change, commands side by side, folders that were used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.errors import (
    EsdedupError,
    OutLockedError,
    SourceChangedError,
    StoreLockedError,
    StoreSourcesError,
    UsageError,
)
from esdedup.jobs import rewriting
from esdedup.output.out_folder import LOCK, out_folder
from esdedup.store.registry import open_store
from tests.support.corpus import corpus
from tests.support.full import few
from tests.support.killed import KilledError
from tests.support.written import lines

TEXTS = corpus(81, 8)


def shard(path: Path, *texts: int) -> Path:
    """A file of records, by the numbers of their texts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps({"id": f"{path.stem}{at}", "text": TEXTS[number]}) + "\n" for at, number in enumerate(texts)]
    path.write_text("".join(rows))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder that a person sees, but for the store."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and path.suffix != ".duckdb"
    }


def replaced(path: Path) -> None:
    """As many records, of other texts."""
    shard(path.with_suffix(".new"), 4, 5, 6).replace(path)


def grown(path: Path) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"id": "new", "text": TEXTS[7]}) + "\n")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def altered(path: Path) -> None:
    """A letter of a record that stays; size and time are as before."""
    stat = path.stat()
    data = path.read_bytes()
    at = data.index(TEXTS[0].encode())
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("options", few([{}, {"annotate": True}, {"keep_going": True}, {"against": True}], 2))
@pytest.mark.parametrize("change", [replaced, grown, cut_short, altered, Path.unlink])
def test_a_source_that_changes_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], Any], options: dict[str, Any]
) -> None:
    first, second = shard(tmp_path / "in" / "a.jsonl", 1, 2), shard(tmp_path / "in" / "b.jsonl", 0, 1, 3)
    out = tmp_path / "out"
    if options.pop("against", False):
        options["against"] = [shard(tmp_path / "reference.jsonl", 2)]
    esdedup.dedupe(first, out=out, **options)
    before = contents(out)
    rewrite = rewriting.rewrite_source

    def changing(source: Any, *arguments: Any, **how: Any) -> Any:
        if source.path == second:
            change(second)
        return rewrite(source, *arguments, **how)

    monkeypatch.setattr(rewriting, "rewrite_source", changing)
    with pytest.raises(EsdedupError, match=r"b\.jsonl: (has changed since it was read|cannot be opened)"):
        esdedup.dedupe(first, second, out=out, fresh=True, **options)
    assert contents(out) == before
    monkeypatch.undo()
    if second.exists():
        second.touch()
        esdedup.dedupe(first, second, out=out, fresh=True, **options)
        esdedup.dedupe(first, second, out=tmp_path / "again", **options)
        assert contents(out) == contents(tmp_path / "again")


def test_a_source_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shard(tmp_path / "a.jsonl", 0, 1)
    from esdedup.jobs import indexing

    take_in = indexing._Loader._take_in

    def changing(*arguments: Any) -> None:
        take_in(*arguments)
        grown(source)

    monkeypatch.setattr(indexing._Loader, "_take_in", changing)
    with pytest.raises(SourceChangedError, match="run again"):
        esdedup.run(source, out=tmp_path / "out")
    monkeypatch.undo()
    assert esdedup.run(source, out=tmp_path / "out", fresh=True).counts["documents"] == 3


def test_a_source_that_changes_between_a_kill_and_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = shard(tmp_path / "a.jsonl", 0, 0, 1), tmp_path / "out"
    monkeypatch.setattr(rewriting, "rewrite_source", lambda *_, **__: (_ for _ in ()).throw(KilledError))
    with pytest.raises(KilledError):
        esdedup.dedupe(source, out=out)
    monkeypatch.undo()
    altered(source)
    with pytest.raises(SourceChangedError, match="touch it, and run again with --fresh"):
        esdedup.dedupe(source, out=out)
    assert contents(out) == {}


def test_records_that_do_not_add_up_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = shard(tmp_path / "a.jsonl", 0, 0, 1), tmp_path / "out"
    rewrite = rewriting.rewrite_source

    def losing(*arguments: Any, **how: Any) -> Any:
        done = rewrite(*arguments, **how)
        done.documents -= 1
        return done

    monkeypatch.setattr(rewriting, "rewrite_source", losing)
    with pytest.raises(EsdedupError, match=r"3 records were read, but 1 would be written and 1 dropped"):
        esdedup.dedupe(source, out=out)
    assert contents(out) == {}


@pytest.mark.parametrize("verb", [esdedup.dedupe, esdedup.run])
def test_one_command_at_a_time_writes_to_a_folder(tmp_path: Path, verb: Callable[..., Any]) -> None:
    source, out = shard(tmp_path / "a.jsonl", 0, 0, 1), tmp_path / "out"
    verb(source, out=out)
    before = contents(out)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with out_folder(out):
        caught: list[BaseException] = []

        def another() -> None:
            try:
                verb(source, out=out, store=tmp_path / "other.duckdb")
            except BaseException as error:
                caught.append(error)

        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        assert isinstance(caught[0], OutLockedError)
        assert "another thread of this process writes to this folder" in str(caught[0])
        told = json.loads((out / LOCK).read_text())
        (out / LOCK).write_text(json.dumps(told | {"pid": 1}))
        with pytest.raises(OutLockedError, match=r"out: process 1 \(since 2"):
            verb(source, out=out, store=tmp_path / "other.duckdb")
        (out / LOCK).write_text(json.dumps(told | {"host": "elsewhere"}))
        with pytest.raises(OutLockedError, match="on elsewhere"):
            verb(source, out=out, store=tmp_path / "other.duckdb")
    caught.clear()
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert contents(out) == before
    assert not (out / LOCK).exists()


def test_two_folders_of_texts_lose_none(tmp_path: Path) -> None:
    for name, number in (("x", 0), ("y", 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "001.txt").write_text(TEXTS[number])
    for out, sources in (("a", [tmp_path / "x", tmp_path / "y"]), ("b", sorted(tmp_path.glob("[xy]/*.txt")))):
        esdedup.dedupe(*sources, out=tmp_path / out)
        assert set(contents(tmp_path / out)) == {"x/001.txt", "y/001.txt", "drops.jsonl"}


def test_another_process_is_told_who_writes(tmp_path: Path) -> None:
    source, out = shard(tmp_path / "a.jsonl", 0), tmp_path / "out"
    code = "import sys, esdedup; esdedup.dedupe(sys.argv[1], out=sys.argv[2])"
    with out_folder(out):
        done = subprocess.run([sys.executable, "-c", code, source, out], capture_output=True, text=True)
    assert done.returncode != 0
    assert f"process {os.getpid()} (since" in done.stderr


def test_one_thread_at_a_time_writes_to_a_store(tmp_path: Path) -> None:
    source, store = shard(tmp_path / "a.jsonl", 0, 0, 1), tmp_path / "store.duckdb"
    esdedup.index(source, store=store, lookup=False)
    with open_store(store, {}):
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        for verb in (esdedup.run, esdedup.dedupe):
            with pytest.raises(StoreLockedError, match="in use by another thread of this process"):
                verb(source, store=store, out=tmp_path / "out")
        assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert not (tmp_path / "out").exists()
    assert esdedup.run(source, store=store, out=tmp_path / "out").counts["documents"] == 3


def test_a_fresh_run_leaves_nothing_of_the_one_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "out"
    shard(tmp_path / "old" / "x" / "1.jsonl", 0)
    shard(tmp_path / "old" / "y" / "1.jsonl", 1)
    esdedup.dedupe(tmp_path / "old", out=out)
    (out / "x" / "mine.txt").write_text("mine")
    (out / "notes.md").write_text("mine")
    new = shard(tmp_path / "new" / "2.jsonl", 2)
    esdedup.dedupe(new, out=out, fresh=True)
    assert set(contents(out)) == {"2.jsonl", "drops.jsonl", "notes.md", "x/mine.txt"}
    assert "files that esdedup did not write there are left as they are: notes.md, x/mine.txt" in caplog.text
    esdedup.run(new, out=out, fresh=True)
    assert not (out / ".esdedup.json").exists(), "the files of a run are known by their names"
    assert {"2.jsonl", "drops.jsonl"}.isdisjoint(contents(out))
    esdedup.dedupe(new, out=out, fresh=True)
    assert set(contents(out)) == {"2.jsonl", "drops.jsonl", "notes.md", "x/mine.txt"}


def test_a_folder_without_a_list_is_known_by_its_store(tmp_path: Path) -> None:
    out = tmp_path / "out"
    esdedup.dedupe(shard(tmp_path / "1.jsonl", 0), out=out)
    (out / ".esdedup.json").unlink()
    (out / "mine.jsonl").write_text("mine")
    esdedup.dedupe(shard(tmp_path / "2.jsonl", 2), out=out, fresh=True)
    assert set(contents(out)) == {"2.jsonl", "drops.jsonl", "mine.jsonl"}


def test_a_list_that_somebody_made_deletes_nothing_elsewhere(tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    out.mkdir()
    mine.write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    (out / "link").symlink_to(tmp_path / "folder")
    for names in (["../mine.txt", str(mine), "link/mine.txt"], [3], "x", None):
        (out / ".esdedup.json").write_text(json.dumps({"files": names}))
        esdedup.dedupe(shard(tmp_path / "2.jsonl", 2), out=out, fresh=True)
    assert mine.read_text() == (tmp_path / "folder" / "mine.txt").read_text() == "mine"


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    out.mkdir()
    mine.write_text("mine")
    for name in (".drops.jsonl.part", ".esdedup.json", "a.jsonl", ".a.jsonl.part"):
        (out / name).symlink_to(mine)
    (out / ".dedupe").symlink_to(tmp_path)
    esdedup.dedupe(shard(tmp_path / "a.jsonl", 0, 0), out=out)
    assert mine.read_text() == "mine"
    assert len(lines(out / "a.jsonl")) == 1
    (out / LOCK).symlink_to(mine)
    with pytest.raises(EsdedupError, match="use a writable folder"):
        esdedup.dedupe(tmp_path / "a.jsonl", out=out)
    assert mine.read_text() == "mine"


def test_outputs_that_would_overwrite_what_is_read(tmp_path: Path) -> None:
    one, two = shard(tmp_path / "x" / "a.jsonl", 0), shard(tmp_path / "y" / "a.jsonl", 1)
    for options in ({}, {"against": [two]}):
        sources = [one] if options else [one, two]
        with pytest.raises(UsageError, match="would overwrite the source"):
            esdedup.dedupe(*sources, out=tmp_path / "y" if options else tmp_path, **options)
    shard(tmp_path / "y" / "drops.jsonl", 1)
    with pytest.raises(UsageError, match="needs this file name for itself"):
        esdedup.dedupe(tmp_path / "y" / "drops.jsonl", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_drops_and_counts_name_the_source(tmp_path: Path) -> None:
    one, two = shard(tmp_path / "x" / "a.jsonl", 0, 1, 1), shard(tmp_path / "y" / "a.jsonl", 1, 2)
    done = esdedup.dedupe(one, two, out=tmp_path / "out")
    assert [(row["id"], row["source"]) for row in lines(tmp_path / "out" / "drops.jsonl")] == [
        ("x/a/a2", "x/a"), ("y/a/a0", "y/a"),
    ]  # fmt: skip
    told = [(row["name"], row["compared"], row["kept"], row["dropped"]["identical"]) for row in done["sources"]]
    assert told == [("x/a", 3, 2, 1), ("y/a", 2, 1, 1)]


def test_an_output_that_is_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for number in range(2):
        shard(tmp_path / "in" / f"{number}.jsonl", number)
    (tmp_path / "out" / "1.jsonl").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"its output .*1\.jsonl is a folder"):
        esdedup.dedupe(tmp_path / "in", out=tmp_path / "out")
    assert contents(tmp_path / "out") == {}


def test_a_fresh_run_knows_its_lookup(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "out"
    esdedup.run(shard(tmp_path / "a.jsonl", 0), out=out, store=out / "store.duckdb")
    esdedup.dedupe(shard(tmp_path / "b.jsonl", 1), out=out, fresh=True)
    assert "did not write" not in caplog.text
    esdedup.add(shard(tmp_path / "c.jsonl", 2), store=out / "store.duckdb")
    with pytest.raises(StoreSourcesError, match="use another --out, or start again with --fresh"):
        esdedup.dedupe(tmp_path / "b.jsonl", out=out)
