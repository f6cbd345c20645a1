"""How good results are, what it costs to get them, and what was planted in a demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from esdedup.output.contents.field_types import MISSING, Count, Kind, Seconds, Share, Unit
from esdedup.output.contents.job_answers import Summary


@dataclass(frozen=True)
class GoldenScore:
    """The clusters of a store compared with those of a file. Single sentences do not count as clusters."""

    golden_clusters: Count
    """Number of clusters in the file."""
    output_clusters: Count
    """Number of clusters in the store."""
    golden_not_in_output: Count
    """Number of clusters of the file that are not exactly a cluster of the store."""
    output_not_in_golden: Count
    """Number of clusters of the store that are not exactly a cluster of the file."""
    precision: Share | None
    """Share of the sentence pairs in one cluster of the store that are in one cluster of the file."""
    recall: Share | None
    """Share of the sentence pairs in one cluster of the file that are in one cluster of the store."""
    f1: Share | None
    """Harmonic mean of precision and recall."""
    adjusted_rand_index: Annotated[float, ("maximum", 1)]
    """Agreement of both clusterings: 1 if they are equal, about 0 if they are unrelated."""


@dataclass(frozen=True, kw_only=True)
class SimilarityRange:
    """The pairs with a similarity in one range."""

    from_: Share
    """Lowest similarity."""
    to: Share
    """Highest similarity."""
    true_pairs: Count
    """Number of true pairs."""
    right_pairs: Count
    """Number of these that were found."""
    recall: Share
    """Share of the true pairs that were found."""


@dataclass(frozen=True, kw_only=True)
class TruthScore:
    """The pairs of a store compared with the true ones."""

    threshold: Share = MISSING
    """Lowest similarity of a true pair, with `--truth exact`."""
    true_pairs: Count
    """Number of true pairs."""
    found_pairs: Count
    """Number of pairs that the scan has found."""
    right_pairs: Count
    """Number of pairs that were found and are true."""
    recall: Share | None
    """Share of the true pairs that were found; null if there are none."""
    precision: Share | None
    """Share of the found pairs that are true; null if there are none, or if Jaccard does not decide pairs."""
    by_jaccard: list[Annotated[dict[str, Any], SimilarityRange]]
    """The same for each range of similarity that has true pairs."""
    same_text: Count = MISSING
    """Number of lines of the file that name two sentences with one text; they are not counted."""


@dataclass(frozen=True)
class Evaluation:
    """How good the results of the last scan are."""

    sentences: Count
    """Number of sentences in the store."""
    golden: Annotated[dict[str, Any], GoldenScore] = MISSING
    """Scores of the clusters, with `--golden`."""
    truth: Annotated[dict[str, Any], TruthScore] = MISSING
    """Scores of the pairs, with `--truth`."""


@dataclass(frozen=True)
class PlanSample:
    """The texts that schemes were tried on."""

    texts: Count
    """Number of texts."""
    true_pairs: Count
    """Number of pairs among them that reach the threshold."""


@dataclass(frozen=True)
class PlanScheme:
    """A way to sign texts, and what it finds."""

    scheme: str
    """Name of the scheme: BANDSxROWS, or DRAWSxDRAW/HASHES."""
    tokens: Count
    """Number of tokens of a text."""
    hashes: Count
    """Number of hash functions."""
    expected_recall: Share
    """Share of the pairs that it finds in theory."""
    recall: Share | None
    """Share of the sample's pairs that it has found."""
    candidates: Count | None
    """Number of candidates in the sample."""
    false_candidates: Count | None
    """Number of candidates that are no pair."""
    seconds: Seconds | None
    """Time to sign and compare the sample."""


@dataclass(frozen=True)
class ExactCost:
    """The cost of comparing all texts with all."""

    seconds: Seconds
    """Time for the sample."""


