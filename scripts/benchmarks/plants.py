"""Sentences edited by hand, in documents that are added to the pages of real dumps.

Half of the edits state another fact, half say the same. A third of the added documents copies a passage, a third has
nothing else in common with a page, and a third follows a pattern. `plants.tsv` has no text of others: an edited
sentence is a list of ranges of the letters of the sentence with a content hash, and of what was put in.
"""

from __future__ import annotations

import csv
import json
import random
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

import esdedup
from scripts.benchmarks.history import Saved, moment, write_history
from scripts.benchmarks.truth_corpora import OPTIONS, Clustered, hashes_of

PLANTS = Path(__file__).with_name("plants.tsv")

SETTINGS = ("copied", "alone", "pattern")

DUMPS = {
    "design": ("enwiki-106-articles.xml.bz2", *(f"berlin/{code}.xml.bz2" for code in ("de", "fr", "es", "ru"))),
    "test": (
        "enwiki-machine-learning.xml.bz2", "enwiki-composers-2009.xml.bz2", "berlin/it.xml.bz2",
        "ukwiki-2023-head.xml.bz2", "elwiki-2023-head.xml.bz2", "jawiki-2023-head.xml.bz2",
    ),
    "later": ("enwiki-2025-head.xml.bz2", "berlin/fr.xml.bz2", "ukwiki-2023-head.xml.bz2", "jawiki-2023-head.xml.bz2"),
    "last": ("enwiki-2025-head.xml.bz2", "berlin/fr.xml.bz2"),
}  # fmt: skip
"""The dumps whose sentences were edited, by half. `later` and `last` were written after the other half had been seen.
Those of `last` whose ids begin with `last-a` were looked at when words were added; those of `last-b` never were.
"""

_OPTIONS: dict[str, Any] = {"lookup": False, "report": False, "fresh": True, **OPTIONS}

_BESIDE = 2
"""Sentences on each side that are copied, too."""


class Plant(NamedTuple):
    """A sentence and its edited form."""

    language: str
    side: str  # contradiction or harmless
    kind: str
    setting: str
    text: str
    edited: str

    @property
    def hashes(self) -> tuple[str, str]:
        """The content hashes of both texts, in order."""
        a, b = sorted(hashes_of([self.text, self.edited]))
        return a, b


def planted(data: Path, folder: Path, half: str) -> tuple[Clustered, list[Plant]]:
    """Cluster the dumps of a half together with the documents that were added. Return what was added, too."""
    dumps = [data / "wiki" / name for name in DUMPS[half]]
    source = folder / f"plants-{half}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    plants = []
    with source.open("w", encoding="utf-8") as lines:
        for record, plant in documents(_dumps_alone(data, folder, half), half):
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            plants += [plant] if plant is not None else []
    out = folder / f"plants-{half}"
    esdedup.run(
        *dumps, source, out=out, unit="sentence", id_column="id", title_column="title", text_column="text", **_OPTIONS
    )
    return Clustered("plants", half, out), plants


@cache
def _dumps_alone(data: Path, folder: Path, half: str) -> Path:
    """The store of the dumps of a half, from which sentences are taken."""
    out = folder / f"dumps-{half}"
    esdedup.run(*(data / "wiki" / name for name in DUMPS[half]), out=out, kinds=False, **_OPTIONS)
    return out / "store.duckdb"


