"""Small sources of every format, for the contract that all formats keep.

A format that is added to `esdedup.formats.protocol.FORMATS` needs a `Sample` in `SAMPLES` under its name.
"""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.sources import export, page, revision

Make = Callable[[Sequence[int]], bytes]
"""From numbers to the bytes of a source that has a record with `text_of` each of them, in this order."""


@dataclass(frozen=True)
class Sample:
    """How the contract makes sources of one format, and what it expects of them."""

    make: Make
    written: Make | None = None  # what is written of such a source; None: the source itself
    comparable: Callable[[bytes], Any] = bytes  # what has to be equal where some records were dropped
    place: Callable[[int], int] = lambda record: record + 1  # of a record, by its index
    notes: Callable[[bytes], list[Any]] = lambda data: [json.loads(line)["esdedup"] for line in data.splitlines()]
    whole: bool = False  # whether all records are sentences of one document
    damaged: Callable[[bytes], bytes] | None = None  # damage that the format itself notices, behind its first records
    at_once: bool = False  # whether documents only come when the source was read to its end
    options: dict[str, Any] = field(default_factory=dict)

    def expected(self, numbers: Sequence[int]) -> bytes:
        return (self.written or self.make)(numbers)


def text_of(number: int) -> str:
    return f"Statement {number} of this café says {number * 7919 % 10007}, and no other one does."


def lined(line: Callable[[int], str], head: str = "") -> Make:
    return lambda numbers: (head + "".join(f"{line(number)}\n" for number in numbers)).encode()


def table(numbers: Sequence[int]) -> bytes:
    file = io.BytesIO()
    columns = {"id": list(map(str, numbers)), "text": list(map(text_of, numbers))}
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    # nothing is encoded, so that damage in a row group can be found by its text
    pq.write_table(pa.table(columns, schema), file, row_group_size=100, compression="snappy", use_dictionary=False)
    return file.getvalue()


def arrow_stream(numbers: Sequence[int]) -> bytes:
    sink = io.BytesIO()
    columns = {"id": list(map(str, numbers)), "text": list(map(text_of, numbers)), "views": list(map(str, numbers))}
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("views", pa.string_view())], {"by": "tests"})
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(pa.table(columns, schema), max_chunksize=100)
    return sink.getvalue()


def arrow_rows(data: bytes) -> Any:
    found = pa.ipc.open_stream(data)
    return found.schema, found.schema.metadata, found.read_all().to_pylist(), not data or b"\x28\xb5\x2f\xfd" in data


def array(numbers: Sequence[int]) -> bytes:
    values = (
        json.dumps({"id": number, "text": text_of(number), "n": [1.50]}, ensure_ascii=False) for number in numbers
    )
    return ("[\n  " + ",\n  ".join(values) + "\n]\n").encode()


def rows_and_schema(data: bytes) -> Any:
    found = pq.ParquetFile(io.BytesIO(data))
    codecs = {found.metadata.row_group(group).column(0).compression for group in range(found.metadata.num_row_groups)}
    return found.schema_arrow, found.read().to_pylist(), codecs or {"SNAPPY"}


