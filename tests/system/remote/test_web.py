"""Sources on the web: what servers do wrong is mended or said, and nothing is lost."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import ssl
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import trustme

import esdedup
from esdedup.errors import SourceChangedError, SourceError, UsageError
from esdedup.formats.remote import protocol, remote_file, web
from esdedup.formats.remote.remote_path import RemotePath, path_of
from tests.support.commands import said
from tests.support.file_server import Files, file_server

BLOCK = 2**12
TEXTS = [f"The same {hashlib.sha256(at.to_bytes(2, 'big')).hexdigest()}" for at in range(400)]
ROWS = [{"id": str(at), "text": TEXTS[at % 400]} for at in range(800)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def _parquet() -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), held, row_group_size=100)
    return held.getvalue()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "BLOCK", BLOCK)
    monkeypatch.setattr(protocol, "WAIT", 0.001)


@pytest.fixture
def served() -> Iterator[Files]:
    with file_server({"d/rows.jsonl": LINES, "d/rows.parquet": _parquet()}) as held:
        yield held


def _same_as_the_file(url: str, content: bytes, tmp_path: Path, name: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / name).write_bytes(content)
    esdedup.dedupe(str(here / name), out=tmp_path / "a")
    done = esdedup.dedupe(url, out=tmp_path / "b")
    assert done.records["dropped"]["identical"] == 400
    for written in (name, "drops.jsonl"):
        assert (tmp_path / "a" / written).read_bytes() == (tmp_path / "b" / written).read_bytes()


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_a_file_on_the_web_is_read_as_one_here(served: Files, tmp_path: Path, name: str, ranges: bool) -> None:
    served.ranges = ranges
    _same_as_the_file(served.url(f"d/{name}"), served.files[f"d/{name}"], tmp_path, name)


@pytest.mark.parametrize(
    ("fault", "ranges"), [*product(["cut", "longer", "503", "429"], [True, False]), ("other place", True)]
)
def test_an_answer_that_fails_is_asked_for_again(served: Files, ranges: bool, fault: str) -> None:
    served.ranges = ranges
    served.faults = [fault] * 3
    with path_of(served.url("d/rows.jsonl")).open("rb") as file:
        assert file.read() == LINES
    assert not served.faults


def test_what_was_read_before_a_cut_is_not_asked_for_again(served: Files) -> None:
    with path_of(served.url("d/rows.jsonl")).open("rb") as file:
        beginning = file.read(3 * BLOCK)
        served.faults = ["cut"]
        assert beginning + file.read() == LINES
    begun = [wanted for _, wanted in served.asked if wanted.startswith(f"bytes={BLOCK}-")]
    assert len(begun) == 1


def test_every_request_is_repeated(served: Files, tmp_path: Path) -> None:
    for asked in range(4):
        served.faults = ["503"]
        served.asked.clear()
        served.files |= {f"p{asked}/a.jsonl": LINES}
        assert esdedup.dedupe(served.url(f"p{asked}/"), out=tmp_path / str(asked)).records["in"] == 800
        served.faults = ["-"] * asked + ["503"]
        assert esdedup.dedupe(served.url(f"p{asked}/"), out=tmp_path / f"{asked}b").records["in"] == 800


def test_addresses_that_differ_in_what_signs_them_alone(served: Files) -> None:
    urls = [served.url(f"d/rows.jsonl?sig={each}") for each in "ab"]
    with pytest.raises(UsageError, match="differ only in what signs them"):
        esdedup.dedupe(*urls, dry_run=True)
    assert str(path_of(served.url("a.jsonl?skip=1"))) != str(path_of(served.url("a.jsonl?skip=2")))


def test_a_checksum_is_compared_whatever_is_read_first(served: Files) -> None:
    served.files |= {
        "p/a b.parquet": served.files["d/rows.parquet"],
        "p/SHA256SUMS": f"{'0' * 64}  a b.parquet\n".encode(),
    }
    served.files["p/a%20b.parquet"] = served.files.pop("p/a b.parquet")
    with pytest.raises(SourceError, match="SHA-256 is not the one"):
        esdedup.dedupe(served.url("p/"), dry_run=True)


def test_a_server_that_stays_down_is_one_line(served: Files) -> None:
    served.faults = ["503"] * 100
    answer = (
        said("run", served.url("d/rows.jsonl"), "--dry-run")
        if False
        else said("extract", served.url("d/rows.jsonl"), "-o", "-")
    )
    assert answer.code == 1
    assert "5 tries failed" in answer.err


def test_a_file_that_changes_is_never_mixed(served: Files) -> None:
    with path_of(served.url("d/rows.jsonl")).open("rb") as file:
        assert file.read(BLOCK)
        served.files["d/rows.jsonl"] = LINES.replace(b"same", b"SAME")
        with pytest.raises(SourceChangedError, match="has changed since it was read"):
            file.read()


def test_a_stream_that_changes_is_never_mixed(served: Files) -> None:
    served.ranges = False
    with path_of(served.url("d/rows.jsonl")).open("rb") as file:
        served.faults = ["cut"]
        assert file.read(BLOCK)
        served.files["d/rows.jsonl"] = LINES.replace(b"same", b"SAME")
        with pytest.raises(SourceChangedError, match="has changed since it was read"):
            file.read()


def test_a_folder_its_pattern_and_its_checksums(served: Files, tmp_path: Path) -> None:
    lines = LINES.splitlines(keepends=True)
    parts = {"x/a.jsonl": b"".join(lines[:400]), "x/sub/b.jsonl": b"".join(lines[400:]), "x/read.me": b"?"}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name[2:]}\n" for name, data in parts.items())
    served.files |= parts | {"x/SHA256SUMS": sums.encode()}
    done = esdedup.dedupe(served.url("x/"), out=tmp_path / "a", quiet=True)
    assert (done.records["in"], done.records["kept"]) == (800, 400)
    assert sorted(path.name for path in (tmp_path / "a").glob("*.jsonl")) == ["a.jsonl", "b.jsonl", "drops.jsonl"]
    assert esdedup.dedupe(served.url("x/*.jsonl"), dry_run=True).records["in"] == 400
    assert esdedup.dedupe(served.url("x/**/*.jsonl"), dry_run=True).records["in"] == 800
    served.files["x/a.jsonl"] = parts["x/a.jsonl"].replace(b"same", b"SAME")
    with pytest.raises(SourceError, match="SHA-256 is not the one in SHA256SUMS"):
        esdedup.dedupe(served.url("x/"), out=tmp_path / "b")
    del served.files["x/a.jsonl"]
    with pytest.raises(SourceError, match=r"names a\.jsonl, which is not there"):
        esdedup.dedupe(served.url("x/"), out=tmp_path / "c")


def test_lists_that_hide_files_are_said(served: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served.files["d/1/2/3/4/5/6/7/rows.jsonl"] = LINES
    with pytest.raises(SourceError, match="/d/1/2/3/4/5/6/7/: 6 folders deep; give the folder that has the files"):
        esdedup.dedupe(served.url("d/"), out=tmp_path / "a")
    assert esdedup.dedupe(served.url("d/1/"), out=tmp_path / "b").records["dropped"]["identical"] == 400
    monkeypatch.setattr(web, "_MOST_LISTED", 10)
    with pytest.raises(SourceError, match="its list is longer than"):
        esdedup.dedupe(served.url("d/1/"), out=tmp_path / "b")


def test_redirects_are_followed_but_never_out_of_encryption(
    served: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(bundle)
    with file_server({"rows.jsonl": LINES}, tls=context) as safe:
        with pytest.raises(SourceError, match="certificate is not trusted"):
            esdedup.dedupe(safe.url("rows.jsonl"), dry_run=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
        monkeypatch.setattr(protocol, "_open", {})
        safe.redirects = {
            "there": safe.url("rows.jsonl"),
            "out": served.url("d/rows.jsonl"),
            "round": safe.url("round"),
        }
        with RemotePath.of(safe.url("there")).open("rb") as file:
            assert file.read() == LINES
        with pytest.raises(SourceError, match="which is not encrypted"):
            RemotePath.of(safe.url("out").replace("https", "HTTPS")).open("rb")
        with pytest.raises(SourceError, match="more than 10 times"):
            RemotePath.of(safe.url("round")).open("rb")


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("ftp://host/x.jsonl", "ftp:// addresses are not read; use one of s3://"),
        ("https://ann:secret@host/x.jsonl", "has a password in the address"),
        ("s3://", "names no host or bucket"),
        ("s3://bucket/a/../b.jsonl", "has .. in its path"),
        ("s3://ann:secret@bucket/x.jsonl", "has a password in the address"),
    ],
)
def test_addresses_that_cannot_be(address: str, line: str) -> None:
    with pytest.raises(UsageError) as refused:
        esdedup.dedupe(address, dry_run=True)
    assert line in str(refused.value)
    assert "secret" not in str(refused.value)


def test_nothing_there(served: Files) -> None:
    for name, line in {
        "no.jsonl": "no such file; check the address",
        "no/": "404",
        "d/*.csv": "no file matches",
    }.items():
        served.lists = name != "no/"
        with pytest.raises(SourceError, match=line):
            esdedup.dedupe(served.url(name), dry_run=True)


def test_what_signs_a_request_is_neither_shown_nor_stored(served: Files, tmp_path: Path) -> None:
    url = served.url("d/rows.jsonl?X-Amz-Signature=5ecret&version=7")
    again = served.url("d/rows.jsonl?X-Amz-Signature=0ther&version=7")
    other = served.url("d/rows.jsonl?X-Amz-Signature=5ecret&version=8")
    assert str(path_of(url)) == str(path_of(again)) != str(path_of(other))
    path = pickle.loads(pickle.dumps(path_of(url)))
    assert (path.url, path.name, path.suffix) == (url, "rows.jsonl", ".jsonl")
    esdedup.run(url, out=tmp_path / "out", store=tmp_path / "store.duckdb")
    esdedup.run(again, out=tmp_path / "out", store=tmp_path / "store.duckdb")
    assert any("5ecret" in asked for asked, _ in served.asked)
    for file in [*(tmp_path / "out").iterdir(), tmp_path / "store.duckdb"]:
        assert b"5ecret" not in file.read_bytes()
    served.files.clear()
    answer = said("dedupe", url, "--dry-run")
    assert answer.code == 1
    assert "5ecret" not in answer.err


def test_a_reference_on_the_web(served: Files, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_bytes(LINES[: len(LINES) // 2].rpartition(b"\n")[0] + b"\n")
    done = esdedup.dedupe(tmp_path / "new.jsonl", out=tmp_path / "out", against=[served.url("d/rows.jsonl")])
    assert done.records["kept"] == 0


def test_a_path_of_the_web_is_not_written_to(tmp_path: Path, served: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(LINES)
    with pytest.raises(UsageError, match="can only be read"):
        esdedup.dedupe("a.jsonl", out=served.url("out"))
    with pytest.raises(UsageError, match="can only be read"):
        esdedup.extract("a.jsonl", out=served.url("out.jsonl"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
