"""Classify clusters in batches, from the tables of a store.

Sentences, the names of their documents, and pairs must already be in the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from esdedup.columns.arrays import table_of_rows
from esdedup.store.naming import NAMED, at_once
from esdedup.store.origins import trace
from esdedup.store.shared_documents import (
    MOST_SENTENCES,
    RELATED,
    SHARED,
    SHARED_IN_CLUSTERS,
    find_shared,
    note_clusters,
)

if TYPE_CHECKING:
    from esdedup.clustering.clusters import Clusters
    from esdedup.columns.database import Database
    from esdedup.store.corpus import Corpus

PLACES = 4
"""Documents per text that are considered."""

MOST_TEXTS = 1_000
"""Distinct texts per cluster that are considered: the representative, and those with the smallest hashes."""

MEMBERS: pa.Schema = pa.schema(
    [
        ("cluster", pa.uint64()),  # in order
        ("representative", pa.bool_()),  # true for one text of each cluster
        ("text", pa.large_string()),
        ("frames", pa.int32()),  # clusters with the frame of this one
        ("narrow", pa.bool_()),  # whether its cluster has few sentences, so that it is known what its documents share
        ("titles", pa.large_string()),  # of its documents
        ("titled_once", pa.bool_()),  # whether these are one, and not an id that some take for a title and some do not
        ("named", pa.list_(pa.uint64(), PLACES)),  # hashes of the titles, 0 for none, as in the next one
        ("documents", pa.list_(pa.uint64(), PLACES)),  # document numbers, from 1
        ("links", pa.binary()),  # what the first document names, or null
        ("since", pa.list_(pa.int64(), PLACES)),  # revisions
        ("till", pa.list_(pa.int64(), PLACES)),
    ]
)
"""One row for each distinct text, for clusters of more than one. The texts of a cluster are adjacent."""

MEANINGS: pa.Schema = pa.schema(
    [
        ("kind", pa.string()),
        ("kind_confidence", pa.float64()),
        ("kind_reason", pa.string()),
        ("frame", pa.large_string()),  # null for a cluster of one text
    ]
)

IDENTICAL = ("identical", 1.0, "all its sentences are the same", None)
"""The meaning of a cluster with only one text. The classifier is not called."""

CONTRADICTIONS: pa.Schema = pa.schema(
    [
        ("contradictions", pa.int32()),
        ("contradiction", pa.float64()),  # highest confidence; null without one
    ]
)
FOUND: pa.Schema = pa.schema(
    [
        *CONTRADICTIONS,
        ("copies", pa.int32()),  # null if no order is known
        ("shared", pa.list_(pa.int32())),  # null without a contradiction; see `SHARED_IN_CLUSTERS`
        ("frame_number", pa.int64()),  # equal for clusters with one frame; null if their texts have few words
        ("frames", pa.int32()),  # clusters with this frame
    ]
)
"""What is found in classified clusters."""

JUDGED: pa.Schema = pa.schema([("id", pa.uint64()), *MEANINGS, ("examined", pa.bool_()), ("possible", pa.bool_())])
"""What a classifier says of clusters: whether contradictions are looked for, and whether there may be one."""


CONSISTENT = ("drift", "copyediting", 0.71, "the same said in other words")
"""What a cluster of the first kind is if no contradiction is found in it: kind, confidence, reason."""


class Classifier(NamedTuple):
    """Classifies clusters."""

    frames: Callable[[pa.LargeStringArray], pa.Array]
    """Takes representatives. Returns a number for the frame of each, or null."""
    kinds: Callable[[pa.Table, pa.Table], pa.Table]
    """Takes tables of `MEMBERS`, and of `SHARED` for their documents. Returns one of `JUDGED`, a row a cluster."""
    shared: Callable[[pa.Table], pa.Table]
    """Takes rows of `SHARED_IN_CLUSTERS`. Returns a row a cluster: `id`, and `shared` as a list of numbers."""
    contradictions: Callable[[Sequence[dict[str, Any]]], Sequence[Sequence[float]]]
    """Returns the confidence of each contradiction in each cluster; these have the form of the contract."""


TOUCHED = ("touched", "touched_frames")

_TEXTS, _SENTENCES = 20_000, 2_000  # per batch
_CLUSTERS = 10_000
_SHARED_AT_ONCE = 100_000  # clusters; all sentences are read for each of these batches

ShowClusters: TypeAlias = Callable[[pa.Table], Iterator[dict[str, Any]]]
"""Returns the clusters in column `id`, in the form of the contract."""


def insert_clusters(db: Database, clusters: Clusters, *, meant: bool) -> None:
    """Add clusters. If they are `meant` to get a meaning, those of a single text have their kind at once."""
    db.insert("cluster_texts", clusters.texts)
    table = clusters.clusters
    if meant:
        single = pc.equal(table["distinct_texts"], 1)
        for field, value in zip(MEANINGS, IDENTICAL, strict=True):
            known = pc.if_else(single, pa.scalar(value, field.type), pa.scalar(None, field.type))
            table = table.append_column(field, known)
    db.insert("clusters", table)


def give_meaning(
    db: Database, shown: ShowClusters, clusters: pa.Table, classifier: Classifier, corpus: Corpus, *, ordered: bool,
    partly: bool = False,
) -> None:  # fmt: skip
    """Give the clusters in column `id` their kinds and contradictions, and origins if `in_order` says that sources are
    `ordered`. `shown` returns full clusters.

    If these are only a part of all clusters (`partly`), others are judged again that depend on what `note_clusters` was
    told of. The table `judged` has the ids of all.
    """
    db.create("judged", clusters, temporary=True)
    if partly:
        number_frames(db, classifier, "SELECT id FROM judged")
        note_clusters(db, "SELECT id FROM judged")
        db.execute(f"INSERT INTO judged SELECT * FROM ({RELATED}) ANTI JOIN judged USING (id)")
    _gather(db)
    _count_frames(db, classifier, partly=partly)
    db.execute(
        "UPDATE clusters SET contradictions = NULL, contradiction = NULL, shared = NULL "
        "WHERE id IN (SELECT id FROM judged) AND contradictions IS NOT NULL"
    )
    table = _kinds(db, classifier)
    _update(db, table.select(["id", *MEANINGS.names]))
    none = table.filter(pc.and_not(table["examined"], table["possible"])).select(["id"])
    _update(db, none.append_column("contradictions", pa.repeat(pa.scalar(0, pa.int32()), none.num_rows)))
    possible = table.filter(table["possible"]).select(["id"])
    db.create("possible", possible, temporary=True)
    for begin in range(0, possible.num_rows, _SHARED_AT_ONCE):
        db.create("weighed", possible.slice(begin, _SHARED_AT_ONCE), temporary=True)
        _update(db, classifier.shared(db.table(SHARED_IN_CLUSTERS.format("SELECT id FROM weighed"))))
        db.execute("DROP TABLE weighed")
    for found in _contradictions(shown, possible, classifier):
        _update(db, found)
    db.execute("UPDATE clusters SET shared = NULL WHERE contradictions = 0 AND shared IS NOT NULL")
    kind, *meaning = CONSISTENT
    db.execute(
        "UPDATE clusters SET kind = ?, kind_confidence = ?, kind_reason = ? WHERE kind = ? AND contradictions = 0",
        [*meaning, kind],
    )
    if ordered:
        trace(db, clusters, corpus)
    for name in ("shared_documents", "possible", "looked_at", "of_clusters", *(TOUCHED if partly else ())):
        db.execute(f"DROP TABLE {name}")


def number_frames(db: Database, classifier: Classifier, ids: str) -> None:
    """Give the clusters that `ids` selects their frame numbers, if they have several texts. They must be few."""
    faces = db.table(
        "SELECT k.id, any_value(s.text) AS text FROM clusters k JOIN sentences s ON s.hash = k.representative "
        f"WHERE k.distinct_texts > 1 AND k.id IN ({ids}) GROUP BY k.id"
    )
    _update(db, _frames_of(faces, classifier))


def _frames_of(faces: pa.Table, classifier: Classifier) -> pa.Table:
    frames = classifier.frames(faces["text"].cast(pa.large_string()).combine_chunks())
    return faces.select(["id"]).append_column("frame_number", frames)


def _count_frames(db: Database, classifier: Classifier, *, partly: bool) -> None:
    """Number the frames of the clusters that were gathered, and count the clusters of each. If only a part of all
    clusters is made again, they have numbers; those with another count than before are `judged`, too.
    """
    counted = "frame_number IS NOT NULL"
    if not partly:
        for (page,) in db.rows("SELECT DISTINCT page FROM looked_at ORDER BY page"):
            _update(db, _frames_of(db.table(_FACES_OF_PAGE, [page]), classifier))
    else:
        counted = "frame_number IN (SELECT frame_number FROM touched_frames)"
    db.execute(_COUNT_FRAMES.format(counted))
    if partly:
        others = "SELECT id FROM recounted WHERE id NOT IN (SELECT id FROM judged)"
        if db.count(f"SELECT count(*) FROM ({others})"):
            db.execute(f"INSERT INTO judged {others}")
            _gather(db)
    db.execute("DROP TABLE recounted")


def _update(db: Database, found: pa.Table) -> None:
    """Set columns of the clusters in column `id` to the other columns."""
    db.create("found", found, temporary=True)
    updates = ", ".join(f"{name} = f.{name}" for name in found.column_names[1:])
    db.execute(f"UPDATE clusters SET {updates} FROM found f WHERE clusters.id = f.id; DROP TABLE found")


def _contradictions(shown: ShowClusters, ids: pa.Table, classifier: Classifier) -> Iterator[pa.Table]:
    """Return the number of contradictions in each of these clusters, and the highest confidence."""
    schema = pa.schema([("id", pa.uint64()), *CONTRADICTIONS])
    for begin in range(0, ids.num_rows, _CLUSTERS):
        rows = []
        for some in _few_sentences(shown(ids.slice(begin, _CLUSTERS))):
            for cluster, found in zip(some, classifier.contradictions(some), strict=True):
                rows.append((int(cluster["id"], 16), len(found), max(found, default=None)))
        yield table_of_rows(rows, schema)


def _few_sentences(clusters: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield clusters in lists that together have few sentences, or one cluster."""
    some: list[dict[str, Any]] = []
    sentences = 0
    for cluster in clusters:
        if some and sentences + cluster["size"] > _SENTENCES:
            yield some
            some, sentences = [], 0
        some.append(cluster)
        sentences += cluster["size"]
    if some:
        yield some


