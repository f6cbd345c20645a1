"""Find pairs and clusters among a store's tokens."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from esdedup.analysis.classify import CLASSIFIER
from esdedup.analysis.record_kinds import RECORD_CLASSIFIER
from esdedup.clustering.assignment import assigned
from esdedup.clustering.clusters import CLUSTER_TEXTS, CLUSTERS, Clusters, find_clusters
from esdedup.columns.database import Database
from esdedup.columns.hashing import Hashes
from esdedup.engines import make_engine
from esdedup.jobs.names_of_texts import NamesOfTexts
from esdedup.jobs.progress_bar import Bar, begin_stage
from esdedup.jobs.scratch import scratch_database
from esdedup.keeping.protocol import Policies
from esdedup.matching.engine import Found, MatchContext, Sentences
from esdedup.matching.protocol import Scanning
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.verify.compare import far_members
from esdedup.plurals import plural
from esdedup.resources import Resources
from esdedup.store.cluster_kinds import Classifier
from esdedup.store.corpus import COPIES
from esdedup.store.preference import Preference
from esdedup.store.store import Store

log = logging.getLogger("esdedup")

_BLOCK_SHARE = 5
"""The texts of one range may take one such part of the memory."""

_FAR_BELOW = 0.3
"""A cluster reaches too far if a member's similarity to the representative is this much below the threshold."""


def scan_store(
    store: Store,
    scanning: Scanning,
    resources: Resources,
    *,
    quiet: bool,
    referenced: Hashes | None = None,
    contained: Callable[[Database, Clusters], Hashes] | None = None,
    key: str | None = None,
    preference: Preference | None = None,
    write: Callable[[], None] | None = None,
    learned: dict[str, Any] | None = None,
) -> dict[str, float]:
    """Find pairs and clusters and replace the old ones. Return the seconds of each stage.

    Texts that are `referenced`, because they stand in a reference collection, get no pairs. They get a cluster of their
    own, and so do texts without a cluster that `contained` finds. `key` names both, and is saved with the results.
    `preference` decides which text is the centre of a star.
    `write` writes files of the results while they are published; its seconds are `export`. `learned` is what an earlier
    scan learned, if this one is to use it.
    """
    seconds: dict[str, float] = {}
    clock = time.perf_counter()
    signer = TextSigner(store.signing)
    sentences = store.corpus.counts()["sentences_kept"]
    _warn_of_one_group(store, scanning)
    with scratch_database(store, scanning, resources, sentences) as scratch:
        found = find_pairs(store, scratch, scanning, resources, "scan", quiet=quiet, learned=learned)
        seconds["collide"] = time.perf_counter() - clock
        clock = time.perf_counter()
        if referenced is not None:
            _set_apart(scratch, referenced)
        if scanning.one_per_source:
            found.skipped["other_of_source"] = _assign_sources(store, scratch)
        clusters = cluster_pairs(store, scratch, scanning, resources, signer, preference)
        alone = [] if referenced is None else [referenced]
        alone += [] if contained is None else [contained(scratch, clusters)]
        if alone:
            clusters = _with_each(clusters, scratch, np.unique(np.concatenate(alone)))
        seconds["cluster"] = time.perf_counter() - clock
        clock = time.perf_counter()
        warn_of_hot_tokens(found)
        summary = {
            "scanning": scanning.described(),
            "counts": {
                "distinct_sentences": found.texts,
                "collisions": found.collisions,
                "candidates": found.candidates,
            },
            "hot_tokens": found.hot_tokens,
            "passed_over": found.skipped,
            "vectors_state": scanning.matcher.files_state(),
            **({} if key is None else {"apart": key}),
            **({} if found.learned is None else {"learned": found.learned}),
        }
        classifier = classifier_of(scanning)
        written: dict[str, float] = {}
        begin_stage("save")

        def export() -> None:
            if write is not None:
                begun = time.perf_counter()
                begin_stage("write")
                write()
                written["export"] = time.perf_counter() - begun

        store.results.replace(named_pairs(scratch, scanning), clusters, summary, classifier, export)
        seconds["save"] = time.perf_counter() - clock - sum(written.values())
    return seconds | written


def _warn_of_one_group(store: Store, scanning: Scanning) -> None:
    """Warn if pairs are only wanted between sources, and there is only one."""
    asked = (
        "--across sources" if scanning.across == "sources" else "--one-per-source" if scanning.one_per_source else ""
    )
    if asked and len({checkpoint.name for checkpoint in store.ledger.sources()}) < 2:
        log.warning("%s: there is only one source, so there are no pairs; omit it", asked)


def find_pairs(
    store: Store,
    scratch: Database,
    scanning: Scanning,
    resources: Resources,
    title: str,
    *,
    quiet: bool,
    near: pa.Table | None = None,
    stale: pa.Table | None = None,
    learned: dict[str, Any] | None = None,
) -> Found:
    """Find the pairs of all that is stored. With columns `hash`, only of the texts `near` with a text of `stale`.
    `learned` is what an earlier scan learned, if this one is to use it.

    They are left in the tables `texts` and `pairs` of `scratch`.
    """

    def signatures(done: set[int]) -> Iterable[tuple[int, pa.Table | pa.RecordBatchReader]]:
        if near is None:
            return store.corpus.signatures(scanning.across, done)
        return [(0, store.corpus.signatures_of(scanning.across, near))]

    with Bar(title, 0, "range", not quiet) as bar:
        sentences = Sentences(
            store.signing.tokens, signatures, store.corpus.texts, stale,
            bar.follow, store.corpus.rank, lambda: store.corpus.elsewhere(scanning.across) if near is None else None,
            learned, NamesOfTexts(store),
        )  # fmt: skip
        engine = make_engine(resources, scratch, sentences)
        return scanning.matcher.find(engine, MatchContext(store.signing, scanning.rule, resources.processes))


