from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import subprocess
import sys
import threading
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
import zstandard

from esdedup.columns.records import Skips
from esdedup.errors import SourceError
from esdedup.formats.compression import bzip2_blocks
from esdedup.formats.compression.opener import Opened
from esdedup.formats.locations import Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from tests.support.sources import PACK, export, feed_stdin, ids, pack_7z, page, partial, read, revision, rows_of

THREADS = pytest.mark.parametrize("threads", [1, 2])


LINES = 30_000
"""Not too compressible, so that they make three blocks of bzip2."""


@cache
def lines(count: int = LINES) -> bytes:
    source = random.Random(7)
    return b"".join(b"%d\t%s\n" % (n, source.randbytes(30).hex().encode()) for n in range(count))


@cache
def packed(ending: str, begin: int = 0, end: int = LINES) -> bytes:
    """These lines, compressed, which takes seconds."""
    return PACK[ending](b"".join(lines().splitlines(keepends=True)[begin:end]))


@THREADS
@pytest.mark.parametrize("ending", [*PACK, ".7z"])
def test_every_compression(tmp_path: Path, ending: str, threads: int) -> None:
    data = export(page(1, "One", revision(1, "a")), page(2, "Two", revision(2, "b")))
    path = tmp_path / f"wiki.xml{ending}"
    if ending == ".7z":
        pack_7z(path, {"wiki.xml": data})
    else:
        path.write_bytes(PACK[ending](data))
    assert ids(read(path, threads=threads)) == ["1", "2"]


