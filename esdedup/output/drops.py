"""What `dedupe` keeps and drops: one sentence of each cluster stays, the others are dropped.

Clusters are stars around the kept text, so everything dropped was verified against what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from esdedup.columns.database import Database, private_database
from esdedup.formats.decisions import Verdict
from esdedup.keeping.protocol import Policies
from esdedup.keeping.ranking import reasons, sortable
from esdedup.output.contents import dedupe_answers
from esdedup.store.store import Store

if TYPE_CHECKING:
    from esdedup.columns.hashing import Hashes
    from esdedup.keeping.protocol import Keys
    from esdedup.matching.protocol import Scanning
    from esdedup.store.preference import Preference

REASONS = dedupe_answers.REASONS
_OF_STARS = REASONS[:2]
"""Reasons of what is dropped for the text that is preferred."""

APART: pa.Schema = pa.schema(
    [
        ("hash", pa.uint64()),  # of a text that is dropped for itself, whatever its cluster
        ("reason", pa.string()),  # in_reference or contained
        ("kept", pa.string()),  # id of the text that contains it
        ("kept_hash", pa.uint64()),  # its content hash
        ("reference", pa.string()),  # id of a text in a reference collection
        ("reference_text", pa.large_string()),
        ("jaccard", pa.float64()),  # null if it is not measured
        ("share", pa.float64()),  # of its shingles, in the text that contains it
    ]
)
"""Texts that stand in a reference collection, or inside a longer text."""


def apart(columns: Mapping[str, Any], reason: str) -> pa.Table:
    """Return rows of `APART` with these columns. The others are null."""
    rows = len(columns["hash"])
    held = {"reason": [reason] * rows, **columns}
    arrays = [held.get(field.name, pa.nulls(rows, field.type)) for field in APART]
    return pa.table(
        [
            pa.array(column, field.type) if isinstance(column, list) else column.cast(field.type)
            for column, field in zip(arrays, APART, strict=True)
        ],
        schema=APART,
    )


_SAVED: pa.Schema = pa.schema(
    {"place": pa.int64(), "position": pa.int32(), "cluster": pa.uint64(), "keep": pa.bool_(), "changes": pa.string()}
)
_GROUPS = {"any": "NULL", "documents": "document", "sources": "source"}
_TABLES = """
CREATE TABLE members (hash UBIGINT, cluster UBIGINT, kind VARCHAR, source INTEGER, file INTEGER, document INTEGER,
    place BIGINT, position INTEGER, id VARCHAR, keys DOUBLE[]);
