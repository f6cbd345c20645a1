"""How good results are, what it costs to get them, and what was planted in a demo."""

from __future__ import annotations

from typing import Annotated

from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.field_types import MISSING, Count, Kind, Seconds, Share, Unit
from esdedup.output.contents.job_answers import Summary


@answer
class GoldenScore(Result):
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


@answer
class SimilarityRange(Result):
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


@answer
class TruthScore(Result):
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
    by_jaccard: list[SimilarityRange]
    """The same for each range of similarity that has true pairs."""
    same_text: Count = MISSING
    """Number of lines of the file that name two sentences with one text; they are not counted."""


@answer
class Evaluation(Result):
    """How good the results of the last scan are."""

    sentences: Count
    """Number of sentences in the store."""
    golden: GoldenScore = MISSING
    """Scores of the clusters, with `--golden`."""
    truth: TruthScore = MISSING
    """Scores of the pairs, with `--truth`."""


@answer
class PlanSample(Result):
    """The texts that schemes were tried on."""

    texts: Count
    """Number of texts."""
    true_pairs: Count
    """Number of pairs among them that reach the threshold."""


@answer
class PlanScheme(Result):
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


@answer
class ExactCost(Result):
    """The cost of comparing all texts with all."""

    seconds: Seconds
    """Time for the sample."""


@answer
class CurvePoint(Result):
    """What a scheme finds at one similarity."""

    jaccard: Share
    """Middle of a range of similarity."""
    expected: Share
    """Share of the pairs that it finds in theory."""
    pairs: Count
    """Number of pairs of the sample in this range."""
    recall: Share | None
    """Share of these that it has found; null if there are none."""


@answer
class Cost(Result):
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


@answer
class Forecast(Cost):
    """The expected cost of a run, and the small runs that it was computed from."""

    cores: Count | None
    """Cores of the cluster, with `--cores`; otherwise null: those of the small runs."""
    runs: list[Cost]
    """The small runs."""


@answer
class Plan(Result, shown=("threshold", "recommended", "reached", "forecast")):
    """Ways to sign texts, compared."""

    unit: Unit
    """What is compared."""
    threshold: Share
    """Lowest similarity of a pair."""
    sample: PlanSample | None
    """The texts that schemes were tried on; null without a source or store."""
    schemes: list[PlanScheme]
    """The schemes."""
    exact: Annotated[dict[str, float], ExactCost] | None
    """The cost of comparing all with all; null without a sample."""
    recommended: str
    """Name of the scheme to use; `exact` if comparing all with all is faster."""
    reached: bool
    """Whether it finds the share of pairs that `--recall` asks for."""
    cheapest: str
    """Name of the cheapest scheme that finds enough, or of the one that finds most."""
    curve: list[CurvePoint]
    """What the cheapest scheme finds, by similarity."""
    forecast: dict[str, Forecast]
    """Expected cost for `--sentences` sentences, by store: `embedded`, `server` or `lake`."""


@answer
class PlantedKindFound(Result):
    """The planted clusters of one kind, and what was found of them."""

    kind: Kind
    """The kind."""
    plants: Count
    """Number of planted clusters."""
    pairs: Count
    """Number of planted pairs."""
    found: Count
    """Number of these pairs that are in one cluster."""


@answer
class PlantedFound(Result):
    """The clusters of a run, compared with the planted ones."""

    kinds: list[PlantedKindFound]
    """What was found of each kind."""
    mixed: Count
    """Number of clusters with sentences of two or more planted clusters."""
    unplanted: Count
    """Number of clusters without a planted sentence."""
    strangers: Count
    """Number of sentences that were not planted, but are in a cluster with planted ones."""


@answer
class DemoRun(Result):
    """The run of a demo, and how much of what was planted it has found."""

    summary: Summary
    """The summary of the run."""
    found: PlantedFound
    """What was found of what was planted."""
    complete: bool
    """Whether every planted pair was found, and no cluster mixes two planted ones."""


@answer
class PlantedSentence(Result):
    """A planted sentence."""

    document: str
    """Id of the page."""
    text: str
    """The text."""
    cells: list[str] = MISSING
    """What fills the slots, in their order, if the cluster is a template."""


@answer
class PlantedCluster(Result):
    """A cluster that `demo` has planted in its wiki."""

    plant: Count
    """Number of the planted cluster."""
    kind: Kind
    """Its kind."""
    update: bool
    """Whether its sentences are what one page says at two times, the earlier one first (`--revisions all`)."""
    members: list[PlantedSentence]
    """Its sentences."""
