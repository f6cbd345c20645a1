"""Check a certificate against the files that it speaks of, on any machine, without a store."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import text_column
from esdedup.columns.database import Database, private_database
from esdedup.columns.records import Skips
from esdedup.errors import EsdedupError, SourceError
from esdedup.formats.locations import Source, discover
from esdedup.formats.reading_options import Reading
from esdedup.formats.remote.remote_path import path_of
from esdedup.formats.stream import DocumentStream
from esdedup.jobs.certifying import FORMAT, bytes_of, checksum_of, digest_of
from esdedup.jobs.losses import lost_of_texts
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing
from esdedup.matching.verify.compare import jaccards_with
from esdedup.plurals import plural
from esdedup.store.schemas import saved_signing
from esdedup.text.segment import segment, without

_NEEDED = (
    "certificate", "esdedup", "unit", "settings", "inputs", "outputs", "folder", "rows", "records", "sources", "lost",
    "recall", "contradictions", "warnings", "checksum",
)  # fmt: skip
_TABLES = """
CREATE TABLE removed (row BIGINT, file INTEGER, place BIGINT, position INTEGER, id VARCHAR, kept_file INTEGER,
    kept_place BIGINT, kept_position INTEGER, kept VARCHAR, reason VARCHAR, jaccard DOUBLE, reference_text VARCHAR,
    lost INTEGER, gave VARCHAR[], other_values VARCHAR[]);
