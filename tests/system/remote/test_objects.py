"""Sources and results in S3, on a real server of it."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import py7zr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esdedup
from esdedup.errors import SourceChangedError, SourceError, UsageError
from esdedup.formats.remote import protocol, remote_file
from esdedup.formats.remote.remote_path import path_of
from tests.support.commands import said

ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
OPEN_ACTIONS = 4
"""How many are allowed without a signature: those that make the user and the bucket."""


class Bucket:
    """The bucket s3://bucket, as folders here."""

    def __init__(self, endpoint: str, key: dict[str, str]) -> None:
        self.endpoint, self.key = endpoint, key
        names = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
        self.s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **names)

    def put(self, name: str, data: bytes) -> None:
        self.s3.put_object(Bucket="bucket", Key=name, Body=data)

    def put_folder(self, folder: Path, name: str) -> None:
        for path in filter(Path.is_file, folder.rglob("*")):
            self.put(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def names(self) -> list[str]:
        return [each["Key"] for each in self.s3.list_objects_v2(Bucket="bucket").get("Contents", [])]

    def get(self, name: str) -> bytes:
        found: bytes = self.s3.get_object(Bucket="bucket", Key=name)["Body"].read()
        return found

    def folder(self, name: str) -> dict[str, bytes]:
        inside = [each.removeprefix(f"{name}/") for each in self.names() if each.startswith(f"{name}/")]
        return {each: self.get(f"{name}/{each}") for each in inside if not each.startswith(".")}


@pytest.fixture(scope="module")
def served() -> Iterator[Bucket]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(OPEN_ACTIONS)}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        how = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
        how |= {"aws_access_key_id": "any", "aws_secret_access_key": "one"}
        users = boto3.client("iam", **how)
        users.create_user(UserName="ann")
        users.put_user_policy(UserName="ann", PolicyName="all", PolicyDocument=json.dumps(ALL))
        key = users.create_access_key(UserName="ann")["AccessKey"]
        boto3.client("s3", **how).create_bucket(Bucket="bucket")
        yield Bucket(how["endpoint_url"], key)
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def bucket(served: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    monkeypatch.setenv("AWS_ENDPOINT_URL", served.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", served.key["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", served.key["SecretAccessKey"])
    monkeypatch.setenv("AWS_REGION", "us-east-1")
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
