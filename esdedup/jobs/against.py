"""Reference collections: what is new is compared with them. They are only read."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import first_of_each
from esdedup.columns.database import Database, private_database
from esdedup.columns.hashing import Hashes
from esdedup.engines import make_engine
from esdedup.errors import SourceError, StoreSettingsError, UsageError
from esdedup.formats.locations import discover
from esdedup.jobs.accounting import accounted
from esdedup.jobs.indexing import source_checkpoints
from esdedup.jobs.preconditions import Address, require_committed
from esdedup.jobs.progress_bar import Bar
from esdedup.jobs.scanning import named_pairs
from esdedup.jobs.scratch import ON_DISK_FROM
from esdedup.jobs.settings import Settings
from esdedup.jobs.source_reading import ReadingJob, read_into
from esdedup.jobs.steps import open_for
from esdedup.matching.engine import SIGNATURES, MatchContext, Sentences
from esdedup.matching.signing import USUAL_UNIT, freeze
from esdedup.output.drops import APART, apart
from esdedup.resources import Resources
from esdedup.store.ranking_joins import rank_by_joins
from esdedup.store.registry import is_store, open_store
from esdedup.store.schemas import PAIRS, check_same, difference
from esdedup.store.store import Store
from esdedup.text.splitting import AUTO

_MADE = ".references-"
_COLUMN = "--against-text-column"
_NEW_AT_ONCE = 500_000
_OLD_AT_ONCE = 100_000
_TOKENS_AT_ONCE = 300_000
_NEW, _OLD = 0, 1  # texts of one group are not compared with each other


class Reference(NamedTuple):
    """The store of a reference collection, and what its ids begin with: nothing if there is only one."""

    store: Store
    prefix: str


@contextmanager
def opened_references(
    collections: Sequence[Address],
    settings: Settings,
    folder: Path,
    text_column: str | None = None,
    *,
    keep_going: bool,
    quiet: bool,
) -> Iterator[tuple[list[Reference], Settings]]:
    """Open reference collections: stores as they are, sources as a store that is made in `folder` and deleted at the
    end. Yield them with the settings of what is new: those of the stores. The texts of sources are in `text_column`, if
    it is another one than that of what is new.

    Raise `StoreSettingsError` if stores differ, or an option or the unit of what is new differs from theirs;
    `SourceError` if none of the texts of the sources can be compared.
    """
    resources = settings.resources
    with ExitStack() as stack:
        found: list[Store] = []
        names: list[str] = []
        for address in filter(is_store, collections):
            memory, threads = resources.memory // 10, resources.processes
            store = stack.enter_context(open_store(address, memory=memory, threads=threads, read_only=True))
            require_committed(store)
            _check_unit(store, settings)
            check_same(store.address, store.signing, freeze(store.signing, settings.frozen), reference=True)
            if found and (apart := difference(found[0].signing, store.signing)):
                name, one, other = apart
                raise StoreSettingsError(
                    f"{found[0].address} has {name} {one} and {store.address} has {other}; compare with one at a time"
                )
            found.append(store)
            names.append(str(address))
        if found:
            settings = replace(settings, frozen=found[0].signing.saved())
        sources = [str(address) for address in collections if not is_store(address)]
        if text_column is not None and not sources:
            raise UsageError("against_text_column applies to references that are files; a store has its texts")
        if sources:
            reading = settings.reading
            if text_column is not None:
                reading = replace(reading, given={**reading.given, "text_column": text_column})
            reads = replace(settings, reading=replace(reading, source_name=None))
            located = discover(sources, reads.reading)
            job = ReadingJob(
                located, source_checkpoints(located, reads.reading), reads, False, keep_going, quiet, missing=[]
            )
            digest = hashlib.sha256(job.name.encode()).hexdigest()[:16]
            path = folder / f"{_MADE}{digest}.duckdb"
            forget_references(folder, but=path)
            why = ""
            stack.callback(lambda: forget_references(folder) if why else None)
            made = stack.enter_context(open_for(path, reads))
            try:
                read_into(made, job, column=_COLUMN)
            except UsageError as error:  # it advises how the sources of a job are read
                why = str(error).replace("--text-column", _COLUMN)
                raise UsageError(f"--against {why}") from error
            records = accounted(made.signing, made.ledger.sources(), made.corpus.counts())
            without = [each.path for each in made.ledger.sources() if not each.documents and each.skips.counts]
            if without or not records["compared"]:
                why = ", ".join(f"{count:,} {reason}" for reason, count in records["not_compared"].items())
                why = why.replace("--text-column", _COLUMN)
                raise SourceError(
                    f"--against {', '.join(without or sources)}: none of its texts can be compared: "
                    f"{why or 'it has none'}; if its texts are in another column, name it with {_COLUMN}"
                )
            found.append(made)
            names.append(sources[0] if len(sources) == 1 else "sources")
        yield list(map(Reference, found, _prefixes(names))), settings


def _check_unit(store: Store, settings: Settings) -> None:
    """Raise `StoreSettingsError` if what is new is usually compared as another unit, and none was requested."""
    usual, unit = settings.frozen.get(USUAL_UNIT), store.signing.unit
    if usual is not None and settings.frozen.get("unit", AUTO) == AUTO and usual != unit:
        raise StoreSettingsError(
            f"{store.address} holds {unit}s, and what is new would be compared as {usual}s; to compare {unit}s, give "
            f"--unit {unit}; to compare {usual}s, make the reference with --unit {usual}"
        )


def _prefixes(names: Sequence[str]) -> list[str]:
    """Return short and different prefixes for the ids of references."""
    short = [Path(name).stem for name in names]
    if len(names) == 1:
        return [""]
    return [f"{one if short.count(one) == 1 else name}/" for one, name in zip(short, names, strict=True)]


def forget_references(folder: Path, but: Path | None = None) -> None:
    """Delete the stores that were made of reference sources."""
    for path in folder.glob(f"{_MADE}*"):
        if but is None or not path.name.startswith(but.name):
            path.unlink(missing_ok=True)


def read_references(
    collections: Sequence[Address], settings: Settings, text_column: str | None, *, quiet: bool
) -> tuple[list[str], list[str], Settings]:
    """Return the ids and texts of all that references hold, each text once, and the settings of what is new."""
    names: list[str] = []
    texts: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="esdedup-against-") as folder,
        opened_references(collections, settings, Path(folder), text_column, keep_going=False, quiet=quiet) as (
            references,
            settings,
        ),
    ):
        for store, prefix in references:
            hashes = pa.chunked_array([pa.array(distinct_hashes(store))])
            found = first_sentences(store, hashes, prefix)
            names += found[0]
            texts += found[1]
    return names, texts, settings


def find_in_references(store: Store, references: Sequence[Reference], settings: Settings, *, quiet: bool) -> pa.Table:
    """Return the texts of a store that stand in one of the references, as `APART`, by hash."""
    with private_database() as db:
        db.create("found", APART.append(pa.field("place", pa.int64())).empty_table())
        for place, (reference, prefix) in enumerate(references):
            for signed in _distinct(store):
                rows = _matches(signed, store, reference, settings, quiet=quiet)
                rows = _named(rows, reference, prefix)
                db.insert("found", rows.append_column("place", pa.array(np.full(rows.num_rows, place))))
        return db.table(
            f"SELECT {', '.join(APART.names)} FROM (SELECT *, row_number() OVER "
            "(PARTITION BY hash ORDER BY jaccard DESC NULLS LAST, place) AS turn FROM found) WHERE turn = 1 "
            "ORDER BY hash"
        ).cast(APART)


def _distinct(store: Store) -> Iterator[pa.Table]:
    """Yield the signatures of a store's texts in parts, most texts only once."""
    held: list[pa.Table] = []
    rows = 0
    for _, part in store.corpus.signatures("any"):
        for batch in part.to_batches() if isinstance(part, pa.Table) else part:
            held.append(pa.Table.from_batches([batch], SIGNATURES))
            rows += batch.num_rows
            if rows >= _NEW_AT_ONCE:
                yield first_of_each(pa.concat_tables(held))
                held, rows = [], 0
    if rows:
        yield first_of_each(pa.concat_tables(held))


