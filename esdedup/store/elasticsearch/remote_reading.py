"""How other machines read a store's sentences: with clients of their own, slice by slice.

What identifies them to the server is in the environment of each machine, and does not travel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.errors import StoreLockedError
from esdedup.plurals import plural
from esdedup.store.elasticsearch.address import ServerAddress
from esdedup.store.elasticsearch.connection import Connection
from esdedup.store.elasticsearch.reading import Fields, Reader, Slice, signed
from esdedup.store.elasticsearch.rows import signature_table, table_of_hits

TEXT: pa.Schema = pa.schema([("hash", pa.uint64()), ("text", pa.large_string())])


def read_slice(
    address: ServerAddress, index: str, fields: Fields, columns: int, group_ids: Numbers, across: str, one: Slice
) -> pa.Table:
    """Return a slice of an index of sentences as rows of `esdedup.matching.engine.SIGNATURES`.

    Raise `StoreLockedError` if it has other documents than when it was cut.
    """
    with closing(Connection(address)) as connection:
        [(_, hits)] = Reader(connection).read_slices(index, fields, [one])
    if len(hits) != one.documents:
        raise StoreLockedError(
            f"{address}: another command has just changed this store ({index} had {plural(one.documents, 'sentence')} "
            f"in a slice, but {len(hits):,} were read); run this command again after it ends"
        )
    return signature_table(hits, columns, group_ids, across)


def read_texts(address: ServerAddress, index: str, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield rows (hash, text) for the texts in column `hash`: each text once, in any order."""
    with closing(Connection(address)) as connection:
        yield from texts_of(Reader(connection), index, hashes)


def texts_of(reader: Reader, index: str, hashes: pa.Table) -> Iterator[pa.RecordBatch]:
    """The same, with a client that is there."""
    values = signed(hashes["hash"].to_numpy())
    for hits in reader.first_of_each(index, "hash", values, Fields(source=True), sort=["_doc"]):
        yield from table_of_hits(hits, TEXT, {}).to_batches()
