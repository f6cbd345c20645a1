"""What the commands that read, compare and rewrite say they have done."""

from __future__ import annotations

from typing import Annotated, Any

from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.field_types import MISSING, ClusterId, Count, Kind, Seconds, Share, Unit
from esdedup.output.skips import WORDS
from esdedup.text.splitting import SCRIPTS

SkipReason = Annotated[str, ("enum", tuple(WORDS))]


@answer
class TextClass(Result):
    """Texts that are compared by one kind of shingle. A text belongs to the first class that fits."""

    shingle: str
    """Kind and length of the shingles: char:N or word:N."""
    min_chars: Count
    """Shorter texts are not compared, in characters."""
    max_chars: Count
    """Longer texts are not compared, in characters."""
    script: Annotated[str, ("enum", ("any", *SCRIPTS))]
    """Script that most of the text is in."""
    below: Count | None
    """Only texts with fewer different shingles than this; null for no limit."""
    inside: str
    """Shingles that decide whether a text stands inside a longer one."""


@answer
class FrozenSettings(Result):
    """What is frozen with a store, besides options."""

    text_scheme: Count
    """Version of everything that turns a source into units: cleaning and splitting."""
    hash_scheme: Count
    """Version of everything that turns a text into tokens."""
    classes: list[TextClass] = MISSING
    """Classes of texts, if there are several."""


@answer
class ScanSettings(Result):
    """What a scan was given, besides options."""

    ignore: list[ClusterId] = MISSING
    """Content hashes of the texts whose clusters are not listed."""


Frozen = Annotated[dict[str, Any], Signing, FrozenSettings]
Free = Annotated[dict[str, Any], Scanning, ScanSettings]
FrozenAndFree = Annotated[dict[str, Any], Signing, FrozenSettings, Scanning, ScanSettings]


@answer
class StoreCounts(Result):
    """What a store contains."""

    documents: Count
    """Number of documents."""
    sentences_read: Count
    """Number of sentences in the documents, or of records."""
    sentences_kept: Count
    """Number of sentences that are compared. The others are too short, too long, or have no words."""
    distinct_sentences: Count = MISSING
    """Number of different texts among these; missing if a server would have to read all of them to count."""


@answer
class ReadCounts(Result):
    """What a command has read."""

    new: Count
    """Number of documents that were added."""
    replaced: Count
    """Number of documents that were replaced, because their text has changed."""
    unchanged: Count
    """Number of documents that were already in the store."""
    repeated: Count
    """Number of documents whose id occurs before in the same source."""
    gone: Count
    """Number of pages that were read of a wiki before, and are not in what was read of it now: they stay, unless
    `--complete` is given."""


@answer
class FoundCounts(Result):
    """What a scan has found."""

    distinct_sentences: Count
    """Number of different texts."""
    collisions: Count | None
    """Number of tokens that two or more texts share; null if candidates do not come from tokens."""
    candidates: Count | None
    """Number of pairs of texts that were compared; null if all were compared with all, or after some updates."""
    pairs: Count
    """Number of pairs of different texts that are near-duplicates. Copies of one text are no pair."""
    clusters: Count
    """Number of clusters, including those that hold only copies of one text."""
    clustered_sentences: Count
    """Number of sentences that are in a cluster."""


@answer
class IndexCounts(ReadCounts, StoreCounts):
    """What a store contains, and what this command has read: only if this was the last part of a run in parts."""


@answer
class ScanCounts(FoundCounts, StoreCounts):
    """What a store contains, and what the last scan has found."""


@answer
class AddedCounts(ReadCounts):
    """What `add` has read, and how much of it matches."""

    matched: Count
    """Number of new sentences that match another sentence."""


@answer
class Compared(Result):
    """How many texts came in, and how many of them were compared."""

    in_: Count
    """Number of texts in the sources: sentences, records, paragraphs or lines."""
    compared: Count
    """Number of texts that were compared."""
    not_compared: dict[str, Count]
    """Number of texts that were not compared, by reason in words; the reason names the option that decides."""


