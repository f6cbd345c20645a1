"""Small sets of generated data with planted copies, made in memory: to try esdedup without data of your own."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from esdedup.demo.copies import Text, documents, new_texts, references, short_rows
from esdedup.demo.english.grammar import pool
from esdedup.demo.wiki import generate
from esdedup.errors import UsageError
from esdedup.files import compact_json

_ARTICLES, _DOCUMENTS, _ROWS, _REFERENCES, _NEW = 100, 100, 500, 300, 200


class Planted(NamedTuple):
    """Texts that are copies of each other: `kind` says how they differ, `ids` are those of the rows that have them.

    `texts` are the sentences of a wiki; of other samples they are the texts of the rows.
    """

    kind: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """Generated rows, each a dict with `id` and `text`, and what is planted in them.

    `reference` are the rows of a reference collection, if there is one; the first id of what is planted is then there.
    """

    name: str
    rows: list[dict[str, str]] = field(repr=False)
    truth: list[Planted] = field(repr=False)
    reference: list[dict[str, str]] = field(default_factory=list, repr=False)
    export: bytes = field(default=b"", repr=False)
    """The rows of a wiki as a MediaWiki export."""

    def write(self, folder: str | Path) -> Path:
        """Write the rows to a file in `folder` and return its path: NAME.jsonl, or wiki.xml.

        What is planted is written to NAME.truth.jsonl, and a reference collection to NAME-reference.jsonl.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (f"{self.name}.xml" if self.export else f"{self.name}.jsonl")
        path.write_bytes(self.export or _lines(self.rows))
        (folder / f"{self.name}.truth.jsonl").write_bytes(_lines([planted._asdict() for planted in self.truth]))
        if self.reference:
            (folder / f"{self.name}-reference.jsonl").write_bytes(_lines(self.reference))
        return path


def sample(name: str, seed: int = 1) -> Sample:
    """Return a small set of generated data with planted copies.

    | name | rows | planted |
    |---|---|---|
    | `wiki` | 100 articles in wikitext | sentences: all kinds of clusters |
    | `documents` | 100 texts of 1,000 to 6,000 characters | copies with other words or paragraphs |
    | `records` | 500 rows of 20 to 200 characters, and a city | copies with a typo, or one word more or other |
    | `leaks` | 200 texts, and 300 in `reference` | 20 texts that stand in the reference |

    Args:
        name: One of these names.
        seed: Other seeds give other data; the same seed gives the same.

    Returns:
        The rows, what is planted in them, and a method that writes them to files.

    Raises:
        UsageError: The name is unknown.

    Example:
        >>> import esdedup
        >>> esdedup.dedupe(esdedup.sample("documents").rows, quiet=True).records["in"]
        100
    """
    if name not in _MAKERS:
        raise UsageError(f"sample is {name!r}; allowed: {', '.join(_MAKERS)}")
    return _MAKERS[name](seed)


def _wiki(seed: int) -> Sample:
    out, truth = io.BytesIO(), io.StringIO()
    generate(_ARTICLES, seed, out, truth, history=False)
    planted = []
    for line in truth.getvalue().splitlines():
        plant = json.loads(line)
        documents, texts = zip(*((member["document"], member["text"]) for member in plant["members"]), strict=True)
        planted.append(Planted(plant["kind"], documents, texts))
    return Sample("wiki", list(_articles(out.getvalue())), planted, export=out.getvalue())


def _articles(export: bytes) -> Iterator[dict[str, str]]:
    """Yield the articles of an export: `id`, `title`, and the wikitext as `text`."""
    from lxml import etree

    for page in etree.fromstring(export).iterfind("{*}page"):
        if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None:
            values = (page.findtext(f"{{*}}{name}") or "" for name in ("id", "title", "revision/{*}text"))
            yield dict(zip(("id", "title", "text"), values, strict=True))


def _documents(seed: int) -> Sample:
    texts = list(documents(_DOCUMENTS, seed, longest=6000))
    return Sample("documents", [_row(text) for text in texts], _planted(texts, texts))


def _records(seed: int) -> Sample:
    texts = list(short_rows(_ROWS, seed))
    cities = pool("place")
    rows = [_row(text) | {"city": cities[_first(text) % len(cities)]} for text in texts]
    return Sample("records", rows, _planted(texts, texts))


def _leaks(seed: int) -> Sample:
    old = list(references(_REFERENCES, seed))
    new = list(new_texts(_NEW, _REFERENCES, seed))
    return Sample("leaks", [_row(text) for text in new], _planted(old, new), [_row(text) for text in old])


_MAKERS: dict[str, Callable[[int], Sample]] = {
    "wiki": _wiki,
    "documents": _documents,
    "records": _records,
    "leaks": _leaks,
}


def _row(text: Text) -> dict[str, str]:
    return {"id": str(text.number), "text": text.text}


def _first(text: Text) -> int:
    return text.number if text.origin is None else text.origin


def _planted(origins: list[Text], texts: list[Text]) -> list[Planted]:
    return [
        Planted(text.kind, (str(text.origin), str(text.number)), (origins[text.origin].text, text.text))
        for text in texts
        if text.origin is not None
    ]


def _lines(rows: list[Any]) -> bytes:
    return "".join(f"{compact_json(row)}\n" for row in rows).encode()