def _matches(signed: pa.Table, store: Store, reference: Store, settings: Settings, *, quiet: bool) -> pa.Table:
    """Return rows (hash, other, jaccard): new texts, and the closest text of the reference."""
    scanning, resources = settings.scanning_of(store.signing.unit), settings.resources
    new = signed["hash"].to_numpy()
    there = [batch["hash"].to_numpy() for batch in reference.corpus.texts(pa.table({"hash": new}))]
    same = np.unique(np.concatenate([np.empty(0, np.uint64), *there]))

    def signatures(done: set[int]) -> Iterable[tuple[int, pa.Table | pa.RecordBatchReader]]:
        if 0 not in done:
            yield 0, _in_group(signed, _NEW)
        if not scanning.matcher.by_tokens:
            for number, rows in reference.corpus.signatures("any", {number - 1 for number in done}):
                whole = rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows
                yield number + 1, _in_group(whole, _OLD)
            return
        hashes = _sharing(signed, reference)
        for number, begin in enumerate(range(0, len(hashes), _OLD_AT_ONCE), 1):
            if number not in done:
                part = pa.table({"hash": hashes[begin : begin + _OLD_AT_ONCE]})
                yield number, _in_group(reference.corpus.signatures_of("any", part), _OLD)

    def texts(wanted: pa.Table) -> Iterator[pa.RecordBatch]:
        hashes = wanted["hash"].to_numpy()
        ours = np.isin(hashes, new)
        yield from store.corpus.texts(pa.table({"hash": hashes[ours]}))
        yield from reference.corpus.texts(pa.table({"hash": hashes[~ours]}))

    with private_scan(resources, len(new)) as scratch, Bar("references", 0, "range", not quiet) as bar:
        sentences = Sentences(
            store.signing.tokens,
            signatures,
            texts,
            pa.table({"hash": new}),
            bar.follow,
            rank_by_joins,
        )
        engine = make_engine(resources, scratch, sentences)
        scanning.matcher.find(engine, MatchContext(store.signing, scanning.rule, resources.processes))
        pairs = pa.Table.from_batches(list(named_pairs(scratch, scanning)), PAIRS)
        scratch.create("same", pa.table({"hash": same}))
        scratch.create("new", pa.table({"hash": new}))
        scratch.create("named", pairs)
        return scratch.table(
            """
            SELECT hash, arg_max(other, (closeness, -other::HUGEINT)) AS other, max(jaccard) AS jaccard FROM (
                SELECT hash, hash AS other, 2.0 AS closeness, 1.0 AS jaccard FROM same
                UNION ALL SELECT a, b, coalesce(jaccard, 0), jaccard FROM named SEMI JOIN new ON new.hash = a
                UNION ALL SELECT b, a, coalesce(jaccard, 0), jaccard FROM named SEMI JOIN new ON new.hash = b
            ) GROUP BY hash ORDER BY hash
            """
        )