def spoiled_row_group(data: bytes) -> bytes:
    """The last column chunk but one begins with bytes that are no page."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    at = metadata.row_group(metadata.num_row_groups - 1).column(1).data_page_offset
    return data[:at] + b"\xff" * 20 + data[at + 20 :]


def dump(numbers: Sequence[int]) -> bytes:
    return export(*(page(number + 1, f"Page {number}", revision(number, text_of(number))) for number in numbers))


def cleaned(numbers: Sequence[int]) -> bytes:
    pages = (
        {
            "id": str(number + 1),
            "title": f"Page {number}",
            "text": text_of(number),
            "revision": number,
            "timestamp": "2020-01-01T00:00:00Z",
        }
        for number in numbers
    )
    return "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in pages).encode()


def quoted(number: int) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([number, 'say "so"', text_of(number)])
    return line.getvalue()


def wet(numbers: Sequence[int]) -> bytes:
    return warc_record("warcinfo", "info", b"software: tests\r\n") + b"".join(
        warc_record("conversion", f"00-{number}", text_of(number).encode()) for number in numbers
    )


def warc_record(kind: str, name: str, body: bytes, media: str = "text/plain") -> bytes:
    fields = {"WARC-Type": kind, "WARC-Target-URI": f"http://a.example/{name}", "WARC-Date": "2026-01-01T00:00:00Z"}
    fields |= {"WARC-Record-ID": f"<urn:uuid:{name}>", "Content-Type": media, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + body + b"\r\n\r\n"


def article(number: int) -> dict[str, Any]:
    html = f"<html><head><title>no</title></head><body><p>{text_of(number)}</p></body></html>"
    return {"name": f"Page {number}", "identifier": number, "article_body": {"html": html, "wikitext": text_of(number)}}


def snapshot(numbers: Sequence[int]) -> bytes:
    cut = len(numbers) // 3
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, part in (("enwiki_0.ndjson", articles(numbers[:cut])), ("enwiki_1.ndjson", articles(numbers[cut:]))):
            about = tarfile.TarInfo(name)
            about.size = len(part)
            archive.addfile(about, io.BytesIO(part))
    return held.getvalue()


def cleaned_articles(numbers: Sequence[int]) -> bytes:
    rows = [{"id": str(number), "title": f"Page {number}", "text": text_of(number)} for number in numbers]
    found = (row | {"revision": None, "timestamp": None} for row in rows)
    return "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in found).encode()


def articles(numbers: Sequence[int]) -> bytes:
    return "".join(json.dumps(article(number)) + "\n" for number in numbers).encode()


SAMPLES = {
    "warc": Sample(wet, place=lambda record: record + 2, damaged=lambda data: data[: len(data) * 2 // 3]),
    "snapshot": Sample(
        snapshot,
        written=cleaned_articles,
        damaged=lambda data: data[: len(data) * 2 // 3],
        options={"markup": "wikitext"},
    ),
    "wikipedia": Sample(dump, written=cleaned, damaged=lambda data: data[: len(data) * 2 // 3]),
    "tsv": Sample(
        lined(lambda number: f"{number}\t{text_of(number)}"),
        notes=lambda data: [json.loads(line.rpartition("\t")[2]) for line in data.decode().splitlines()],
    ),
    "csv": Sample(
        lined(quoted, "id,kind,text\n"),
        place=lambda record: record + 2,
        notes=lambda data: [json.loads(row["esdedup"]) for row in csv.DictReader(io.StringIO(data.decode()))],
    ),
    "jsonl": Sample(lined(lambda number: json.dumps({"id": number, "text": text_of(number), "n": [1.50]}))),
    "parquet": Sample(
        table,
        comparable=rows_and_schema,
        notes=lambda data: [json.loads(note) for note in pq.read_table(io.BytesIO(data))["esdedup"].to_pylist()],
        damaged=spoiled_row_group,
        at_once=True,
    ),
    "json": Sample(
        array,
        comparable=json.loads,
        notes=lambda data: [value["esdedup"] for value in json.loads(data)],
        damaged=lambda data: data[: len(data) * 2 // 3],
    ),
    "arrow": Sample(
        arrow_stream,
        comparable=arrow_rows,
        notes=lambda data: [json.loads(note) for note in pa.ipc.open_stream(data).read_all()["esdedup"].to_pylist()],
        damaged=lambda data: data[: len(data) * 2 // 3],
        at_once=True,
    ),
    "text": Sample(
        lambda numbers: " ".join(map(text_of, numbers)).encode(), place=lambda record: 1, whole=True, at_once=True
    ),
    "lines": Sample(lined(text_of), options={"format": "lines"}),
}


def sample_of(name: str) -> Sample:
    """The sample of a format; an `AssertionError` that says what to add where there is none."""
    assert name in SAMPLES, (
        f"the format {name} has no sample: add a Sample under its name to SAMPLES "
        "in tests/contract/formats/format_samples.py"
    )
    return SAMPLES[name]