def _gather(db: Database) -> None:
    """Make tables of the texts of the `judged` clusters that are looked at, and of their sentences, in pages."""
    db.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE looked_at AS
        SELECT t.cluster, t.hash, t.hash = u.representative AS representative, u.narrow, u.page
        FROM cluster_texts t JOIN (
            SELECT id, representative, size <= {MOST_SENTENCES} AS narrow,
                sum(least(distinct_texts, {MOST_TEXTS})) OVER (ORDER BY id) // {at_once(db, _TEXTS)} AS page
            FROM clusters SEMI JOIN judged USING (id) WHERE distinct_texts > 1
        ) u ON u.id = t.cluster
        QUALIFY t.hash = u.representative OR row_number() OVER (PARTITION BY t.cluster ORDER BY t.hash) < {MOST_TEXTS};
        -- sentences are read once, not once for each page
        CREATE OR REPLACE TEMP TABLE of_clusters AS
        SELECT l.page, l.cluster, l.hash, l.representative, l.narrow, s.text, s.position, s.revision, s.last_revision,
            n.source, n.numeral, n.id, n.number, n.title
        FROM looked_at l JOIN sentences s USING (hash) JOIN {NAMED} n ON n.number = s.document
        """
    )


def _kinds(db: Database, classifier: Classifier) -> pa.Table:
    """Return rows of `JUDGED` for the clusters that were gathered, by id."""
    find_shared(db, "SELECT DISTINCT cluster FROM looked_at")
    found = [JUDGED.empty_table()]
    for (page,) in db.rows("SELECT DISTINCT page FROM looked_at ORDER BY page"):
        members = db.table(_MEMBERS_OF_PAGE, [page]).cast(MEMBERS)
        found.append(classifier.kinds(members, db.table(_SHARED_OF_PAGE, [page]).cast(SHARED)))
    return pa.concat_tables(found).sort_by("id")


_FACES_OF_PAGE = """
SELECT cluster AS id, any_value(text) AS text FROM of_clusters WHERE page = ? AND representative GROUP BY cluster
"""

_COUNT_FRAMES = """
CREATE TEMP TABLE recounted AS
SELECT id, f.frames FROM clusters k
JOIN (SELECT frame_number, count(*) AS frames FROM clusters WHERE {} GROUP BY frame_number) f USING (frame_number)
WHERE f.frames IS DISTINCT FROM k.frames;
UPDATE clusters SET frames = r.frames FROM recounted r WHERE r.id = clusters.id
"""

_SHARED_OF_PAGE = """
WITH held AS (SELECT DISTINCT number FROM of_clusters WHERE page = ?)
SELECT * FROM shared_documents WHERE one IN (SELECT * FROM held) AND two IN (SELECT * FROM held) ORDER BY one, two
"""

# the first of a text's documents, in the order of members
_MEMBERS_OF_PAGE = f"""
SELECT cluster, representative, text, coalesce(frames, 1)::INTEGER AS frames, narrow,
    array_to_string(list_distinct(list_transform(places, lambda p: p.named)), ' ') AS titles,
    len(list_distinct(list_transform(places, lambda p: p.named))) = 1
        AND list_bool_and(list_transform(places, lambda p: p.clear)) AS titled_once,
    list_resize(list_transform(places, lambda p: hash(p.title)), {PLACES}, 0)::UBIGINT[{PLACES}] AS named,
    list_resize(list_transform(places, lambda p: p.number + 1), {PLACES}, 0)::UBIGINT[{PLACES}] AS documents, links,
    list_resize(list_transform(places, lambda p: p.since), {PLACES}, 0)::BIGINT[{PLACES}] AS since,
    list_resize(list_transform(places, lambda p: p.till), {PLACES}, 0)::BIGINT[{PLACES}] AS till
FROM (
    SELECT cluster, hash, any_value(representative) AS representative, any_value(text) AS text,
        any_value(narrow) AS narrow,
        min({{'source': source, 'numeral': numeral, 'id': id, 'position': position, 'number': number,
            'title': coalesce(nullif(title, ''), id),
            'named': coalesce(nullif(title, ''), CASE WHEN numeral IS NULL THEN id ELSE '' END),
            'clear': coalesce(title > '', false)
                OR (numeral IS NOT NULL) = regexp_full_match(id, '(.*/)?[0-9]+(#[0-9]+)?'),
            'since': least(coalesce(revision, 0), coalesce(last_revision, revision, 0)),
            'till': greatest(coalesce(revision, 0), coalesce(last_revision, revision, 0))}}, {PLACES}) AS places
    FROM of_clusters WHERE page = ? GROUP BY cluster, hash
) JOIN (SELECT id, frames FROM clusters) k ON k.id = cluster
LEFT JOIN (SELECT number, links FROM documents) d ON d.number = places[1].number ORDER BY cluster, hash
"""
