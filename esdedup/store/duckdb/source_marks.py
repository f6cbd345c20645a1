"""How far each source has been read, and what was left out of it, in the embedded store."""

from __future__ import annotations

from esdedup.columns.database import Database
from esdedup.columns.records import Skips
from esdedup.store.protocol import SourceMark


def read_marks(db: Database) -> list[SourceMark]:
    """Every source ever read into the store, in that order."""
    marks = []
    for number, name, qualified, history, path, fingerprint, documents, finished in db.rows(
        "SELECT number, name, qualified, history, path, fingerprint, documents, finished FROM sources ORDER BY number"
    ):
        skips = Skips()
        for reason, count, places in db.rows(
            "SELECT reason, count, places FROM skipped WHERE source = ? ORDER BY reason", [number]
        ):
            skips.counts[reason] = count
            if places:
                skips.places[reason] = places
        marks.append(SourceMark(name, path, fingerprint, qualified, history, number, documents, finished, skips))
    return marks


def save_mark(db: Database, mark: SourceMark) -> None:
    """Put the mark in the place of what was told of its source before."""
    told = [mark.number, mark.name, mark.qualified, mark.history, mark.path, mark.fingerprint, mark.documents]
    db.execute("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*told, mark.finished])
    db.execute("DELETE FROM skipped WHERE source = ?", [mark.number])
    for reason, count in mark.skips.counts.items():
        places = mark.skips.places.get(reason, [])
        db.execute("INSERT INTO skipped VALUES (?, ?, ?, ?)", [mark.number, reason, count, places])
