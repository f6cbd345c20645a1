"""The store in a lake: views of its Parquet files in a private database."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from esdedup.clustering.clusters import CLUSTER_TEXTS, CLUSTERS, Clusters
from esdedup.columns.arrays import Numbers, table_of_rows
from esdedup.columns.database import Database
from esdedup.errors import EngineError, SourceError, StoreError, UsageError
from esdedup.files import whole_file
from esdedup.formats.reading_options import Part
from esdedup.matching.engine import SIGNATURES, Elsewhere
from esdedup.matching.signing import Signing, freeze
from esdedup.store.cluster_kinds import Classifier
from esdedup.store.corpus import ALL
from esdedup.store.duckdb import generation_file as files
from esdedup.store.duckdb.corpus import FileCorpus
from esdedup.store.duckdb.ledger import DamagedError, FileLedger
from esdedup.store.lake.lake_files import (
    ABOUT,
    PARTS,
    REPEATS,
    RESULTS,
    LakeFiles,
    not_searched,
    only_read,
    open_writer,
)
from esdedup.store.ledger import Ledger, SourceCheckpoint, checkpoint_of
from esdedup.store.naming import SOURCE_GROUPS
from esdedup.store.rereading import find_repeats
from esdedup.store.results import Results
from esdedup.store.schemas import DOCUMENT_ROWS, PAIRS, SENTENCE_ROWS, TABLES, check_same, create_tables
from esdedup.store.store import Store

_ROWS = 50_000


class LakeCorpus(FileCorpus):
    """Documents and sentences in Parquet files. `parts` are those of sentences, with the source and the first document
    number of each.
    """

    def __init__(
        self, db: Database, ledger: FileLedger, signing: Signing, folder: Path, parts: Sequence[tuple[Path, int, int]]
    ) -> None:
        super().__init__(db, ledger, signing, folder, read_only=True)
        self.lookup = False
        self._folder = folder
        self._parts = parts

    def _refuse(self) -> NoReturn:
        raise StoreError(only_read(self._folder))

    def begin(self, checkpoints: list[SourceCheckpoint], part: Part = ALL) -> int:
        self._refuse()

    def append(self, checkpoint: SourceCheckpoint, documents: pa.Table, sentences: pa.Table, seen: pa.Table) -> None:
        self._refuse()

    def remove(self, ids: Sequence[str]) -> tuple[int, list[str]]:
        self._refuse()

    def holders(self, tokens: pa.Table) -> pa.Table:
        self._db.create("asked", tokens, temporary=True)
        return self._db.table(
            "SELECT DISTINCT token, hash FROM (SELECT unnest(tokens) AS token, hash FROM sentences) "
            "SEMI JOIN asked USING (token)"
        )

    def lookup_behind(self) -> int:
        raise StoreError(not_searched(self._folder))

    def elsewhere(self, across: str) -> Elsewhere:
        groups = dict(self._db.rows(f"SELECT number, group_id FROM ({SOURCE_GROUPS})"))
        slices = [
            partial(_signatures, path, rows, {"any": -1, "documents": first, "sources": groups[source]}[across], across)
            for path, source, first in self._parts
            for rows in range(pq.read_metadata(path).num_row_groups)
        ]
        return Elsewhere(slices, None, [partial(_texts, path) for path, _, _ in self._parts])


def _signatures(path: Path, number: int, group: int, across: str) -> pa.Table:
    """Return some rows of a part, a row group, as `SIGNATURES`. `group` is that of all, or of the first document."""
    rows = _read(path).read_row_group(number, columns=["document", "hash", "length", "tokens"])
    groups: Numbers = np.full(len(rows), group, np.int64)
    if across == "documents":
        groups += rows["document"].to_numpy()
    return rows.append_column("group_id", pa.array(groups)).select(SIGNATURES.names).cast(SIGNATURES)


def _texts(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield rows (hash, text) of all sentences of a part."""
    yield from _read(path).iter_batches(_ROWS, columns=["hash", "text"])