@answer
class Skipped(Result):
    """What was skipped in a source."""

    counts: dict[SkipReason, Count]
    """How many, by reason."""
    places: dict[SkipReason, list[str]]
    """The first five places for each reason: a line, a row or a title."""


@answer
class ReadSource(Result):
    """A source, and what was read of it."""

    name: str
    """Name of the source: the beginning of its ids if there are several."""
    path: str
    """Path of the source; `-` for standard input."""
    documents: Count
    """Number of documents that were read."""
    skipped: Skipped
    """What was skipped."""


@answer
class StageCost(Result):
    """What a stage has cost on a cluster. Bytes are 0 where the cluster does not tell them."""

    stage: str
    """What was done."""
    seconds: Seconds
    """Duration."""
    tasks: Count
    """Number of tasks."""
    task_seconds: Seconds
    """Duration of all tasks together."""
    shuffled_bytes: Count
    """Bytes that tasks sent to each other."""
    spilled_bytes: Count
    """Bytes that did not fit in memory, and were written to a local disk."""
    peak_memory_mb: Annotated[float, ("minimum", 0)]
    """Largest memory of a Python process of a task, in MiB."""


@answer
class Summary(Result, shown=("counts", "kinds", "damaged")):
    """What the store contains, and what the scan found."""

    version: str
    """Version of esdedup."""
    settings: FrozenAndFree
    """The settings by the names of their options."""
    sources: list[ReadSource]
    """The sources, in the order in which they were read."""
    verified: bool
    """Whether the texts of each pair were compared; false with `--verify none`."""
    counts: ScanCounts
    """What was counted."""
    records: Compared
    """How many texts came in, and how many were compared."""
    renamed: Count
    """Number of documents whose id was already read, and that were numbered (`ID#2`)."""
    cluster_sizes: dict[str, Count]
    """Number of clusters by their size."""
    kinds: dict[Kind, Count]
    """Number of clusters of each kind; empty if clusters were not classified."""
    skipped: dict[SkipReason, Count]
    """How much was skipped in all sources and in the scan, by reason."""
    damaged: list[str]
    """Sources that are missing or damaged, with `--keep-going`."""
    far_reaching_clusters: Count
    """Number of clusters with a member that is far less similar to the representative than a pair must be."""
    seconds: dict[str, Seconds]
    """Duration of each stage."""
    peak_memory_mb: Annotated[float, ("minimum", 0)]
    """Largest memory of all processes, in MiB."""
    stages: list[StageCost]
    """What each stage has cost on a cluster; empty for the local engine."""


@answer
class NewMatch(Result):
    """A new sentence, and a stored sentence that it matches."""

    id: str
    """Id of the new sentence."""
    text: str
    """Its text."""
    match: str
    """Id of the sentence that it matches: one with the same text, or else the most similar one."""
    match_text: str
    """The text of that sentence."""
    jaccard: Share | None
    """Jaccard similarity of the two texts; null if it was not computed."""


@answer
class Added(Summary):
    """The summary after `add`, and which of the new sentences match."""

    added: AddedCounts
    """What was read and added."""
    matches: list[NewMatch]
    """The first sentences that match, as many as `--matches` asks for."""


@answer
class Indexed(Result):
    """What a store contains after `index`."""

    settings: Frozen
    """The settings that are frozen with the store, by the names of their options."""
    counts: IndexCounts
    """What was counted."""
    records: Compared
    """How many texts came in, and how many will be compared."""
    renamed: Count
    """Number of documents whose id was already read, and that were numbered (`ID#2`)."""
    skipped: dict[SkipReason, Count]
    """How much was skipped in all sources, by reason."""
    damaged: list[str]
    """Sources that are missing or damaged, with `--keep-going`."""