CREATE TABLE texts (file INTEGER, place BIGINT, position INTEGER, id VARCHAR, text VARCHAR);
"""
_ASKED_AT_ONCE = 2_000
_SHOWN = 20
"""Problems of one kind that are listed."""


@dataclass
class Findings:
    """What is not true, what was not checked, and how many rows were compared."""

    problems: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    compared: int = 0

    def several(self, lines: Iterable[str]) -> None:
        """Add problems of one kind, of which the first are named."""
        found = list(lines)
        self.problems += found[:_SHOWN]
        if len(found) > _SHOWN:
            self.problems.append(f"… {len(found) - _SHOWN:,} more of this kind")


def verify_certificate(path: Path, inputs: Sequence[Path], folder: Path | None, share: float) -> dict[str, Any]:
    """Check a certificate. Inputs are looked for under the paths that it names, or among `inputs` (files or folders) by
    their names; outputs in `folder`, or that which it names. A `share` of the rows is compared again.
    """
    held = _read(path)
    found = Findings()
    try:
        _check(path, held, inputs, folder, share, found)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, pa.ArrowException) as error:
        found.problems.append(f"{path}: was changed: it does not have the form of a certificate ({error!r})")
    return {
        "rows": held["rows"].get("rows", 0) if isinstance(held["rows"], dict) else 0,
        "compared": found.compared,
        "share": share,
        "problems": found.problems,
        "not_checked": found.not_checked,
    }


def _check(
    path: Path, held: Mapping[str, Any], inputs: Sequence[Path], folder: Path | None, share: float, found: Findings
) -> None:
    if checksum_of(held) != held["checksum"]:
        found.problems.append(f"{path}: was changed: its checksum is another one")
    rows = path.with_name(str(held["rows"]["path"]))
    with private_database() as db:
        db.execute(_TABLES)
        counted = _read_rows(rows, held, db, found)
        _add_up(held, counted, found)
        sources = dict(_inputs(held, inputs, found))
        written = dict(_outputs(held, folder or path_of(held["folder"]), found))
        checked = _Files(held, saved_signing(str(path), held["settings"]["signing"]), db, found)
        for number, source in sources.items():
            checked.read(number, source, written.get(number))
        checked.compare(share)


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_bytes())
    except OSError as error:
        raise EsdedupError(f"{path}: {error.strerror}; name a certificate that dedupe has written") from error
    except (ValueError, RecursionError) as error:
        raise EsdedupError(f"{path}: is not JSON; name a certificate that dedupe has written") from error
    if isinstance(held, dict) and "checksum" in held and "input" in held:
        raise EsdedupError(f"{path}: is the certificate of a table in memory; only those of files can be checked")
    if not isinstance(held, dict) or any(name not in held for name in _NEEDED):
        raise EsdedupError(f"{path}: is not a certificate; name one that dedupe has written")
    if held["certificate"] != FORMAT:
        raise EsdedupError(
            f"{path}: has format {held['certificate']}, and this esdedup reads {FORMAT}; use another one"
        )
    return held


def _read_rows(path: Path, held: Mapping[str, Any], db: Database, found: Findings) -> Counter[tuple[str, str]]:
    """Take in the rows of removed texts. Return how many there are by source and reason."""
    counted: Counter[tuple[str, str]] = Counter()
    digest, number, batch = hashlib.sha256(), 0, []
    names = [name for name in _columns(db, "removed") if name != "row"]
    try:
        with path.open("rb") as lines:
            for line in lines:
                digest.update(line)
                row = json.loads(line)
                counted[row["source"], row["reason"]] += 1
                batch.append((number, *(row.get(name) for name in names)))
                number += 1
                if len(batch) == _ASKED_AT_ONCE:
                    _insert(db, "removed", batch)
                    batch = []
    except OSError as error:
        found.problems.append(f"{path}: {error.strerror}: the rows of the removed texts are not there")
        return counted
    except (ValueError, KeyError, TypeError, AttributeError):
        found.problems.append(f"{path}: line {number + 1} is not a row of a certificate")
    _insert(db, "removed", batch)
    if digest.hexdigest() != held["rows"]["sha256"] or number != held["rows"]["rows"]:
        found.problems.append(f"{path}: was changed: it does not have the rows that the certificate names")
    return counted


def _columns(db: Database, table: str) -> list[str]:
    return [name for (name,) in db.rows("SELECT column_name FROM duckdb_columns() WHERE table_name = ?", [table])]


def _insert(db: Database, table: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        db.insert(table, pa.table(dict(zip(_columns(db, table), columns, strict=True))))


def _add_up(held: Mapping[str, Any], counted: Counter[tuple[str, str]], found: Findings) -> None:
    """Check that the counts are those of the rows, and that they add up."""
    records, sources = held["records"], held["sources"]
    for source in sources:
        for reason, count in source["dropped"].items():
            listed = counted.pop((source["name"], reason), 0)
            if listed != count:
                found.problems.append(
                    f"{source['name']}: {count:,} texts are counted as {reason}, and {listed:,} are listed"
                )
        if source["compared"] != source["kept"] + sum(source["dropped"].values()):
            found.problems.append(f"{source['name']}: the compared texts are not the kept and the removed ones")
    found.problems += [f"{name}: rows of a source that the certificate does not name" for name, _ in counted]
    for reason, count in records["dropped"].items():
        if count != sum(source["dropped"].get(reason, 0) for source in sources):
            found.problems.append(f"removed as {reason}: {count:,} is not the sum over all sources")
    not_compared = sum(records["not_compared"].values())
    if records["in"] != records["kept"] + sum(records["dropped"].values()):
        found.problems.append("what came in is not what was kept and what was removed")
    if records["in"] != not_compared + sum(source["compared"] for source in sources):
        found.problems.append("what came in is not what was compared and what was not")


def _inputs(held: Mapping[str, Any], given: Sequence[Path], found: Findings) -> Iterator[tuple[int, Source]]:
    """Yield the inputs that are there, by their numbers."""
    usual = Reading().flat()
    for each in held["inputs"]:
        path = _located(path_of(each["path"]), given, {name: each[name] for name in ("bytes", "sha256")})
        if path is None:
            found.problems.append(f"{each['path']}: this input is not there; name it, or its folder, with --input")
            continue
        if digest_of(path) != {name: each[name] for name in ("bytes", "sha256")}:
            found.problems.append(f"{path}: is not the input that was deduplicated: its bytes are others")
        options = {
            name: value for name, value in each["reading"].items()
            if name not in ("limit", "part") and json.dumps(value) != json.dumps(usual.get(name))
        }  # fmt: skip
        try:
            [source] = discover([str(path)], Reading.of(**options))
        except (EsdedupError, ValueError) as error:
            found.problems.append(f"{path}: cannot be read as it was: {error}")
            continue
        yield each["number"], source


def _located(path: Path, given: Sequence[Path], digest: Mapping[str, Any]) -> Path | None:
    """Return where a file is: under one of the `given` files and folders if there are any, by its name, and of several
    the one with this digest.
    """
    if not given:
        return path if path.is_file() else None
    tails = [Path(*path.parts[first:]) for first in range(len(path.parts)) if path.parts[first] != path.anchor]
    found = [place for place in given if place.is_file() and place.name == path.name]
    found += [place / tail for place in given for tail in tails if (place / tail).is_file()]
    found = list(dict.fromkeys(found))
    return next((each for each in found if len(found) > 1 and digest_of(each) == digest), next(iter(found), None))


def _outputs(held: Mapping[str, Any], folder: Path, found: Findings) -> Iterator[tuple[int, Path]]:
    """Yield the outputs that are there, by the numbers of their inputs."""
    for each in held["outputs"]:
        path = folder / each["path"]
        if not path.is_file():
            found.problems.append(f"{path}: this output is not there; name the folder with --output")
            continue
        if digest_of(path) != {name: each[name] for name in ("bytes", "sha256")}:
            found.problems.append(f"{path}: is not the output that was written: its bytes are others")
        yield each["input"], path


@dataclass
class _Texts:
    """A digest of ids and texts, without those that are not known."""

    count: int = 0
    numbered: bytearray = field(default_factory=bytearray)  # whether an id is the number of its record
    unknown: set[int] = field(default_factory=set)
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, identity: str, text: str, *, known: bool, numbered: bool) -> None:
        self.numbered.append(numbered)
        if known:
            self.digest.update(bytes_of(text) if numbered else bytes_of(identity) + bytes_of(text))
        else:
            self.unknown.add(self.count)
        self.count += 1


@dataclass
class _Files:
    """Reads inputs and outputs, and compares them with the rows."""

    held: Mapping[str, Any]
    signing: Signing
    db: Database
    found: Findings
    known: set[int] = field(default_factory=set)
    """Numbers of the inputs whose texts are known."""

    def read(self, number: int, source: Source, written: Path | None) -> None:
        """Check that an output is its input without the removed texts. Take in the texts that rows name."""
        if source.format.cleaner is not None:
            self.found.not_checked.append(f"{source.path}: texts with markup, so only hashes and counts are checked")
            return
        self.known.add(number)
        removed = {
            place: [position for _, position in held]
            for place, held in groupby(
                self.db.rows("SELECT place, position FROM removed WHERE file = ? ORDER BY ALL", [number]), itemgetter(0)
            )
        }
        needed = {
            place for (place,) in self.db.rows(
                "SELECT place FROM removed WHERE file = ? UNION SELECT kept_place FROM removed WHERE kept_file = ?",
                [number, number],
            )
        }  # fmt: skip
        merged = {
            place for (place,) in self.db.rows(
                "SELECT DISTINCT kept_place FROM removed WHERE kept_file = ? AND gave IS NOT NULL", [number]
            )
        }  # fmt: skip
        if merged:
            records = plural(len(merged), "record")
            self.found.not_checked.append(f"{source.path}: what {records} got of others (--merge)")
        expected, splitting = _Texts(), self.signing.splitting
        annotated = self.held["settings"]["rules"].get("annotate")
        for batch in _documents(source):
            self._take_in(number, [row for row in batch if row[0] in needed])
            for place, identity, text in batch:
                gone = removed.pop(place, [])
                left = text if annotated or not gone else None if splitting.whole else without(text, splitting, gone)
                if left is not None:
                    expected.add(identity, left, known=place not in merged, numbered=identity == str(place))
        self.found.several(
            f"{source.path}: record {place} is said to be removed, and is not there" for place in removed
        )
        self._check_output(number, source, written, expected)

    def _take_in(self, number: int, rows: Sequence[tuple[int, str, str]]) -> None:
        """Take in the texts of records, cut as they were compared."""
        units = segment([text for _, _, text in rows], self.signing.splitting)
        record = units.document
        columns = {
            "file": np.full(len(record), number),
            "place": np.array([place for place, _, _ in rows], np.int64)[record],
            "position": np.arange(len(record)) - np.searchsorted(record, record),
            "id": pa.array([identity for _, identity, _ in rows], pa.string()).take(pa.array(record)),
            "text": units.texts,
        }
        self.db.insert("texts", pa.table(columns))

    def _check_output(self, number: int, source: Source, written: Path | None, expected: _Texts) -> None:
        if written is None:
            if any(each["input"] == number for each in self.held["outputs"]):
                return  # which was said
            if expected.count and self.held["outputs"]:
                self.found.problems.append(f"{source.path}: nothing was written of it, and not all of it was removed")
            elif not self.held["outputs"]:
                self.found.not_checked.append(f"{source.path}: nothing was written (--dry-run)")
            return
        again = replace(source, path=written, size=written.stat().st_size)
        actual = _Texts()
        for batch in _documents(again):
            for _, identity, text in batch:
                known, numbered = (
                    actual.count not in expected.unknown,
                    expected.numbered[actual.count : actual.count + 1],
                )
                actual.add(identity, text, known=known, numbered=numbered == b"\1")
        if (actual.count, actual.digest.digest()) != (expected.count, expected.digest.digest()):
            self.found.problems.append(f"{written}: is not {source.path} without the removed texts")

    def compare(self, share: float) -> None:
        """Check ids and survivors, and compute the similarities of a share of the rows again."""
        self._check_ids()
        [(rows_lost, lost_in_all)] = self.db.rows(
            "SELECT count(*) FILTER (lost > 0), coalesce(sum(lost), 0) FROM removed"
        )
        if (rows_lost, lost_in_all) != (self.held["lost"]["rows"], self.held["lost"]["sentences"]):
            self.found.problems.append("what is lost is not the sum over all rows")
        others = self.db.rows(
            "SELECT name, count(*) FROM (SELECT unnest(other_values) AS name FROM removed) GROUP BY name"
        )
        if dict(others) != self.held["lost"]["columns"]:
            self.found.problems.append("the values that are lost are not the sum over all rows")
        rows = self.db.rows(
            "SELECT r.row, r.id, r.kept, r.reason, r.jaccard, CASE WHEN NOT EXISTS (SELECT 1 FROM removed g "
            "WHERE gave IS NOT NULL AND (g.kept_file, g.kept_place) = (r.kept_file, r.kept_place)) THEN r.lost END, "
            "a.text, coalesce(b.text, r.reference_text) "
            "FROM removed r JOIN texts a ON (a.file, a.place, a.position) = (r.file, r.place, r.position) "
            "LEFT JOIN texts b ON (b.file, b.place, b.position) = (r.kept_file, r.kept_place, r.kept_position) "
            "WHERE hash(r.row) % 1000000 < ? AND coalesce(b.text, r.reference_text) IS NOT NULL ORDER BY 8, 1",
            [round(share * 1_000_000)],
        )
        signer = TextSigner(self.signing)
        for kept, group in groupby(rows, itemgetter(7)):
            held = list(group)
            measured = np.round(jaccards_with(signer, kept, text_column([row[6] for row in held])), 6)
            self.found.compared += len(held)
            self.found.several(
                f"{row[1]}: its similarity to {row[2] or 'the reference'} is {value:g}, not {row[4]}"
                for row, value in zip(held, measured.tolist(), strict=True)
                if row[3] == "near" and row[4] is not None and abs(value - row[4]) > 1e-6
            )
            counts = lost_of_texts(
                self.signing, [*(row[6] for row in held), kept], np.arange(len(held)), np.full(len(held), len(held))
            ).counts
            self.found.several(
                f"{row[1]}: {count} of its sentences are lost, not {row[5]}"
                for row, count in zip(held, counts.tolist(), strict=True)
                if row[5] is not None and row[5] != count
            )
            self.found.several(
                f"{row[1]}: is said to be identical with {row[2]}, and is not"
                for row in held if row[3] == "identical" and (row[6] != kept or row[4] != 1)
            )  # fmt: skip
        rest = self.held["rows"]["rows"] - self.found.compared
        if share == 1 and rest:
            self.found.not_checked.append(f"{rest:,} rows were not compared again: the text that is kept is not known")

    def _check_ids(self) -> None:
        rows = self.db.rows(
            "SELECT r.id, a.id, r.file, r.place, a.text IS NULL FROM removed r LEFT JOIN texts a "
            "ON (a.file, a.place, a.position) = (r.file, r.place, r.position) "
            "UNION ALL SELECT r.kept, b.id, r.kept_file, r.kept_place, b.text IS NULL FROM removed r LEFT JOIN texts b "
            "ON (b.file, b.place, b.position) = (r.kept_file, r.kept_place, r.kept_position) "
            "WHERE r.kept_place IS NOT NULL"
        )
        self.found.several(
            f"{shown}: no such text in record {place} of input {number}"
            for shown, identity, number, place, missing in rows
            if number in self.known and (missing or not _is_id(shown, identity))
        )
        numbers = {each["number"] for each in self.held["inputs"]}
        named = self.db.rows("SELECT file FROM removed UNION SELECT kept_file FROM removed WHERE kept_file IS NOT NULL")
        if not {number for (number,) in named} <= numbers:
            self.found.problems.append("rows name an input that the certificate does not have")
        self.found.several(
            f"{kept}: is said to be kept, and is removed too"
            for (kept,) in self.db.rows(
                "SELECT DISTINCT r.kept FROM removed r JOIN removed o "
                "ON (o.file, o.place, o.position) = (r.kept_file, r.kept_place, r.kept_position)"
            )
            if not self.held["settings"]["rules"].get("contained") and not self.held["settings"]["rules"].get("against")
        )


def _is_id(shown: str, identity: str) -> bool:
    """Whether a shown id is that of a record: perhaps behind the name of its source, before a counter or a position."""
    return f"/{identity}" in f"/{shown}" and shown.rpartition(identity)[2][:1] in ("", "#", ":")


def _documents(source: Source) -> Iterator[list[tuple[int, str, str]]]:
    """Yield the place, the id and the text of the documents of a source up to its first damage, in batches."""
    with DocumentStream(source, Skips()) as stream, suppress(SourceError):
        for batch in stream:
            columns = (batch[name].to_pylist() for name in ("place", "id", "text"))
            yield list(zip(*columns, strict=True))