@contextmanager
def private_scan(resources: Resources, texts: int) -> Iterator[Database]:
    """Yield a database for one scan of so many texts, in the system's temporary folder if they are many."""
    with tempfile.TemporaryDirectory(prefix="esdedup-") as folder:
        path = Path(folder) / "scratch.duckdb" if texts >= ON_DISK_FROM else None
        memory = resources.memory * 2 // 5
        with Database(path, memory=memory, threads=resources.processes, spill=Path(folder) / "spill") as scratch:
            yield scratch


def _in_group(signed: pa.Table, group: int) -> pa.Table:
    where = signed.schema.get_field_index("group_id")
    return signed.set_column(where, SIGNATURES.field("group_id"), pa.array(np.full(signed.num_rows, group)))


def _sharing(signed: pa.Table, reference: Store) -> Hashes:
    """Return the hashes of the reference's texts that share a token with new ones, in order."""
    tokens = np.unique(signed["tokens"].combine_chunks().flatten().drop_null().to_numpy())
    found = np.empty(0, np.uint64)
    for begin in range(0, len(tokens), _TOKENS_AT_ONCE):
        held = reference.corpus.holders(pa.table({"token": tokens[begin : begin + _TOKENS_AT_ONCE]}))
        found = np.union1d(found, held["hash"].to_numpy())
    return found


def _named(matches: pa.Table, reference: Store, prefix: str) -> pa.Table:
    """Return matches as `APART`, with the id and text of the first sentence of each."""
    names, texts = first_sentences(reference, matches["other"], prefix)
    found = {"hash": matches["hash"], "reference": names, "reference_text": texts, "jaccard": matches["jaccard"]}
    return apart(found, "in_reference")


def first_sentences(store: Store, hashes: pa.ChunkedArray, prefix: str = "") -> tuple[list[str], list[str]]:
    """Return the id and the text of the first sentence of each of these texts."""
    wanted = pa.table({"hash": np.unique(hashes.to_numpy())})
    firsts = {row["hash"]: row for batch in store.corpus.texts(wanted, first=True) for row in batch.to_pylist()}
    needed = {row["document"] for row in firsts.values()}
    ids = {
        row["group_id"]: row["id"]
        for batch in (store.corpus.groups("documents") if needed else [])
        for row in batch.to_pylist()
        if row["group_id"] in needed
    }
    whole = store.signing.splitting.whole

    def named(other: int) -> str:
        first = firsts[other]
        identity = ids[first["document"]]
        return prefix + (identity if whole else f"{identity}:{first['position']}")

    others = hashes.to_pylist()
    return [named(other) for other in others], [firsts[other]["text"] for other in others]


def distinct_hashes(store: Store) -> Hashes:
    """Return the hashes of all texts of a store, in order."""
    held = [np.empty(0, np.uint64)]
    for _, rows in store.corpus.signatures("any"):
        for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
            held.append(np.unique(batch["hash"].to_numpy()))
    return np.unique(np.concatenate(held))