CREATE TABLE pairs (a UBIGINT, b UBIGINT, jaccard DOUBLE);
CREATE TABLE held (file INTEGER, place BIGINT, held VARCHAR);
CREATE TABLE merged (file INTEGER, place BIGINT, changes VARCHAR);
CREATE TABLE gave (file INTEGER, place BIGINT, gave VARCHAR[]);
CREATE TABLE records (file INTEGER, place BIGINT, record VARCHAR);
CREATE TABLE others (file INTEGER, place BIGINT, other_values VARCHAR[]);
"""

_TO_MERGE = """
SELECT cluster, file, place, dropped, keys, document FROM verdicts
WHERE (NOT dropped OR reason IN ('identical', 'near')) AND cluster IN (
    SELECT cluster FROM verdicts GROUP BY cluster
    HAVING bool_or(NOT dropped) AND bool_or(dropped AND reason IN ('identical', 'near'))
)
"""


class Verdicts:
    """The verdicts on all sentences of all clusters, read from a store whose clusters are stars."""

    def __init__(self, db: Database, policies: Policies) -> None:
        self._db = db
        self._policies = policies

    def counts_by(self, columns: str) -> dict[tuple[Any, ...], int]:
        """Return the number of dropped sentences by the values of columns: source, file, reason."""
        rows = self._db.rows(f"SELECT {columns}, count(*) FROM verdicts WHERE dropped GROUP BY ALL ORDER BY ALL")
        return {tuple(values): count for *values, count in rows}

    def no_value(self) -> dict[str, int]:
        """Return how many sentences of clusters have no value that a policy can compare, by its column."""
        found: dict[str, int] = {}
        for number, policy in enumerate(self._policies.deciding, 1):
            count = self._db.count(f"SELECT count(*) FROM members WHERE isinf(keys[{number}])")
            found |= {policy.column: count} if policy.column and count else {}
        return found

    def near(self) -> pa.Table:
        """Return the dropped texts that differ from the kept one: cluster, hash, kept_hash, kept (its id), the number
        of copies that are dropped, id and document of the first, and the document of the kept one.
        """
        return self._db.table(
            "SELECT cluster, hash, kept_hash, kept, kept_document, count(*) AS copies, min(document) AS document, "
            "arg_min(id, (document, position)) AS id "
            "FROM verdicts WHERE dropped AND reason = 'near' AND kept_hash IS NOT NULL "
            "GROUP BY cluster, hash, kept_hash, kept, kept_document ORDER BY cluster, hash"
        )

    def differing(self) -> pa.Table:
        """Return the dropped texts that differ from what is kept instead: cluster, hash, kept_hash (null if that stands
        in a reference), kept (its id), reference_text, id and number of copies, and the `changes` of a merge.
        """
        return self._db.table(
            "SELECT cluster, hash, kept_hash, coalesce(kept, reference) AS kept, reference_text, "
            "arg_min(id, (document, position)) AS id, count(*) AS copies, any_value(changes) AS changes FROM verdicts "
            "LEFT JOIN (SELECT file AS kept_file, place AS kept_place, changes FROM merged) "
            "USING (kept_file, kept_place) WHERE dropped AND reason <> 'identical' "
            "AND (kept_hash IS NOT NULL OR reference_text IS NOT NULL) "
            "GROUP BY ALL ORDER BY cluster, hash"
        )

    def keep(self, texts: pa.Table) -> int:
        """Let the first copy of each of some rows of `near` stay after all, alone, and in place of its other copies.
        Return how many stay.
        """
        self._db.create("staying", texts)
        self._db.execute(_STAYING)
        return self._db.count("SELECT count(*) FROM staying")

    def note_lost(self, lost: pa.Table) -> None:
        """Take how many sentences each removed text loses (hash, kept_hash, lost), for `drops`."""
        self._db.create("lost", lost)

    def places_to_merge(self, file: int) -> Iterator[int]:
        """Yield the record numbers of what stays or goes in the clusters of one file, in order."""
        for batch in self._db.batches(f"SELECT place FROM ({_TO_MERGE}) WHERE file = ? ORDER BY place", [file]):
            yield from batch["place"].to_pylist()

    def copies_to_merge(self) -> Iterator[pa.RecordBatch]:
        """Yield cluster, file, place and the `held` values of these records; in each cluster, what stays is first, and
        the others in the order of preference.
        """
        return self._db.batches(
            f"SELECT cluster, file, place, held FROM ({_TO_MERGE}) JOIN held USING (file, place) "
            "ORDER BY cluster, dropped, keys, document"
        )

    def records_and_kept(self) -> Iterator[pa.RecordBatch]:
        """Yield file, place, id and kept (an id) of removed records, and of the `records` that were noted: `record`,
        `kept_record`, and its `changes` by a merge.
        """
        return self._db.batches(
            "SELECT v.file, v.place, v.id, v.kept, r.record, k.record AS kept_record, m.changes FROM verdicts v "
            "JOIN records r USING (file, place) LEFT JOIN records k ON (k.file, k.place) = (v.kept_file, v.kept_place) "
            "LEFT JOIN merged m ON (m.file, m.place) = (v.kept_file, v.kept_place) "
            "WHERE dropped ORDER BY v.document, v.position"
        )

    def note(self, table: str, rows: pa.Table) -> None:
        """Add rows to what is `held` by records, became `merged`, or was `gave` to others, to `records`, or to the
        `others` that have values of their own.
        """
        self._db.insert(table, rows)

    def noted(self, table: str) -> int:
        """Return how many rows were noted."""
        return self._db.count(f"SELECT count(*) FROM {table}")

    def ends(self) -> pa.Table:
        """Return the two dropped texts of each cluster that resemble the kept one least: cluster, and of each hash and
        id.
        """
        return self._db.table(
            "SELECT cluster, ends[1].hash AS a, ends[1].id AS a_id, ends[2].hash AS b, ends[2].id AS b_id FROM ("
            "SELECT cluster, arg_min({'hash': hash, 'id': id}, (jaccard, hash), 2) AS ends FROM ("
            "SELECT cluster, hash, min(id) AS id, min(jaccard) AS jaccard FROM verdicts WHERE dropped AND "
            "reason = 'near' GROUP BY ALL) GROUP BY cluster HAVING count(*) > 1) ORDER BY cluster"
        )

    def set_apart(self) -> Hashes:
        """Return the texts that are dropped for themselves, whatever their cluster."""
        found: Hashes = np.unique(self._db.arrays("SELECT hash FROM apart")["hash"])
        return found

    def large_clusters(self, most: float) -> list[str]:
        """Name the clusters that hold more than so many sentences, and more than ten."""
        rows = self._db.rows(
            "SELECT cluster, count(*) AS held FROM members GROUP BY cluster HAVING held > greatest(10, ?) "
            "ORDER BY held DESC, cluster",
            [most],
        )
        return [f"cluster {cluster:016x} holds {held:,} texts" for cluster, held in rows]

    def drops(self, names: Mapping[int, str], *, places: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the rows of drops.jsonl, in reading order. `names` are those of the sources. With `places`, they say
        where both texts stand, and what was lost.
        """
        more = ", file, place, position, kept_file, kept_place, kept_position, l.lost, other_values" if places else ""
        beside_it = (
            (
                " LEFT JOIN lost l ON l.hash = verdicts.hash AND l.kept_hash IS NOT DISTINCT FROM verdicts.kept_hash"
                " LEFT JOIN others USING (file, place)"
            )
            if places
            else ""
        )
        beside_it += " LEFT JOIN gave USING (file, place)"
        batches = self._db.batches(
            "SELECT id, source, cluster, kept, reason, jaccard, other, reference, reference_text, share, keys, "
            f"kept_keys, gave{more} FROM verdicts{beside_it} WHERE dropped ORDER BY document, position"
        )
        for batch in batches:
            lost, kept = (_by_policy(batch[name]) for name in ("keys", "kept_keys"))
            by = reasons(self._policies, lost, kept, batch.num_rows)
            for row, why in zip(batch.drop_columns(["keys", "kept_keys"]).to_pylist(), by, strict=True):
                least = row["jaccard"]
                beside = {name: row.pop(name) for name in ("other", "reference", "reference_text", "share", "gave")}
                beside["other_values"] = row.pop("other_values", None)
                yield row | {
                    "source": names[row["source"]],
                    "cluster": f"{row['cluster']:016x}",
                    "jaccard": None if least is None else round(least, 6),
                    **(why if row["reason"] in _OF_STARS and row["kept"] is not None else {}),
                    **{name: value for name, value in beside.items() if value is not None},
                }

    def save(self, file: int, path: Path) -> None:
        """Write the verdicts on the clustered sentences of one file, for `saved_verdicts`."""
        batches = self._db.batches(
            "SELECT place, position, cluster, NOT dropped AS keep, changes FROM verdicts "
            "LEFT JOIN merged USING (file, place) WHERE file = ? ORDER BY place, position",
            [file],
        )
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, _SAVED) as writer:
            for batch in batches:
                writer.write_batch(batch.cast(_SAVED))