@dataclass(frozen=True)
class CurvePoint:
    """What a scheme finds at one similarity."""

    jaccard: Share
    """Middle of a range of similarity."""
    expected: Share
    """Share of the pairs that it finds in theory."""
    pairs: Count
    """Number of pairs of the sample in this range."""
    recall: Share | None
    """Share of these that it has found; null if there are none."""


@dataclass(frozen=True)
class Cost:
    """The cost of a run."""

    sentences: Count
    """Number of sentences."""
    seconds: Seconds
    """Duration."""
    memory_bytes: Count
    """Largest memory, in bytes."""
    disk_bytes: Count
    """Size of the store, in bytes."""
    task_seconds: Seconds
    """Duration of all tasks on a cluster together; 0 for the local engine."""
    shuffled_bytes: Count
    """Bytes that these tasks send to each other."""


@dataclass(frozen=True)
class Forecast(Cost):
    """The expected cost of a run, and the small runs that it was computed from."""

    cores: Count | None
    """Cores of the cluster, with `--cores`; otherwise null: those of the small runs."""
    runs: list[Annotated[dict[str, Any], Cost]]
    """The small runs."""


@dataclass(frozen=True)
class Plan:
    """Ways to sign texts, compared."""

    unit: Unit
    """What is compared."""
    threshold: Share
    """Lowest similarity of a pair."""
    sample: Annotated[dict[str, int], PlanSample] | None
    """The texts that schemes were tried on; null without a source or store."""
    schemes: list[Annotated[dict[str, Any], PlanScheme]]
    """The schemes."""
    exact: Annotated[dict[str, float], ExactCost] | None
    """The cost of comparing all with all; null without a sample."""
    recommended: str
    """Name of the scheme to use; `exact` if comparing all with all is faster."""
    reached: bool
    """Whether it finds the share of pairs that `--recall` asks for."""
    cheapest: str
    """Name of the cheapest scheme that finds enough, or of the one that finds most."""
    curve: list[Annotated[dict[str, Any], CurvePoint]]
    """What the cheapest scheme finds, by similarity."""
    forecast: dict[str, Annotated[dict[str, Any], Forecast]]
    """Expected cost for `--sentences` sentences, by store: `embedded`, `server` or `lake`."""


@dataclass(frozen=True)
class PlantedKindFound:
    """The planted clusters of one kind, and what was found of them."""

    kind: Kind
    """The kind."""
    plants: Count
    """Number of planted clusters."""
    pairs: Count
    """Number of planted pairs."""
    found: Count
    """Number of these pairs that are in one cluster."""


@dataclass(frozen=True)
class PlantedFound:
    """The clusters of a run, compared with the planted ones."""

    kinds: list[Annotated[dict[str, Any], PlantedKindFound]]
    """What was found of each kind."""
    mixed: Count
    """Number of clusters with sentences of two or more planted clusters."""
    unplanted: Count
    """Number of clusters without a planted sentence."""
    strangers: Count
    """Number of sentences that were not planted, but are in a cluster with planted ones."""


@dataclass(frozen=True)
class DemoRun:
    """The run of a demo, and how much of what was planted it has found."""

    summary: Annotated[dict[str, Any], Summary]
    """The summary of the run."""
    found: Annotated[dict[str, Any], PlantedFound]
    """What was found of what was planted."""
    complete: bool
    """Whether every planted pair was found, and no cluster mixes two planted ones."""


@dataclass(frozen=True)
class PlantedSentence:
    """A planted sentence."""

    document: str
    """Id of the page."""
    text: str
    """The text."""
    cells: list[str] = MISSING
    """What fills the slots, in their order, if the cluster is a template."""


@dataclass(frozen=True)
class PlantedCluster:
    """A cluster that `demo` has planted in its wiki."""

    plant: Count
    """Number of the planted cluster."""
    kind: Kind
    """Its kind."""
    update: bool
    """Whether its sentences are what one page says at two times, the earlier one first (`--revisions all`)."""
    members: list[Annotated[dict[str, Any], PlantedSentence]]
    """Its sentences."""