@answer
class Extracted(Result):
    """What `extract` has written."""

    file: str
    """Path of the file."""
    skipped: dict[SkipReason, Count]
    """How much was skipped in all sources, by reason."""
    damaged: list[str]
    """Sources that are missing or damaged, with `--keep-going`."""
    documents: Count = MISSING
    """Number of documents written."""
    sentences: Count = MISSING
    """Number of sentences written, with `--sentences`."""


@answer
class Removed(Result):
    """What `remove` has deleted, and what the store contains afterwards."""

    removed: Count
    """Number of documents that were deleted."""
    unknown: list[str]
    """Ids that the store does not have."""
    counts: StoreCounts | ScanCounts
    """What the store contains, and what the last scan has found if there is one."""
    unit: Unit
    """What was compared: records, sentences, paragraphs or lines."""


@answer
class StoredSource(Result):
    """A source of a store."""

    name: str
    """Name of the source: the beginning of its ids if there are several."""
    path: str
    """Path of the source; `-` for standard input."""
    documents: Count
    """Number of documents that were read."""
    finished: bool
    """Whether the source was read to its end."""


@answer
class LastScan(Result):
    """The last scan of a store."""

    scanning: Free
    """The settings of the scan by the names of their options."""
    counts: FoundCounts
    """What the scan has found."""
    hot_tokens: Count
    """Number of tokens that so many texts share that not all of these were compared with each other."""
    passed_over: dict[SkipReason, Count] = MISSING
    """How many texts the scan could not compare, by reason; missing after an update."""
    vectors_state: int | None = MISSING
    """Fingerprint of the file of word vectors; null if the scan uses none."""
    apart: str = MISSING
    """Fingerprint of the texts that `dedupe` found in references or in longer texts."""
    learned: Free = MISSING
    """What was learned of records: the kinds of columns, and how often each level of each field is found among the same
    records and among others."""
    far_reaching_clusters: Count
    """Number of clusters with a member that is far less similar to the representative than a pair must be."""
    ignored_clusters: Count
    """Number of clusters that are not listed because of `--ignore`."""
    current: bool
    """Whether the store is unchanged since."""


@answer
class Status(Result):
    """What a store contains."""

    store: str
    """Address of the store."""
    settings: Frozen
    """The settings that are frozen with the store, by the names of their options."""
    counts: StoreCounts
    """What was counted."""
    languages: dict[str, Count]
    """Number of compared sentences in each language, by its code."""
    sources: list[StoredSource]
    """The sources, in the order in which they were read."""
    records: Compared
    """How many texts came in, and how many are compared."""
    renamed: Count
    """Number of documents whose id was already read, and that were numbered (`ID#2`)."""
    skipped: dict[SkipReason, Count]
    """How much was skipped in all sources, by reason."""
    unfinished: str | None
    """What was begun and not finished, and how to finish it."""
    last_scan: LastScan | None
    """The last scan; null if there is none."""
    disk_bytes: Count
    """Size of the store on disk, in bytes."""


@answer
class StoreCheck(Result):
    """One promise of a store, or one fact about an installation."""

    name: str
    """What was checked."""
    problem: str | None
    """What is wrong; null if nothing is."""
    advice: str | None
    """What mends it, or what a check that was not made needs; null if nothing is wrong."""
    repaired: bool
    """Whether it was mended just now, by --repair."""
    made: bool
    """Whether the check was made: some need what others found missing."""


@answer
class Examined(Result):
    """The checks of a store, or of what is installed."""

    store: str | None
    """Address of the store; null if what is installed was checked."""
    checks: list[StoreCheck]
    """Every check: first what was mended, then the others."""

    @property
    def problems(self) -> list[StoreCheck]:
        """The checks that found something which is not mended."""
        return [check for check in self.checks if check.problem and not check.repaired]


@answer
class Reported(Result):
    """The files that `report` has written."""

    files: list[str]
    """Paths of the page and the plots."""


@answer
class Imported(Result):
    """What `kibana import` has done."""

    objects: Count
    """Number of saved objects."""
    dashboard: str = MISSING
    """Address of the dashboard."""
    file: str = MISSING
    """Path of the file, with `--out`."""
