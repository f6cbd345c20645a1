"""What every format keeps, in every compression: reading, writing again, damage, nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from esdedup.columns.records import DOCUMENTS, Skips
from esdedup.errors import SourceError, UsageError
from esdedup.formats.compression.protocol import COMPRESSIONS
from esdedup.formats.locations import Source, discover
from esdedup.formats.protocol import FORMATS
from esdedup.formats.reading_options import Reading
from esdedup.formats.stream import DocumentStream
from tests.contract.formats.format_samples import Sample, sample_of, text_of
from tests.support.full import few
from tests.support.rewriting import CLUSTER, packed, rewrite, unpacked
from tests.support.sources import PACK, rows_of

NUMBERS = list(range(3000))
ENDINGS = ["", *(ending for each in COMPRESSIONS for ending in each.endings)]

pytestmark = pytest.mark.parametrize("name", FORMATS.names)
every_compression = pytest.mark.parametrize("ending", few(ENDINGS, 0, 2))


@pytest.fixture
def sample(name: str) -> Sample:
    return sample_of(name)


def source_file(folder: Path, name: str, data: bytes, ending: str = "") -> Path:
    assert ending in ("", ".7z", *PACK), f"the tests cannot pack {ending}: add it to PACK in tests/support/sources.py"
    (folder / "in").mkdir(exist_ok=True)
    endings = FORMATS[name].endings
    return packed(folder / "in" / f"sample{endings[0] if endings else '.txt'}{ending}", data)


def source_of(path: Path, sample: Sample) -> Source:
    [source] = discover([str(path)], Reading.of(**sample.options))
    return source


def drops_of(sample: Sample, records: Sequence[int]) -> dict[int, list[int]]:
    if sample.whole:
        return {sample.place(0): list(records)}
    return {sample.place(record): [0] for record in records}


def written(path: Path, folder: Path, sample: Sample, dropped: Sequence[int], **options: Any) -> bytes:
    unit = "sentence" if sample.whole else "record"
    done = rewrite(path, folder, drops_of(sample, dropped), unit=unit, **sample.options, **options)
    return unpacked(done.path)


@every_compression
def test_reading(tmp_path: Path, name: str, sample: Sample, ending: str) -> None:
    """Each record is a document, at its place; threads and the cut into batches make no difference."""
    source = source_of(source_file(tmp_path, name, sample.make(NUMBERS), ending), sample)
    assert source.format.name == name
    skips = Skips()
    rows = rows_of(source, Reading.of(), skips)
    assert rows == rows_of(source, Reading.of(), threads=2)
    assert not skips.counts
    if sample.whole:
        assert [row["text"] for row in rows] == [" ".join(map(text_of, NUMBERS))]
        assert [row["place"] for row in rows] == [sample.place(0)]
        return
    assert [row["text"] for row in rows] == list(map(text_of, NUMBERS))
    assert [row["place"] for row in rows] == list(map(sample.place, range(len(NUMBERS))))
    assert len({row["id"] for row in rows}) == len(rows)


def test_limit_and_position(tmp_path: Path, name: str, sample: Sample) -> None:
    source = source_of(source_file(tmp_path, name, sample.make(NUMBERS)), sample)
    for limit in (0, 1, 1000):
        rows = rows_of(source, Reading.of(limit=limit))
        assert len(rows) == (min(limit, 1) if sample.whole else limit)
    with DocumentStream(source, Skips()) as stream:
        positions = [stream.position for _ in stream]
        assert positions == sorted(positions)
        assert stream.position == source.size


@every_compression
def test_nothing_dropped(tmp_path: Path, name: str, sample: Sample, ending: str) -> None:
    """The same bytes again; of a dump, the same pages."""
    path = source_file(tmp_path, name, sample.make(NUMBERS), ending)
    assert written(path, tmp_path / "out", sample, []) == sample.expected(NUMBERS)
    assert written(path, tmp_path / "again", sample, []) == sample.expected(NUMBERS)


@every_compression
def test_a_third_dropped(tmp_path: Path, name: str, sample: Sample, ending: str) -> None:
    """What is left is what was kept."""
    path = source_file(tmp_path, name, sample.make(NUMBERS), ending)
    kept = [number for number in NUMBERS if number % 3 != 1]
    found = written(path, tmp_path / "out", sample, NUMBERS[1::3])
    assert sample.comparable(found) == sample.comparable(sample.expected(kept))


def test_everything_dropped(tmp_path: Path, name: str, sample: Sample) -> None:
    path = source_file(tmp_path, name, sample.make(NUMBERS))
    done = rewrite(path, tmp_path / "out", drops_of(sample, NUMBERS), unit="record", **sample.options)
    assert done.documents == 0
    assert done.documents_dropped == (1 if sample.whole else len(NUMBERS))
    if sample.whole:
        assert not done.path.exists()
    else:
        assert sample.comparable(done.path.read_bytes()) == sample.comparable(sample.expected([]))


def test_annotated(tmp_path: Path, name: str, sample: Sample) -> None:
    """All is kept, and each record names its cluster; or the format has no room, and says so."""
    path = source_file(tmp_path, name, sample.make(NUMBERS))
    if not FORMATS[name].annotates:
        with pytest.raises(UsageError, match="no room for annotations"):
            rewrite(path, tmp_path / "out", annotate=True, **sample.options)
        return
    done = rewrite(path, tmp_path / "out", drops_of(sample, [2]), annotate=True, **sample.options)
    notes: list[dict[str, Any]] = [{"cluster": None, "keep": True} for _ in NUMBERS]
    notes[2] = {"cluster": CLUSTER, "keep": False}
    assert sample.notes(done.path.read_bytes()) == notes
    assert (done.documents, done.documents_dropped) == (len(NUMBERS), 0)


@pytest.mark.parametrize("ending", few(ENDINGS[1:], 1, 2))
def test_damaged_compression(tmp_path: Path, name: str, sample: Sample, ending: str) -> None:
    """What stands before the damage is delivered; then one error names the source and the place."""
    path = source_file(tmp_path, name, sample.make(NUMBERS), ending)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 9 // 10])
    rows = damaged_rows(path, sample, "damaged near byte")
    # of bzip2 whole blocks are delivered, and a .7z archive has its index at the end
    if not sample.at_once and ending not in (".bz2", ".7z"):
        assert rows


def test_damage(tmp_path: Path, name: str, sample: Sample) -> None:
    """Damage that the format itself notices; of the others any bytes are, and are read without an error."""
    if sample.damaged is None:
        data = sample.make(NUMBERS)
        half = len(data) // 2
        path = source_file(tmp_path, name, data[:half] + bytes(range(256)) + data[half:])
        skips = Skips()
        rows = rows_of(source_of(path, sample), Reading.of(), skips)
        assert "damaged_source" not in skips.counts
        assert len(rows) + sum(skips.counts.values()) >= (1 if sample.whole else len(NUMBERS) - 1)
        return
    path = source_file(tmp_path, name, sample.damaged(sample.make(NUMBERS)))
    assert damaged_rows(path, sample, "")


def damaged_rows(path: Path, sample: Sample, place: str) -> list[dict[str, Any]]:
    """The rows that are delivered and kept, if damage is met as it should be."""
    source = source_of(path, sample)
    rows: list[dict[str, Any]] = []
    with DocumentStream(source, Skips()) as stream, pytest.raises(SourceError) as caught:
        for batch in stream:
            assert batch.schema.equals(DOCUMENTS)
            rows += batch.to_pylist()
    message = str(caught.value)
    assert str(path) in message
    assert place in message
    assert "\n" not in message
    assert [row["text"] for row in rows] == list(map(text_of, NUMBERS[: len(rows)]))
    out, unit, drops = path.parents[1] / "out", "sentence" if sample.whole else "record", drops_of(sample, [0])
    with pytest.raises(SourceError):
        rewrite(path, out, drops, unit=unit, **sample.options)
    assert not list(out.glob("*"))
    done = rewrite(path, out, drops, unit=unit, keep_going=True, **sample.options)
    if rows:
        kept = unpacked(done.path)
        assert sample.comparable(kept) == sample.comparable(sample.expected(NUMBERS[1 : done.documents + 1]))
    return rows


@every_compression
def test_empty(tmp_path: Path, name: str, sample: Sample, ending: str) -> None:
    """A source without records is no error, and is written again as it is."""
    path = source_file(tmp_path, name, sample.make([]), ending)
    assert rows_of(source_of(path, sample), Reading.of()) == []
    assert written(path, tmp_path / "out", sample, []) == sample.expected([])


def test_what_is_written_is_read_again(tmp_path: Path, name: str, sample: Sample) -> None:
    """By its name alone, where the source was; what is written of standard input has a name that tells as well."""
    path = source_file(tmp_path, name, sample.make(NUMBERS))
    done = rewrite(path, tmp_path / "out", **sample.options)
    reading = Reading.of() if sample.written else Reading.of(**sample.options)
    [again] = discover([str(done.path)], reading)
    texts = [row["text"] for row in rows_of(again, reading)]
    assert texts == [row["text"] for row in rows_of(source_of(path, sample), Reading.of())]
    assert Path(FORMATS[name].stdin_name).suffix == done.path.suffix
