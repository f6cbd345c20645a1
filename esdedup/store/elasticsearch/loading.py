"""Write rows to the indices. Sentences are sent with the names of their documents, once these are known."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import Numbers
from esdedup.columns.records import Skips
from esdedup.errors import StoreError
from esdedup.store.elasticsearch.bulk import Action, Bulk
from esdedup.store.elasticsearch.generations import OpenGeneration
from esdedup.store.elasticsearch.ledger import ServerLedger
from esdedup.store.elasticsearch.rows import POSITION_BITS, document_actions, sentence_actions
from esdedup.store.ledger import SourceCheckpoint
from esdedup.store.schemas import DATES, SEEN


class Loader:
    """Writes the rows of one part of a run. Without `lookup`, they cannot be searched before it is made."""

    def __init__(self, opened: OpenGeneration, ledger: ServerLedger, parts: int, *, lookup: bool) -> None:
        self._open = opened
        self._names = opened.names
        self._ledger = ledger
        self._parts = parts
        self._lookup = lookup
        self._sentences: pa.Table | None = None
        self._seen = SEEN.empty_table()

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        """Write documents and their sentences, then save how far the source has been read.

        Sentences may arrive before their document, which ends only with the last revision of its page. They are kept
        until then.
        """
        waiting = sentences if self._sentences is None else pa.concat_tables([self._sentences, sentences])
        dates = pa.concat_tables([self._seen, seen])
        last = pc.max(documents["number"]).as_py() if documents.num_rows else -1
        ready = pc.less_equal(waiting["document"], last)
        self._sentences = waiting.filter(pc.invert(ready)).combine_chunks()
        self._seen = dates.filter(pc.greater(dates["document"], last))
        rows = _dated(waiting.filter(ready).combine_chunks(), dates.filter(pc.less_equal(dates["document"], last)))
        next_number = last + self._parts if documents.num_rows else 0
        self._ledger.announce(next_number)
        refused = self._send("sentences", self._actions(checkpoint, documents, rows))
        kept = Counter(rows["document"].to_pylist())
        kept.subtract(orjson.loads(line)["document"]["document_number"] for line in refused)
        refused += self._send("documents", document_actions(checkpoint, documents, kept))
        skips = Skips()
        if refused:
            path = _keep(refused, self._open.connection.address.prefix)
            why = orjson.loads(refused[0])["reason"]
            skips.add("refused", f"{checkpoint.path}: refused by the server, saved in {path}: {why}", len(refused))
        self._ledger.advance(checkpoint, next_number, skips)

    def _actions(self, checkpoint: SourceCheckpoint, documents: pa.Table, rows: pa.Table) -> Iterator[Action]:
        return sentence_actions(checkpoint, self._open.signing, documents, rows, lookup=self._lookup)

    def _send(self, kind: str, actions: Iterable[Action]) -> list[bytes]:
        """Write documents to an index. Return those that the server rejected."""
        with Bulk(self._open.connection, self._names[kind], lenient=True, check=self._ledger.check) as bulk:
            bulk.add(actions)
            bulk.finish()
            return bulk.refused


def _keep(refused: list[bytes], prefix: str) -> Path:
    """Append rejected documents to a file, one JSON line each. Return its name."""
    path = Path(os.environ.get("ESDEDUP_DEAD_LETTERS") or f"{prefix}.refused.jsonl")
    try:
        with path.open("ab") as file:
            file.writelines(line + b"\n" for line in refused)
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror}; cannot save {len(refused)} documents that the server rejected; set "
            "ESDEDUP_DEAD_LETTERS to another file and run the same command again"
        ) from error
    return path


def _dated(sentences: pa.Table, seen: pa.Table) -> pa.Table:
    """Add the first and the last revision to sentences, where these are known."""
    if not seen.num_rows:
        return sentences
    keys = _keys(sentences)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys, _keys(seen), sorter=order)]
    mask = np.zeros(len(keys), np.bool_)
    mask[at] = True
    values = seen.take(pa.array(np.argsort(at)))
    for name in DATES:
        where = sentences.schema.get_field_index(name)
        old = sentences[name].combine_chunks()
        new = pc.replace_with_mask(old, pa.array(mask), values[name].combine_chunks())
        sentences = sentences.set_column(where, sentences.schema.field(where), new)
    return sentences


def _keys(rows: pa.Table) -> Numbers:
    documents, positions = (rows[name].to_numpy().astype(np.int64) for name in ("document", "position"))
    keys: Numbers = documents << POSITION_BITS | positions
    return keys