@THREADS
@pytest.mark.parametrize("ending", [ending for ending in PACK if ending != ".lzma"])
def test_streams_one_after_another(tmp_path: Path, ending: str, threads: int) -> None:
    path = tmp_path / f"table.tsv{ending}"
    padding = b"" if ending in ("", ".zst") else bytes(4)
    path.write_bytes(packed(ending, end=LINES // 2) + packed(ending, begin=LINES // 2) + padding)
    rows = read(path, threads=threads)
    assert ids(rows) == [str(number) for number in range(LINES)]


@pytest.mark.parametrize("ending", PACK)
def test_position_reaches_the_size(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table.tsv{ending}"
    path.write_bytes(packed(ending))
    for threads in (1, 2):
        reading = Reading.of()
        (source,) = discover([str(path)], reading)
        with DocumentStream(source, Skips(), threads=threads) as stream:
            positions = [stream.position for _ in stream]
            assert positions == sorted(positions)
            assert stream.position == source.size == path.stat().st_size


@THREADS
@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".lzma", ".zst"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.97])
def test_truncated(tmp_path: Path, ending: str, threads: int, share: float) -> None:
    whole = packed(ending)
    path = tmp_path / f"table.tsv{ending}"
    path.write_bytes(whole[: int(len(whole) * share)])
    rows, message = partial(path, SourceError, threads=threads)
    assert str(path) in message
    assert "byte" in message
    assert ids(rows) == [str(number) for number in range(len(rows))]
    if share > 0.1:
        # a bzip2 block is all or nothing
        assert len(rows) > LINES * share - (14_000 if ending == ".bz2" else 3_000)


@THREADS
@pytest.mark.parametrize("at", [2_000, 500_000, 900_000])
def test_damaged_bzip2_hands_on_no_noise(tmp_path: Path, threads: int, at: int) -> None:
    data = lines()
    whole = bytearray(bz2.compress(data))
    whole[at] ^= 0xFF
    path = tmp_path / "table.tsv.bz2"
    path.write_bytes(whole)
    rows, message = partial(path, SourceError, threads=threads)
    assert "bzip2" in message
    expected = data.decode().split("\n")
    assert [f"{row['id']}\t{row['text']}" for row in rows] == expected[: len(rows)]
    if threads > 1 and at > 800_000:
        assert len(rows) > 10_000


def test_bzip2_of_every_shape_is_the_same_on_several_cores(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Streams of no, one and several blocks, whose marks begin at every bit; runs; noise; zeros and more behind."""
    chosen = random.Random(5)
    for number in range(24):
        plain, stored = b"", b""
        for _ in range(chosen.randrange(4)):
            size = chosen.choice([0, 1, 99, 150_000, 350_000])
            part = chosen.choice([b"ab" * (size // 2), chosen.randbytes(size), lines()[:size]])
            plain += part
            stored += bz2.compress(part, chosen.choice([1, 2, 9])) + bytes(chosen.choice([0, 0, 5]))
        junk = chosen.choice([b"", b"", b"something else"]) if stored else b""
        path = tmp_path / f"{number}.bz2"
        path.write_bytes(stored + junk)
        for threads in (1, 2, 5):
            caplog.clear()
            assert decompressed(path, threads) == (plain, "")
            assert ("ignored" in caplog.text) == bool(junk)


def test_the_blocks_of_bzip2_are_all_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their marks begin at every bit, and lie across the ends of the parts in which a file is read."""
    monkeypatch.setattr(bzip2_blocks, "_PART", 13)
    path = tmp_path / "parts.bz2"
    for number in range(40):
        plain = [b"", b"x" * 350_000, lines()[: 40 * number]]
        streams = [bz2.compress(part, 1) for part in plain]
        path.write_bytes(b"".join(streams))
        with path.open("rb") as file:
            blocks = bzip2_blocks.Blocks(file)
            found = list(blocks)
        assert blocks.stream == path.stat().st_size
        assert b"".join(bz2.decompress(block.data) for block in found) == b"".join(plain)
        assert {block.stream for block in found} <= {len(streams[0]), len(streams[0]) + len(streams[1])}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_damage_of_bzip2_outside_its_blocks(tmp_path: Path, threads: int, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "odd.bz2"
    first, second = bz2.compress(b"a6136"), bz2.compress(lines()[:300_000], 1)
    path.write_bytes(first + second[:-4] + bytes([second[-4] ^ 16]) + second[-3:])
    plain, said = decompressed(path, threads)
    assert "damaged" in said
    assert (b"a6136" + lines()[:300_000]).startswith(plain)
    path.write_bytes(bytes(3) + second)
    assert decompressed(path, threads)[0] == b""
    assert not caplog.text
    for junk in (b"junk" + second, bz2.compress(b"second")[1:]):  # the stream before ends with a B
        caplog.clear()
        path.write_bytes(first + junk)
        assert decompressed(path, threads) == (b"a6136", "")
        assert "ignored" in caplog.text


def test_what_was_read_before_a_disk_fails_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both readers of the file fail at one byte of it."""

    class Failing(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() >= 3 * 2**20:
                raise OSError(5, "Input/output error")
            return super().read(size) or b""

    path = tmp_path / "noise.bz2"
    path.write_bytes(bz2.compress(random.Random(3).randbytes(6_000_000)))
    monkeypatch.setattr(Path, "open", lambda self, *_, **__: Failing(self))
    one, said = decompressed(path, 1)
    for threads in (2, 16):
        several, said_too = decompressed(path, threads)
        assert len(several) >= len(one) > 0
        assert "Input/output error" in said
        assert "Input/output error" in said_too


def test_bzip2_cut_anywhere_in_its_end_is_damaged_on_several_cores_too(tmp_path: Path) -> None:
    path = tmp_path / "cut.bz2"
    for number in range(8):  # ends that begin at different bits
        part = lines()[: 1_000 + 40 * number]
        first, last = bz2.compress(lines()[:500]), bz2.compress(part)
        for cut in (1, 2, 5, 9, 10, 11, 12, 40, len(last) - 5, len(last) - 1):
            path.write_bytes(first + last[: len(last) - cut])
            one, several = decompressed(path, 1), decompressed(path, 2)
            assert one == several
            assert one[1]


def decompressed(path: Path, threads: int) -> tuple[bytes, str]:
    """The plain bytes of a file up to where it is damaged, and what is said of that."""
    pieces: list[bytes] = []
    with closing(Opened(path, threads)) as opened:
        try:
            for member in opened.members():
                pieces.extend(member.pieces)
        except SourceError as error:
            return b"".join(pieces), str(error)
    return b"".join(pieces), ""


@THREADS
def test_bzip2_whose_second_stream_is_cut_in_its_first_bytes(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "table.tsv.bz2"
    path.write_bytes(bz2.compress(lines(100)) + b"BZh9")
    rows, _ = partial(path, SourceError, threads=threads)
    assert len(rows) == 100


@THREADS
@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".lzma", ".zst", ".7z"])
def test_what_is_not_compressed_at_all(tmp_path: Path, ending: str, threads: int) -> None:
    path = tmp_path / f"table.tsv{ending}"
    path.write_bytes(b"<html>not found</html>" * 100)
    rows, message = partial(path, SourceError, threads=threads)
    assert rows == []
    assert str(path) in message
    path.write_bytes(b"")
    if ending != ".7z":
        assert read(path, threads=threads) == []


def test_bytes_after_the_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "table.tsv.gz"
    path.write_bytes(gzip.compress(lines(10)) + b"something else")
    assert len(read(path)) == 10
    assert "ignored" in caplog.text


def test_zstd_skippable_and_unsized_frames(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv.zst"
    stream = zstandard.ZstdCompressor().compressobj()
    unsized = stream.compress(lines(1000)) + stream.flush()
    path.write_bytes(b"\x52\x2a\x4d\x18\x05\0\0\0hello" + unsized + b"\x50\x2a\x4d\x18\0\0\0\0" + unsized)
    assert len(read(path)) == 2000


def test_archive_with_several_members(tmp_path: Path) -> None:
    wikis = {f"{n}.xml": export(page(n, f"P{n}", revision(n, "a"))) for n in (3, 1, 2)}
    assert ids(read(pack_7z(tmp_path / "w.xml.7z", wikis))) == ["3", "1", "2"]
    assert ids(read(tmp_path / "w.xml.7z", limit=2)) == ["3", "1"]
    texts = {"a/x.txt": b"one", "b/x.txt": b"two", "empty.txt": b""}
    skips = Skips()
    rows = read(pack_7z(tmp_path / "t.txt.7z", texts), skips)
    assert [(row["id"], row["text"]) for row in rows] == [("a/x.txt", "one"), ("b/x.txt", "two")]
    assert skips.counts == {"no_text": 1}


def test_truncated_archive(tmp_path: Path) -> None:
    path = pack_7z(tmp_path / "t.tsv.7z", {"t.tsv": lines(1000)})
    path.write_bytes(path.read_bytes()[:-40])
    _, message = partial(path, SourceError)
    assert str(path) in message


def test_damaged_archive_keeps_what_stands_before(tmp_path: Path) -> None:
    path = pack_7z(tmp_path / "t.tsv.7z", {"t.tsv": lines()})
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 0xFF
    path.write_bytes(data)
    rows, _ = partial(path, SourceError)
    assert len(rows) > LINES * 3 // 8


def test_closing_in_the_middle_stops_the_threads(tmp_path: Path) -> None:
    data = lines(20_000)
    for path in (tmp_path / "t.tsv.gz", tmp_path / "t.tsv.bz2", tmp_path / "t.tsv.7z"):
        if path.suffix == ".7z":
            pack_7z(path, {"t.tsv": data})
        else:
            path.write_bytes(PACK[path.suffix](data))
        assert len(read(path, threads=2, limit=5)) == 5
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("esdedup")]


@THREADS
@pytest.mark.parametrize("ending", PACK)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, ending: str, threads: int) -> None:
    feed_stdin(monkeypatch, PACK[ending](lines(5000)))
    assert ids(read("-", format="tsv", threads=threads)) == [str(number) for number in range(5000)]


def test_standard_input_refuses_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed_stdin(monkeypatch, pack_7z(tmp_path / "t.7z", {"t": b"1\ta\n"}).read_bytes())
    _, message = partial("-", SourceError, format="tsv")
    assert ".7z" in message


def test_real_standard_input() -> None:
    code = (
        "import sys\nfrom esdedup.columns.records import Skips\nfrom esdedup.formats.reading_options import Reading\n"
        "from esdedup.formats.locations import discover\nfrom esdedup.formats.stream import DocumentStream\n"
        "reading = Reading.of(format='wikipedia')\n"
        "with DocumentStream(discover(['-'], reading)[0], Skips()) as stream:\n"
        "    sys.stdout.write(str(sum(batch.num_rows for batch in stream)))\n"
    )
    data = lzma.compress(export(page(1, "One", revision(1, "a")), page(2, "Two", revision(2, "b"))))
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout == b"2"


def test_compression_without_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "download"
    path.write_bytes(gzip.compress(b"1\ta\n"))
    assert ids(read(path, format="tsv")) == ["1"]


def test_missing_file(tmp_path: Path) -> None:
    source = Source("x", tmp_path / "x.tsv", Reading.of().format_named("tsv"), 0, None)
    with pytest.raises(SourceError, match="cannot be opened"):
        rows_of(source, Reading.of())