def saved_verdicts(path: Path) -> Iterator[tuple[int, list[Verdict]]]:
    """Yield the clustered sentences of one file, by record number."""
    with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as batches:
        rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
        for place, held in groupby(rows, itemgetter(0)):
            verdicts = [
                Verdict(position, f"{cluster:016x}", keep, json.loads(changes) if changes else None)
                for _, position, cluster, keep, changes in held
            ]
            yield place, verdicts


def _by_policy(lists: pa.ListArray) -> list[Keys]:
    """Return the keys of rows, of each policy one after the other. A missing list has none."""
    rows = [row or [] for row in lists.to_pylist()]
    width = max(map(len, rows), default=0)
    table = np.array([row or [np.nan] * width for row in rows]).reshape(len(rows), width)
    return list(np.where(np.isinf(table), np.nan, table).T)


_BOTH_WAYS = "(SELECT a, b, jaccard FROM pairs UNION ALL SELECT b, a, jaccard FROM pairs)"

_KEPT = f"""
CREATE TABLE verdicts AS
SELECT m.*,
    CASE WHEN r.hash IS NULL THEN centre.id ELSE r.kept END AS kept,
    r.hash IS NOT NULL OR NOT ({{stays}}) AS dropped,
    CASE WHEN r.hash IS NOT NULL THEN r.reason WHEN m.hash = centre.hash THEN 'identical' ELSE 'near' END AS reason,
    CASE WHEN r.hash IS NOT NULL THEN r.jaccard WHEN m.hash = centre.hash THEN 1.0 ELSE p.jaccard END AS jaccard,
    NULL AS other, centre.keys AS kept_keys,
    CASE WHEN r.hash IS NULL THEN centre.hash ELSE r.kept_hash END AS kept_hash,
    CASE WHEN r.hash IS NULL THEN centre.file END AS kept_file,
    CASE WHEN r.hash IS NULL THEN centre.place END AS kept_place,
    CASE WHEN r.hash IS NULL THEN centre.position END AS kept_position,
    CASE WHEN r.hash IS NULL THEN centre.document END AS kept_document, r.reference, r.reference_text, r.share
FROM members m JOIN centres c USING (cluster) LEFT JOIN apart r ON r.hash = m.hash
LEFT JOIN {_BOTH_WAYS} p ON p.a = m.hash AND p.b = centre.hash
"""

