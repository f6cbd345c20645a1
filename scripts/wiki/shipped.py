"""The samples that the package ships: made once, and written to esdedup/demo/data."""

from __future__ import annotations

import bz2
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from esdedup.files import compact_json
from scripts.wiki.copies import Text, documents, new_texts, references, short_rows
from scripts.wiki.english.grammar import pool
from scripts.wiki.writing import generate_files, truth_beside

DATA = Path(__file__).parents[2] / "esdedup" / "demo" / "data"
SEED = 1
ARTICLES, DOCUMENTS, ROWS, REFERENCES, NEW = 200, 100, 500, 300, 200


def write_samples() -> None:
    """Write all samples: rows, what is planted in them, and perhaps a reference collection."""
    DATA.mkdir(exist_ok=True)
    wiki = DATA / "wiki.xml.bz2"
    generate_files(ARTICLES, SEED, wiki)
    truth = truth_beside(wiki)
    (DATA / "wiki.truth.jsonl.bz2").write_bytes(bz2.compress(truth.read_bytes()))
    truth.unlink()
    texts = list(documents(DOCUMENTS, SEED, longest=6000))
    _write("documents", map(_row, texts))
    _write("documents.truth", _planted(texts, texts))
    texts, cities = list(short_rows(ROWS, SEED)), pool("place")
    _write("records", (_row(text) | {"city": cities[_first(text) % len(cities)]} for text in texts))
    _write("records.truth", _planted(texts, texts))
    old, texts = list(references(REFERENCES, SEED)), list(new_texts(NEW, REFERENCES, SEED))
    _write("leaks", map(_row, texts))
    _write("leaks.truth", _planted(old, texts))
    _write("leaks-reference", map(_row, old))


def _write(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    (DATA / f"{name}.jsonl.bz2").write_bytes(bz2.compress("".join(f"{compact_json(row)}\n" for row in rows).encode()))


def _row(text: Text) -> dict[str, str]:
    return {"id": str(text.number), "text": text.text}


def _first(text: Text) -> int:
    return text.number if text.origin is None else text.origin


def _planted(origins: Sequence[Text], texts: Sequence[Text]) -> list[dict[str, Any]]:
    return [
        {
            "kind": text.kind,
            "ids": [str(text.origin), str(text.number)],
            "texts": [origins[text.origin].text, text.text],
        }
        for text in texts
        if text.origin is not None
    ]
