"""Candidates by what records have in common, field by field, each with a probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esdedup.matching.protocol import Matcher
from esdedup.matching.records.record_options import RecordOptions

if TYPE_CHECKING:
    from esdedup.matching.engine import Engine, Found, MatchContext
    from esdedup.matching.protocol import Evidence, Scanning
    from esdedup.matching.signers.text_signer import TextSigner

_NO_REVIEW = -1


@dataclass(frozen=True)
class Records(RecordOptions, Matcher):
    """Compares all columns of records, and learns what they say from the records themselves."""

    name = "records"
    summary = "records with values in common, compared field by field"
    verifiers = ("probability",)
    by_tokens = False
    counts_tokens = True
    runs_anywhere = False
    of_records = True

    def check_files(self) -> None:
        """Raise `SettingsError` if the file of labels cannot be used."""
        if self.labels is not None:
            from esdedup.matching.records.labelled_pairs import read_labels

            read_labels(self.labels)

    def files_state(self) -> int | None:
        """Return a number that changes with the labels, and if the review is not there."""
        if self.review is not None and not Path(self.review).exists():
            return _NO_REVIEW
        if self.labels is None:
            return None
        from esdedup.matching.records.labelled_pairs import labels_state

        return labels_state(self.labels)

    def find(self, engine: Engine, context: MatchContext) -> Found:
        """See `esdedup.matching.records.records_scan`."""
        from esdedup.matching.records.records_scan import RecordsScan

        return RecordsScan(engine, context, self).find()

    def measures(self, signer: TextSigner, one: str, two: str, evidence: Evidence) -> dict[str, Any]:
        """Return the `probability` that two records are the same, and what each of their `fields` says."""
        from esdedup.matching.records.two_records import Weighing

        learned = evidence.learned()
        if learned is None:
            return {}
        found = Weighing(learned, evidence.texts()).of(one, two)
        if self.min_probability is not None:
            found["min_probability"] = self.min_probability
        if (pair := evidence.pair()) is not None:
            found["probability"] = pair["probability"]
        return {**found, "probability": round(found["probability"], 6)}

    def explain(self, found: Mapping[str, Any], scanning: Scanning, evidence: Evidence) -> str:
        """Explain by the pairs of the last scan, and by the probability."""
        chance = found.get("probability")
        if chance is None:
            return "not a pair: nothing was learned of these records yet; scan the store"
        if evidence.pair() is not None:
            return f"a pair: probability {chance:.3f}"
        least = found["min_probability"]
        if chance < least:
            return f"not a pair: probability {chance:.3f} is below {least:.3f}"
        return f"not a pair: by themselves {chance:.3f}, but they were no candidates, or other records fit better"
