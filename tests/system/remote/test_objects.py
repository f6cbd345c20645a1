"""Sources and results in S3, on a real server of it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import py7zr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.errors import SourceChangedError, SourceError, UsageError
from esdedup.formats.remote import protocol, remote_file
from esdedup.formats.remote.remote_path import path_of
from tests.support.commands import said
from tests.support.s3_server import Bucket, s3_server


@pytest.fixture(scope="module")
def served() -> Iterator[Bucket]:
    with s3_server() as held:
        yield held


@pytest.fixture
def bucket(served: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(protocol, "_open", {})
    for name in served.names():
        served.s3.delete_object(Bucket="bucket", Key=name)
    return served


def _filled(folder: Path) -> None:
    """Makes a folder of several formats and compressions, with a name that needs escapes."""
    (folder / "sub").mkdir(parents=True)
    texts = [f"The same {hashlib.sha256(bytes([at % 40])).hexdigest()}" for at in range(100)]
    rows = pa.table({"id": [str(at) for at in range(100)], "text": texts})
    pq.write_table(rows, folder / "a.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in rows.to_pylist()).encode()
    (folder / "b 100%.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0))
    (folder / "sub" / "c.jsonl.bz2").write_bytes(bz2.compress(lines))
    with py7zr.SevenZipFile(folder / "sub" / "d.7z", "w") as archive:
        archive.writestr(lines, "d.jsonl")


def _written(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith((".", "store"))
    }


def test_a_folder_there_gives_what_one_here_gives(bucket: Bucket, tmp_path: Path) -> None:
    _filled(tmp_path / "in")
    bucket.put_folder(tmp_path / "in", "in")
    here = esdedup.dedupe(tmp_path / "in", out=tmp_path / "out")
    there = esdedup.dedupe("s3://bucket/in", out="s3://bucket/out")
    assert here.records == there.records
    assert there.records["kept"] == 40
    assert _written(tmp_path / "out") == bucket.folder("out")
    assert there.files == [f"s3://bucket/out/{Path(name).relative_to(tmp_path / 'out')}" for name in here.files]
    # again, and with a pattern: what is no longer written is deleted, and nothing of others
    bucket.put("out/mine.txt", b"mine")
    esdedup.dedupe("s3://bucket/in/*.gz", out="s3://bucket/out", fresh=True)
    assert sorted(bucket.folder("out")) == ["b 100%.jsonl.gz", "drops.jsonl", "mine.txt"]
    assert json.loads(bucket.get("out/.esdedup.json")) == {"files": ["b 100%.jsonl.gz", "drops.jsonl"]}


def test_every_verb_that_writes(bucket: Bucket, tmp_path: Path) -> None:
    _filled(tmp_path / "in")
    bucket.put_folder(tmp_path / "in", "in")
    store = tmp_path / "store.duckdb"
    with pytest.raises(UsageError, match="a store cannot be there"):
        esdedup.run("s3://bucket/in/a.parquet", out="s3://bucket/found")
    answer = said("run", "s3://bucket/in/a.parquet", "-o", "s3://bucket/found", "--store", store)
    assert "in s3://bucket/found/" in answer.out
    assert "summary.json" in bucket.folder("found")
    assert esdedup.report(store=store, out="s3://bucket/page")[0] == path_of("s3://bucket/page/report.html")
    assert b"<html" in bucket.get("page/report.html")
    done = esdedup.extract("s3://bucket/in/a.parquet", out="s3://bucket/text/a.jsonl.gz")
    assert done.file == "s3://bucket/text/a.jsonl.gz"
    assert len(gzip.decompress(bucket.get("text/a.jsonl.gz")).splitlines()) == 100
    certificate = tmp_path / "proof.json"
    esdedup.dedupe("s3://bucket/in/a.parquet", out="s3://bucket/clean", certificate=certificate)
    assert esdedup.verify(certificate).problems == []
    bucket.put("clean/a.parquet", b"other")
    assert "its bytes are others" in esdedup.verify(certificate).problems[0]
    assert esdedup.dedupe("s3://bucket/in/a.parquet", dry_run=True, against="s3://bucket/in/sub").records["kept"] == 0


def test_what_is_read_is_not_written_over(bucket: Bucket, tmp_path: Path) -> None:
    _filled(tmp_path / "in")
    bucket.put_folder(tmp_path / "in", "in")
    for source, out in (("s3://bucket/in/a.parquet", "s3://bucket/in"), ("s3://bucket/in/", "s3://bucket/in/out")):
        with pytest.raises(UsageError, match=r"overwrite the source|would be read the next time"):
            esdedup.dedupe(source, out=out)
    assert bucket.names() == ["in/a.parquet", "in/b 100%.jsonl.gz", "in/sub/c.jsonl.bz2", "in/sub/d.7z"]


def test_any_sign_may_be_in_a_name(bucket: Bucket, tmp_path: Path) -> None:
    for at, name in enumerate(["a#1.jsonl", "a#2.jsonl", "a?x.jsonl", "b[1].jsonl"]):
        bucket.put(f"in/{name}", f'{{"id": "{at}", "text": "Text {at} stands in this object alone."}}\n'.encode())
    assert esdedup.dedupe("s3://bucket/in/", out="s3://bucket/out#1").records["in"] == 4
    assert sorted(bucket.folder("out#1")) == ["a#1.jsonl", "a#2.jsonl", "a?x.jsonl", "b[1].jsonl", "drops.jsonl"]
    assert esdedup.dedupe("s3://bucket/in/b[1].jsonl", dry_run=True).records["in"] == 1
    assert esdedup.dedupe("s3://bucket/**", dry_run=True, format="jsonl").records["in"] > 4
    with pytest.raises(UsageError, match="has files of another job, such as a#1"):
        esdedup.dedupe("s3://bucket/in/b[1].jsonl", out="s3://bucket/out#1")


def test_a_bucket_that_is_not_there_is_known_first(bucket: Bucket) -> None:
    bucket.put("a.jsonl", b'{"id": "1", "text": "One text."}')
    with pytest.raises(SourceError, match="no such"):
        esdedup.dedupe("s3://bucket/a.jsonl", out="s3://none/out")


def test_an_object_that_changes_is_never_mixed(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "BLOCK", 1000)
    bucket.put("a.txt", b"a" * 5000)
    with path_of("s3://bucket/a.txt").open("rb", buffering=0) as file:
        assert file.read(1000) == b"a" * 1000
        bucket.put("a.txt", b"b" * 5000)
        with pytest.raises(SourceChangedError, match=r"bucket/a\.txt: has changed"):
            while file.read(1000):
                pass


def test_a_killed_job_goes_on(bucket: Bucket, tmp_path: Path) -> None:
    """What was read stays, unless the object has changed."""
    _filled(tmp_path / "in")
    bucket.put_folder(tmp_path / "in", "in")
    store = tmp_path / "store.duckdb"
    esdedup.index("s3://bucket/in/a.parquet", store=store)
    assert esdedup.index("s3://bucket/in/a.parquet", store=store).counts["unchanged"] == 100
    pq.write_table(pa.table({"id": ["1"], "text": ["Another text stands here now."]}), tmp_path / "other.parquet")
    bucket.put("in/a.parquet", (tmp_path / "other.parquet").read_bytes())
    assert esdedup.index("s3://bucket/in/a.parquet", store=store).counts["replaced"] == 1


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("s3://bucket/none.jsonl", "no file of this name, and none in a folder of this name"),
        ("s3://bucket/*.none", "no file matches this pattern"),
        ("s3://none/a.jsonl", "no such bucket"),
        ("s3://bucket", "no file of this name"),
    ],
)
def test_what_is_not_there(bucket: Bucket, address: str, line: str) -> None:
    with pytest.raises(SourceError, match=line):
        esdedup.dedupe(address, dry_run=True)


def test_who_may_not_read(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put("a.jsonl", b"{}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "0ther" * 6)
    answer = said("dedupe", "s3://bucket/a.jsonl", "--dry-run")
    assert answer.code == 1
    assert "access is refused" in answer.err
    assert "AWS_SECRET_ACCESS_KEY" in answer.err
    assert "0ther" not in answer.err


def test_a_store_is_not_there(bucket: Bucket) -> None:
    bucket.put("a.jsonl", b"{}")
    with pytest.raises(UsageError, match="a store is a file here or on a server"):
        esdedup.index("s3://bucket/a.jsonl", store="s3://bucket/a.duckdb")
