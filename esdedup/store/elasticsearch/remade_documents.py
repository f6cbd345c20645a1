"""Make documents again from their sentences, which say everything about them but their content hash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from esdedup.store.elasticsearch.reading import Fields, Reader
from esdedup.store.elasticsearch.rows import CHANGED, POSITION_MASK

_REPEATED = re.compile("(.*)#([2-9]|[1-9][0-9]{1,8})", re.DOTALL)
_AT_ONCE = 256


def remade_documents(reader: Reader, sentences: str, numbers: Sequence[int], unit: str) -> Iterator[dict[str, Any]]:
    """Yield the documents with these numbers, made from the sentences in the index `sentences`.

    They count as changed, so reading their source again brings the true ones back.
    """
    for begin in range(0, len(numbers), _AT_ONCE):
        made: dict[int, dict[str, Any]] = {}
        asked = numbers[begin : begin + _AT_ONCE]
        for hits in reader.look_up(sentences, "document_number", asked, Fields(source=True)):
            for row in (hit["_source"] for hit in hits):
                document = made.setdefault(row["document_number"], _document(row))
                document["kept"] += 1
                position = 0 if unit == "record" else row["number"] & POSITION_MASK
                document["sentences"] = max(document["sentences"], position + 1)
        yield from (made[number] for number in sorted(made))


def _document(sentence: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a sentence, as far as this tells."""
    source, identity = sentence["source"], sentence["document"]
    qualified = identity.startswith(f"{source}/")
    key, occurrence = identity.removeprefix(f"{source}/"), 1
    if (repeated := _REPEATED.fullmatch(key)) is not None:
        key, occurrence = repeated[1], int(repeated[2])
    return {
        "number": sentence["document_number"],
        "source_number": sentence.get("source_number") or 0,
        "source": source,
        "qualified": qualified,
        "key": key,
        "occurrence": occurrence,
        "id": identity,
        "title": sentence.get("title"),
        "content": CHANGED,
        "sentences": 0,
        "kept": 0,
        "place": sentence.get("place"),
        "language": sentence.get("language"),
    }
