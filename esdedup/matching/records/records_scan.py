"""A scan of records: their texts become columns again, and what is matched becomes pairs of texts."""

from __future__ import annotations

import json
import logging

import numpy as np
import pyarrow as pa

from esdedup.columns.arrays import Numbers
from esdedup.columns.database import Database
from esdedup.columns.labelled import columns_of_texts
from esdedup.errors import SettingsError
from esdedup.matching.engine import Engine, Found, MatchContext, Naming
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.records.labelled_pairs import check_review, read_labels, write_review
from esdedup.matching.records.matching import Known, Matched, match_records
from esdedup.matching.records.record_options import RecordOptions
from esdedup.matching.records.record_rows import Rows, rows_of
from esdedup.matching.verify.verified import compare_listed

log = logging.getLogger("esdedup")

_TO_REVIEW, _AT_LEAST = 1_000, 20
_SURE = 0.001
"""What is so near to 0 or 1 need not be looked at, but for a few."""


class RecordsScan:
    """One scan of records, on the local engine. Raises `UsageError` for another one."""

    def __init__(self, engine: Engine, context: MatchContext, options: RecordOptions) -> None:
        self._engine = engine.local()
        self._db: Database = self._engine.db
        self._context = context
        self._options = options

    def find(self) -> Found:
        """Match the records, and compare the texts of those that are taken for the same."""
        texts = self._engine.collapse()
        self._engine.bring_all()
        left_out = self._engine.stage("records", self._match)
        [(told, candidates)] = self._db.rows("SELECT learned, candidates FROM told")
        known = self._db.arrays("SELECT a, b, probability FROM weighed ORDER BY a, b")
        keys = known["a"].astype(np.int64) * texts + known["b"]

        def compare(context: MatchContext, candidates: pa.Table, held: pa.Table) -> pa.Table:
            numbers = held["number"].to_numpy().astype(np.int64)

            def closeness(_: pa.LargeStringArray, a: Numbers, b: Numbers) -> Similarities:
                found: Similarities = known["probability"][np.searchsorted(keys, numbers[a] * texts + numbers[b])]
                return found

            return compare_listed(context, candidates, held, closeness)

        self._engine.compare_pairs(compare, self._context, "weighed")
        skipped = {"contradicting" if self._one_table else "other_partner": left_out} if left_out else {}
        return Found(texts, None, candidates, skipped=skipped, learned=json.loads(told))

    @property
    def _one_table(self) -> bool:
        [(groups, least)] = self._db.rows("SELECT count(DISTINCT group_id), min(group_id) FROM signatures")
        return bool(groups != 2 or least < 0)

    def _match(self) -> int:
        """Make `weighed` (a, b, probability), pairs of texts, and `told`. Return how many likely pairs are left out."""
        db, options = self._db, self._options
        if options.review is not None:
            check_review(options.review)
        held = db.arrays("SELECT t.number, s.group_id FROM signatures s JOIN texts t USING (hash)")
        rows = rows_of(held["number"].astype(np.int64), held["group_id"].astype(np.int64))
        texts = self._engine.brought(0, len(held["number"]))
        columns = {name: column.take(pa.array(rows.text)) for name, column in columns_of_texts(texts).items()}
        sentences = self._engine.sentences
        learned = sentences.learned
        known = self._known(rows, sentences.naming)
        matched = match_records(
            columns, rows.first_right, options.kinds, paired=options.paired, known=known, learned=learned,
            threshold=options.min_probability,
        )  # fmt: skip
        self._say(matched, learned is not None)
        if options.review is not None:
            write_review(options.review, self._to_review(matched, rows, texts, sentences.naming))
        a, b, probability = _of_texts(matched, matched.pairs, rows)
        db.create("weighed", pa.table({"a": a.astype(np.int32), "b": b.astype(np.int32), "probability": probability}))
        told = json.dumps(learned or matched.learned())
        db.create("told", pa.table({"learned": [told], "candidates": pa.array([len(matched.a)], pa.int64())}))
        return matched.left_out

    def _known(self, rows: Rows, naming: Naming | None) -> Known | None:
        if self._options.labels is None:
            return None
        if naming is None:
            raise SettingsError("labels name records of sources; a table in memory takes them by esdedup.link")
        labels = read_labels(self._options.labels)
        ids = sorted({identity for label in labels for identity in label[:2]})
        hashes = naming.hashes(ids)
        if unknown := [identity for identity in ids if identity not in hashes]:
            log.warning("labels: %d ids are not there, such as %s", len(unknown), unknown[0])
        number = {
            int(value): at for at, value in enumerate(self._db.arrays("SELECT hash FROM texts ORDER BY number")["hash"])
        }
        place_of = [dict[int, int](), dict[int, int]()]
        middle = len(rows.text) if rows.first_right is None else rows.first_right
        for place in range(len(rows.text) - 1, -1, -1):
            place_of[place >= middle][int(rows.text[place])] = place
        held: list[tuple[int, int, bool]] = []
        for label in labels:
            if label.a not in hashes or label.b not in hashes:
                continue
            one, two = number[hashes[label.a]], number[hashes[label.b]]
            sides = (
                (0, 0) if rows.first_right is None else (0, 1) if one in place_of[0] and two in place_of[1] else (1, 0)
            )
            if one != two and one in place_of[sides[0]] and two in place_of[sides[1]]:
                held.append((place_of[sides[0]][one], place_of[sides[1]][two], label.same))
        if labels and not held:
            raise SettingsError(f"labels: {self._options.labels}: no pair is of records that are compared")
        if not labels:
            log.warning("labels: no pair of %s has an answer; write yes or no in same", self._options.labels)
        log.info("labels: %d of %d pairs are used", len(held), len(labels))
        if not held:
            return None
        a, b, same = zip(*held, strict=True)
        return Known(np.array(a), np.array(b), np.array(same, np.bool_))

    def _say(self, matched: Matched, frozen: bool) -> None:
        kinds = ", ".join(f"{name}: {kind}" for name, kind in matched.kinds.items())
        log.info("records are compared by %s (--fields NAME:KIND)", kinds or "nothing")
        for one, two in matched.paired.items():
            if one != two:
                log.info("%s and %s are taken for the same column (--fields ONE=TWO)", one, two)
        if matched.recall < 1:
            log.info(
                "candidates: %d; they have an estimated %.1f %% of all same records",
                len(matched.a),
                100 * matched.recall,
            )
        if frozen and matched.outdated:
            log.warning("with what is new, other weights would be learned; scan again to learn them")

    def _to_review(
        self, matched: Matched, rows: Rows, texts: pa.LargeStringArray, naming: Naming | None
    ) -> list[tuple[object, ...]]:
        if naming is None:
            raise SettingsError("review names records of sources; a table in memory has candidates by esdedup.link")
        unsure = np.minimum(matched.probability, 1 - matched.probability)
        chosen = np.argsort(-unsure, kind="stable")[:_TO_REVIEW]
        chosen = chosen[: max(_AT_LEAST, int((unsure > _SURE).sum()))]
        a, b = rows.text[matched.a[chosen]], rows.text[matched.b[chosen]]
        hashes = self._db.arrays("SELECT hash FROM texts ORDER BY number")["hash"]
        names = [naming.ids(hashes[end]) for end in (a, b)]
        held = [texts.take(pa.array(end)).to_pylist() for end in (a, b)]
        log.info(
            "review: %d pairs in %s; fill in the column same, and give the file to --labels",
            len(chosen),
            self._options.review,
        )
        return [
            ("", f"{probability:.3f}", *named, *said)
            for probability, named, said in zip(
                matched.probability[chosen].tolist(), zip(*names, strict=True), zip(*held, strict=True), strict=True
            )
        ]


def _of_texts(matched: Matched, pairs: Numbers, rows: Rows) -> tuple[Numbers, Numbers, Similarities]:
    """Return the pairs of different texts a[i] < b[i] that pairs of records are, with the highest probability."""
    one, two = rows.text[matched.a[pairs]], rows.text[matched.b[pairs]]
    a, b, probability = np.minimum(one, two), np.maximum(one, two), matched.probability[pairs]
    order = np.lexsort((-probability, b, a))
    a, b, probability = a[order], b[order], probability[order]
    first = (a != b) & ((np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 0))
    return a[first], b[first], probability[first]