def cluster_pairs(
    store: Store,
    scratch: Database,
    scanning: Scanning,
    resources: Resources,
    signer: TextSigner,
    preference: Preference | None = None,
) -> Clusters:
    """Return the clusters of the tables `texts` and `pairs` in `scratch`, and mark those that reach far. Without a
    `preference`, that of the settings decides which text is a centre, as far as it needs no columns.
    """
    ignored = np.array(scanning.ignore, np.uint64)
    if preference is None and scanning.keep is not None:
        preference = Preference(store, Policies.parse(scanning.keep))
    order = None if preference is None or preference.policies.none else preference.order
    clusters = find_clusters(scratch, scanning.linkage, scanning.verifier.compares, ignored, order)
    if not scanning.linkage.chains:
        return clusters
    # if Jaccard does not decide pairs, the floor is below 0: a low one between members means nothing
    floor = scanning.verifier.least(scanning.jaccard) - _FAR_BELOW
    far = far_members(store.corpus.texts, signer, clusters, floor, resources.memory // _BLOCK_SHARE)
    if not far:
        return clusters
    worst = min(far.items(), key=lambda item: (item[1], item[0]))
    log.warning(
        "%s far (single linkage): in cluster %016x a member has Jaccard %.2f with the representative; "
        "--linkage star keeps such ends apart",
        plural(len(far), "cluster reaches", "clusters reach"),
        *worst,
    )
    farthest = pa.array([far.get(cluster) for cluster in clusters.clusters["id"].to_pylist()], pa.float64())
    where = clusters.clusters.schema.get_field_index("farthest")
    return Clusters(clusters.clusters.set_column(where, "farthest", farthest), clusters.texts)


def _set_apart(scratch: Database, referenced: Hashes) -> None:
    """Delete the pairs of texts that stand in a reference collection."""
    scratch.create("referenced", pa.table({"hash": referenced}))
    scratch.execute(
        "DELETE FROM pairs WHERE a IN (SELECT number FROM texts SEMI JOIN referenced USING (hash)) "
        "OR b IN (SELECT number FROM texts SEMI JOIN referenced USING (hash))"
    )


def _assign_sources(store: Store, scratch: Database) -> int:
    """Delete the pairs that no cluster with one text of each source has. Return how many."""
    rows = scratch.table(
        "SELECT one.hash AS a, two.hash AS b, coalesce(jaccard, 0) AS jaccard, p.a AS first, p.b AS second "
        "FROM pairs p JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b"
    )
    if not rows.num_rows:
        return 0
    hashes, places = np.unique(np.stack([rows["a"].to_numpy(), rows["b"].to_numpy()]), return_inverse=True)
    a, b = np.sort(places.reshape(2, -1), axis=0)
    checkpoints = store.ledger.sources()
    names = sorted({checkpoint.name for checkpoint in checkpoints})
    rank = {checkpoint.number: names.index(checkpoint.name) for checkpoint in checkpoints}
    copies = pa.Table.from_batches(list(store.corpus.copies(pa.table({"hash": hashes}))), COPIES)
    text = np.searchsorted(hashes, copies["hash"].to_numpy())
    source = np.array([rank[file] for file in copies["file"].to_pylist()])
    owners = np.unique(np.stack([text, source]), axis=1)
    stays = assigned(a, b, rows["jaccard"].to_numpy(), *owners)
    scratch.create("apart", rows.filter(pa.array(~stays)).select(["first", "second"]))
    scratch.execute("DELETE FROM pairs WHERE (a, b) IN (SELECT (first, second) FROM apart)")
    return int((~stays).sum())


def _with_each(clusters: Clusters, scratch: Database, hashes: Hashes) -> Clusters:
    """Return clusters with one more for each of these texts that has none."""
    scratch.create("alone", pa.table({"hash": hashes}))
    scratch.create("clustered", clusters.texts)
    alone = scratch.table(
        "SELECT hash AS id, copies AS size, 1 AS distinct_texts, 1.0 AS min_jaccard, NULL AS weakest_a, "
        "NULL AS weakest_b, hash AS representative, NULL AS farthest, false AS ignored "
        "FROM texts SEMI JOIN alone USING (hash) ANTI JOIN clustered USING (hash) ORDER BY hash"
    ).cast(CLUSTERS)
    texts = pa.table({"hash": alone["id"], "cluster": alone["id"]}, CLUSTER_TEXTS)
    return Clusters(pa.concat_tables([clusters.clusters, alone]), pa.concat_tables([clusters.texts, texts]))


def named_pairs(scratch: Database, scanning: Scanning) -> Iterator[pa.RecordBatch]:
    """Yield the pairs in `scratch` by the hashes of their texts."""
    probability = "closeness" if scanning.verifier.gives_probability else "NULL::DOUBLE"
    return scratch.batches(
        "SELECT one.hash AS a, two.hash AS b, jaccard, word_edit_distance, shared_tokens, "
        f"{probability} AS probability "
        "FROM pairs p JOIN texts one ON one.number = p.a JOIN texts two ON two.number = p.b ORDER BY p.a, p.b"
    )


def classifier_of(scanning: Scanning) -> Classifier | None:
    """Return what says what the clusters of a scan mean, if anything is to."""
    if not scanning.kinds:
        return None
    return RECORD_CLASSIFIER if scanning.matcher.of_records else CLASSIFIER


def warn_of_hot_tokens(found: Found) -> None:
    """Warn if not all texts were compared with all."""
    if found.hot_tokens:
        log.warning(
            "%d tokens occur in very many texts; each of these texts was compared with a limited number of others: %s",
            found.hot_tokens,
            "; ".join(found.hot_places),
        )