_CENTRE = ("id", "keys", "hash", "file", "place", "position", "document")
_OWN = ", ".join(f"'{name}': v.{name}" for name in _CENTRE)
_INSTEAD = ",\n    ".join(
    f"CASE WHEN own IS NULL THEN v.kept_{name} ELSE own.{name} END AS kept_{name}" for name in _CENTRE[1:]
)
_STAYING = f"""
CREATE TABLE alone AS
SELECT hash, kept_hash, arg_min({{{_OWN}}}, (keys, document, position)) AS own
FROM verdicts v SEMI JOIN staying USING (hash, kept_hash) WHERE dropped AND reason = 'near' GROUP BY ALL;
CREATE OR REPLACE TABLE verdicts AS
SELECT v.* REPLACE (
    min(v.hash) OVER (PARTITION BY v.cluster, CASE WHEN own IS NOT NULL THEN v.hash END) AS cluster,
    v.dropped AND (own IS NULL OR v.id <> own.id) AS dropped,
    CASE WHEN own IS NULL THEN v.reason ELSE 'identical' END AS reason,
    CASE WHEN own IS NULL THEN v.jaccard ELSE 1.0 END AS jaccard,
    CASE WHEN own IS NULL THEN v.kept ELSE own.id END AS kept,
    {_INSTEAD}
)
FROM verdicts v
LEFT JOIN alone a ON (a.hash, a.kept_hash) = (v.hash, v.kept_hash) AND v.dropped AND v.reason = 'near'
"""