def documents(store: Path, half: str) -> Iterator[tuple[dict[str, str], Plant | None]]:
    """Yield the documents that are added, each with what was planted in it."""
    with PLANTS.open(encoding="utf-8", newline="") as lines, duckdb.connect(str(store), read_only=True) as db:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["half"] != half:
                continue
            chance = random.Random(zlib.crc32(row["id"].encode()))
            setting = SETTINGS[zlib.crc32(row["id"].encode()) % len(SETTINGS)]
            if row["text"]:
                text, title, around = row["text"], row["title"], [_filler(chance) for _ in range(2 * _BESIDE)]
                whole = [*around[:_BESIDE], text, *around[_BESIDE:]]
                yield _document(f"{row['id']}-0", title, whole), None
            else:
                text, around = _found(db, row["id"])
            plant = Plant(row["language"], row["side"], row["kind"], setting, text, edited(text, row["edit"]))
            if setting != "copied":
                make = _filler if setting == "alone" else _patterned
                around = [make(chance) for _ in range(2 * _BESIDE)]
            sentences = [*around[:_BESIDE], plant.edited, *around[_BESIDE:]]
            yield _document(f"{row['id']}-1", _name(chance), sentences), plant


def corrected(data: Path, folder: Path, half: str) -> tuple[Clustered, list[tuple[str, Plant]]]:
    """Cluster histories in which each plant's text was edited on one page, while a copy on another page stayed as it
    was. Return the titles of the pages that were edited, too.
    """
    pages: dict[str, list[Saved]] = {}
    plants = []
    for record, plant in documents(_dumps_alone(data, folder, half), half):
        if plant is None:
            continue
        chance = random.Random(record["id"])
        title, copy, (own, other) = record["title"], _name(chance), (_filler(chance) for _ in range(2))
        pages[title] = [
            (moment(1), "Ann", [own, plant.text]), (moment(400), "Bert", [own, plant.edited]),
        ]  # fmt: skip
        pages[copy] = [(moment(200), "Cleo", [other, plant.text])]
        plants.append((title, plant))
    source = write_history(folder / f"corrected-{half}.xml", pages)
    out = folder / f"corrected-{half}"
    esdedup.run(source, out=out, revisions="all", **_OPTIONS)
    return Clustered("corrected", half, out), plants


def edited(text: str, edit: str) -> str:
    """Apply an edit: a JSON list of ranges of letters, and of what is put in."""
    return "".join(piece if isinstance(piece, str) else text[slice(*piece)] for piece in json.loads(edit))


def _document(identity: str, title: str, sentences: list[str]) -> dict[str, str]:
    return {"id": identity, "title": title, "text": "\n\n".join(sentences)}


def _found(db: duckdb.DuckDBPyConnection, identity: str) -> tuple[str, list[str]]:
    """Return the sentence with a content hash, and those around it."""
    text, document, position = db.execute(
        "SELECT text, document, position FROM sentences WHERE hash = ? ORDER BY document, position LIMIT 1",
        [int(identity, 16)],
    ).fetchall()[0]
    around = db.execute(
        "SELECT text FROM sentences WHERE document = ? AND position <> ? ORDER BY abs(position - ?), position LIMIT ?",
        [document, position, position, 2 * _BESIDE],
    ).fetchall()
    return text, [text for (text,) in around]


_SYLLABLES = [
    "ba",
    "ko",
    "lu",
    "mer",
    "tis",
    "ran",
    "vel",
    "dor",
    "na",
    "shi",
    "ost",
    "gar",
    "el",
    "mi",
    "pon",
    "thal",
    "re",
    "zu",
]


def _name(chance: random.Random) -> str:
    """A title of two invented words."""
    return " ".join("".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(2))


def _filler(chance: random.Random) -> str:
    """A sentence of invented words, like no other."""
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(14)]
    return " ".join(words).capitalize() + "."


def _patterned(chance: random.Random) -> str:
    """A sentence as it stands on every page of a series."""
    name, number = _name(chance), chance.randint(100, 9_999)
    built, homes, area, height = number % 900 + 1000, number // 3, number / 100, number // 7
    return chance.choice(
        [
            f"{name} is a village in the district of {_name(chance)}, and its parish church was built in {built}.",
            f"According to the census of 2011, the village had {number} inhabitants living in {homes} households.",
            f"The municipality covers an area of {area} square kilometres at an elevation of {height} metres.",
            f"The nearest railway station is {name}, which lies {number % 40 + 2} kilometres from the village square.",
        ]
    )
