"""Pairs of which a person has said whether they are the same, and pairs of which nobody has yet."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from esdedup.errors import SettingsError
from esdedup.files import whole_file

_YES = {"yes", "y", "true", "1", "same", "ja", "oui"}
_NO = {"no", "n", "false", "0", "different", "nein", "non"}
COLUMNS = ("same", "probability", "a", "b", "a_text", "b_text")


class Label(NamedTuple):
    """Two records, by their ids, and whether they are the same."""

    a: str
    b: str
    same: bool


def read_labels(path: str) -> list[Label]:
    """Read a CSV with the columns `a`, `b` and `same` (yes or no). Rows without an answer are left out.

    Raises `SettingsError` for a file that cannot be read, and for another answer.
    """
    found: dict[tuple[str, str], Label] = {}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            begin = file.readline()
            file.seek(0)
            rows = csv.DictReader(file, delimiter=";" if begin.count(";") > begin.count(",") else ",")
            missing = {"a", "b", "same"} - set(rows.fieldnames or ())
            if missing:
                raise SettingsError(f"labels: {path} has no column {', '.join(sorted(missing))}")
            for row in rows:
                answer = (row["same"] or "").strip().casefold()
                if not answer:
                    continue
                if answer not in _YES | _NO:
                    raise SettingsError(f"labels: {path}, line {rows.line_num}: same is {answer!r}; write yes or no")
                label = Label(row["a"] or "", row["b"] or "", answer in _YES)
                other = found.setdefault((min(label[:2]), max(label[:2])), label)
                if other.same != label.same:
                    raise SettingsError(
                        f"labels: {path}, line {rows.line_num}: {label.a} and {label.b} have both answers; keep one"
                    )
    except UnicodeDecodeError as error:
        raise SettingsError(f"labels: {path}: is not UTF-8; save it as CSV in UTF-8") from error
    except (OSError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"labels: {path}: {why}; give a CSV as --review writes it") from error
    return list(found.values())


def labels_state(path: str) -> int:
    """Return a number that changes with the file."""
    try:
        return zlib.crc32(Path(path).read_bytes())
    except OSError as error:
        raise SettingsError(f"labels: {path}: {error.strerror}; give a CSV as --review writes it") from error


def check_review(path: str) -> None:
    """Raise `SettingsError` if a file is there that somebody has filled in, or that no review wrote."""
    if not Path(path).exists():
        return
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            own = tuple(csv.DictReader(file).fieldnames or ()) == COLUMNS
    except (OSError, UnicodeDecodeError, csv.Error):
        own = False
    if not own:
        raise SettingsError(f"review: {path} is there and no review; name another file")
    if read_labels(path):
        raise SettingsError(f"review: {path} has answers; give it to --labels, and name another file for --review")


def write_review(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows of `COLUMNS`."""
    with whole_file(Path(path)) as part, part.open("w", encoding="utf-8", newline="") as file:
        written = csv.writer(file, lineterminator="\n")
        written.writerow(COLUMNS)
        written.writerows(rows)