_NONE_KEPT = f"""
CREATE TABLE firsts AS
    SELECT hash, cluster, min({{'document': document, 'position': position, 'id': id}}, 2) AS two
    FROM members GROUP BY ALL;
CREATE TABLE closest AS
    SELECT p.a AS hash,
        arg_min({{'id': o.two[1].id, 'jaccard': p.jaccard}}, (-coalesce(p.jaccard, 0), o.two[1])) AS other
    FROM {_BOTH_WAYS} p JOIN firsts f ON f.hash = p.a JOIN firsts o ON o.hash = p.b AND o.cluster = f.cluster
    GROUP BY p.a;
CREATE TABLE verdicts AS
SELECT m.*, r.kept, true AS dropped,
    CASE WHEN r.hash IS NOT NULL THEN r.reason WHEN len(f.two) > 1 THEN 'identical' ELSE 'near' END AS reason,
    CASE WHEN r.hash IS NOT NULL THEN r.jaccard WHEN len(f.two) > 1 THEN 1.0 ELSE c.other.jaccard END AS jaccard,
    CASE WHEN r.hash IS NOT NULL THEN NULL WHEN len(f.two) = 1 THEN c.other.id
        WHEN f.two[1].id = m.id THEN f.two[2].id ELSE f.two[1].id END AS other,
    NULL AS kept_keys, r.kept_hash, NULL AS kept_file, NULL AS kept_place,
    NULL AS kept_position, NULL AS kept_document, r.reference, r.reference_text, r.share
FROM members m JOIN firsts f USING (hash) LEFT JOIN closest c USING (hash) LEFT JOIN apart r ON r.hash = m.hash
"""


@contextmanager
def decided(
    store: Store,
    preference: Preference,
    scanning: Scanning,
    kinds: Sequence[str] | None = None,
    set_apart: pa.Table | None = None,
    *,
    only_apart: bool = False,
) -> Iterator[Verdicts]:
    """Decide about all clusters that are not ignored: of each, the sentence stays that is preferred, or none.

    With `kinds`, clusters of other kinds are kept as a whole. With `across`, sentences of the same document (or source)
    as the kept one stay; with `one_per_source`, all but one of each source. Sentences whose text is `set_apart`
    (`APART`) are dropped; with `only_apart`, no others.
    """
    with private_database() as db:
        db.execute(_TABLES)
        db.create("apart", APART.empty_table() if set_apart is None else set_apart)
        preference.prepare()
        for batch in store.results.memberships():
            keys = np.array([sortable(each) for each in preference.keys(batch)]).reshape(-1, batch.num_rows).T
            ends = np.arange(batch.num_rows + 1) * keys.shape[1]
            lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(keys.ravel()))
            db.insert("members", pa.Table.from_batches([batch]).drop_columns("length").append_column("keys", lists))
        for batch in store.results.pair_hashes():
            db.insert("pairs", pa.Table.from_batches([batch]).select(["a", "b", "jaccard"]))
        db.execute("DELETE FROM members WHERE cluster IS NULL")  # outside all stars: these stay
        if scanning.one_per_source:
            db.execute(
                "CREATE OR REPLACE TABLE members AS FROM members "
                "QUALIFY row_number() OVER (PARTITION BY cluster, source ORDER BY keys, document, position) = 1"
            )
        if only_apart:
            db.execute("DELETE FROM members WHERE hash NOT IN (SELECT hash FROM apart)")
        if kinds is not None:
            db.execute(
                "DELETE FROM members WHERE NOT list_contains(?, coalesce(kind, '')) "
                "AND hash NOT IN (SELECT hash FROM apart)",
                [list(kinds)],
            )
        db.execute(
            "CREATE TABLE centres AS SELECT cluster, "
            f"arg_min({{'hash': hash, 'id': id, 'keys': keys, 'file': file, 'place': place, "
            f"'position': position, 'document': document, 'group_id': {_GROUPS[scanning.across]}}}, "
            "(keys, document, position)) AS centre, count(DISTINCT hash) AS texts FROM members GROUP BY cluster"
        )
        if preference.policies.none:
            db.execute(_NONE_KEPT)
        else:
            stays = "id = centre.id"
            if scanning.across != "any":
                stays += f" OR {_GROUPS[scanning.across]} = centre.group_id"
            db.execute(_KEPT.format(stays=stays))
        yield Verdicts(db, preference.policies)