def _read(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise EngineError.unseen(path) from error


_PARTS: pa.Schema = pa.schema([("number", pa.int32()), ("first", pa.int64()), ("places", pa.int64())])
"""Parts, with the number of their first document, and of the records that precede them in their source."""

_AT_ONCE = 100_000
_ROW_BITS = 40  # of a row's number, beside that of its part
_ORDERS = {"pairs": "a, b", "clusters": "id", "cluster_texts": "hash", "origins": "cluster, document, position"}


class LakeStore(Store):
    """The lake in a folder. It is only read. What a scan finds stays in memory, or in temporary files, unless `saves`
    names the folder where it belongs: then it is saved when the store is published, and the lake moves there.

    `described` is what a lake will say of itself that is not finished.

    Raise `NotAStoreError`, `StoreVersionError`, `StoreSettingsError` (if the lake has other settings than `frozen`) and
    `StoreError`.
    """

    generation = ""
    MORE = "read these into another --out"

    def __init__(
        self,
        folder: Path,
        frozen: Mapping[str, Any] | None = None,
        *,
        memory: int = 2**28,
        threads: int = 1,
        read_only: bool = False,
        fresh: str | None = None,
        lookup: bool = True,
        saves: Path | None = None,
        described: dict[str, Any] | None = None,
    ) -> None:
        del read_only, lookup  # it always is, and never has one
        if fresh is not None:
            raise UsageError(f"{folder}: a lake is not made again in place; use another --out, or delete the folder")
        self.address = str(folder)
        self._files = LakeFiles(folder)
        self._saves = saves
        self._described = self._files.read() if described is None else described
        with ExitStack() as stack:
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="esdedup-lake-")))
            # DuckDB would take a path with brackets or stars for a pattern
            self._plain = own / "lake"
            self._plain.symlink_to(folder.resolve(), target_is_directory=True)
            self._db = stack.enter_context(
                Database(memory=memory, threads=threads, spill=own / "spill", reads=self._plain)
            )
            create_tables(self._db)
            ledger = FileLedger(self._db)
            try:
                ledger.set(**self._described["about"])
                for saved in self._described["sources"]:
                    ledger.save(checkpoint_of(saved))
                files.check_version(ledger, folder)
                self.signing = files.stored_signing(ledger, folder)
                check_same(self.address, self.signing, freeze(self.signing, frozen or {}))
                parts = self._view_parts()
                if ledger.get("scan") is not None:
                    self._view_results()
            except (DamagedError, duckdb.Error) as error:
                raise self._files.damaged(" ".join(str(error).split())) from error
            self._stack = stack.pop_all()
        self.ledger: Ledger = ledger
        self.corpus = LakeCorpus(self._db, ledger, self.signing, folder, parts)
        self.results = _LakeResults(self.corpus, ledger, self._db)

    # -- views ----------------------------------------------------------------------------------------------

    def _view_parts(self) -> list[tuple[Path, int, int]]:
        """Make views of documents and sentences. Return the path of each part's sentences, its source and the number of
        its first document.
        """
        described, own = self._described["parts"], self._files
        firsts = list(accumulate((part["documents"] for part in described), initial=0))[:-1]
        rows, places = [], dict[int, int]()  # by source: the records of its parts so far
        for part, first in zip(described, firsts, strict=True):
            before = places.get(part["source"], 0)
            rows.append((part["number"], first, before))
            places[part["source"]] = before + part["records"]
        self._db.create("parts", table_of_rows(rows, _PARTS))
        repeats = REPEATS.empty_table()
        if own.repeats.exists():
            self._view("occurrences", [own.check(own.repeats, REPEATS)], "SELECT * FROM {}")
        else:
            self._db.create("occurrences", repeats)
        paths = {
            table: [own.check(own.rows(table, part["number"]), schema) for part in described]
            for table, schema in PARTS.items()
        }
        kept = ", ".join(f"r.{name}" for name in SENTENCE_ROWS.names if name != "document")
        for table, columns in {
            "documents": "(r.number + p.first)::INTEGER AS number, r.source, r.key, coalesce(o.n, 1) AS occurrence, "
            "r.title, r.content, r.sentences, r.place + p.places AS place, r.language, r.short, r.revision, r.links, "
            "(r.number + p.first)::BIGINT AS rowid "
            "FROM {} r JOIN parts p ON p.number = r.part LEFT JOIN occurrences o ON o.number = r.number + p.first",
            "sentences": f"(r.document + p.first)::INTEGER AS document, {kept}, "
            f"(p.number::BIGINT << {_ROW_BITS} | r.file_row_number) AS rowid "
            "FROM {} r JOIN parts p ON p.number = r.part",
        }.items():
            self._view(table, paths[table], f"SELECT {columns}")
        sources = (part["source"] for part in described)
        return list(zip((path.resolve() for path in paths["sentences"]), sources, firsts, strict=True))

    def _view_results(self) -> None:
        for table, schema in RESULTS.items():
            self._view(table, [self._files.check(self._files.result(table), schema)], "SELECT * FROM {}")

    def _view(self, table: str, paths: list[Path], select: str) -> None:
        listed = ", ".join(f"'{self._plain / path.relative_to(self._files.folder)}'" for path in paths)
        numbered = "file_row_number" in select
        rows = f"read_parquet([{listed}], file_row_number = {numbered})" if paths else f"{table}_none"
        if not paths:
            self._db.create(f"{table}_none", PARTS[table].append(pa.field("file_row_number", pa.int64())).empty_table())
        self._db.execute(f"DROP TABLE IF EXISTS {table}; CREATE VIEW {table} AS {select.format(rows)}")

    # -- the protocol ---------------------------------------------------------------------------------------

    def publish(self, keep: int = 0) -> None:
        del keep
        if self._saves is not None:
            for table, schema in RESULTS.items():
                with whole_file(self._files.result(table)) as path, open_writer(path, schema) as writer:
                    for batch in self._db.batches(f"SELECT * FROM {table} ORDER BY {_ORDERS[table]}"):
                        writer.write_batch(batch.cast(schema))
            self._files.write(self._described | {"about": about_of(self.ledger)})
        self.close()
        if self._saves not in (None, self._files.folder):
            self._files.move(self._saves)
            self.address = str(self._saves)

    # -- for jobs that make and load lakes ------------------------------------------------------------------

    @property
    def parts(self) -> list[dict[str, int]]:
        """The parts: number, source, documents, sentences, records."""
        return list(self._described["parts"])

    def number_repeats(self) -> list[tuple[Any, ...]]:
        """Write which documents have an id that was read before. Return them as in `Reread`.

        Raise `SourceError` for pages that stand in several parts of a wiki: a lake is written once.
        """
        repeated = find_repeats(self._db, 0, self.ledger.sources())
        if pages := self._db.count("SELECT count(*) FROM versions"):
            raise SourceError(
                f"{self.address}: {pages:,} pages stand in several parts of a wiki; leave out the older parts, or read "
                "them into a store with esdedup index, which keeps the newest revisions"
            )
        with whole_file(self._files.repeats) as path, open_writer(path, REPEATS) as writer:
            writer.write_table(self._db.table("SELECT number, n FROM repeats ORDER BY number").cast(REPEATS))
        return repeated

    def documents_of(self, source: int) -> pa.Table:
        """Return the documents of a source as `DOCUMENT_ROWS`."""
        columns = ", ".join(DOCUMENT_ROWS.names)
        return self._db.table(f"SELECT {columns} FROM documents {self._of(source, 'number')}").cast(DOCUMENT_ROWS)

    def sentences_of(self, source: int) -> Iterator[pa.Table]:
        """Yield the sentences of a source as `SENTENCE_ROWS`."""
        columns = ", ".join(SENTENCE_ROWS.names)
        for batch in self._db.batches(f"SELECT {columns} FROM sentences {self._of(source, 'document')}", rows=_AT_ONCE):
            yield pa.Table.from_batches([batch]).cast(SENTENCE_ROWS)

    def found(self) -> tuple[Iterator[pa.RecordBatch], Clusters]:
        """Return the pairs and clusters of the results."""
        clusters, texts = (
            self._db.table(f"SELECT {', '.join(schema.names)} FROM {table} ORDER BY {_ORDERS[table]}").cast(schema)
            for table, schema in {"clusters": CLUSTERS, "cluster_texts": CLUSTER_TEXTS}.items()
        )
        pairs = self._db.batches(f"SELECT {', '.join(PAIRS.names)} FROM pairs ORDER BY a, b")
        return (batch.cast(PAIRS) for batch in pairs), Clusters(clusters, texts)

    def _of(self, source: int, column: str) -> str:
        numbers = [part["source"] for part in self.parts]
        before = sum(part["documents"] for part in self.parts[: numbers.index(source)])
        held = sum(part["documents"] for part in self.parts if part["source"] == source)
        return f"WHERE {column} >= {before} AND {column} < {before + held} ORDER BY {column}"

    # -- the rest of the protocol ---------------------------------------------------------------------------

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in self._files.all())

    def drop(self) -> None:
        self.close()
        self._files.delete()

    def blame(self, error: BaseException) -> StoreError | None:
        return files.as_store_error(error, self._db, self._files.folder)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> LakeStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        blamed = None if error is None else self.blame(error)
        self.close()
        if blamed is not None:
            raise blamed from error


class _LakeResults(Results):
    """The results of the lake, or those of a scan of it."""

    def replace(
        self,
        pairs: Iterator[pa.RecordBatch],
        clusters: Clusters,
        summary: dict[str, Any],
        classifier: Classifier | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """As `Results.replace`, but nothing is saved."""
        for table in RESULTS:
            found = self.db.row("SELECT table_type FROM information_schema.tables WHERE table_name = ?", [table])
            if found == ("VIEW",):
                self.db.execute(f"DROP VIEW {table}")
            self.db.create(table, TABLES[table].empty_table())
        super().replace(pairs, clusters, summary, classifier, meanwhile)


def about_of(ledger: Ledger) -> dict[str, Any]:
    """Return the values of a ledger that a lake keeps."""
    return {key: value for key in ABOUT if (value := ledger.get(key)) is not None}
