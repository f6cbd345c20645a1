"""What `dedupe` writes, and what it says it has done."""

from __future__ import annotations

from typing import Annotated, ClassVar

from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.field_types import MISSING, ClusterId, Count, Seconds, Share, Unit
from esdedup.output.contents.job_answers import StoreCounts

REASONS = ("identical", "near", "contained", "in_reference")
"""Why something is dropped."""


@answer
class Dropped(Result):
    """How many texts were dropped, by reason."""

    identical: Count
    """Equal to the text that is kept."""
    near: Count
    """Similar to the text that is kept."""
    contained: Count
    """Inside a longer text of the sources (`--contained`)."""
    in_reference: Count
    """Equal or similar to a text of a reference collection (`--against`), inside one or around one."""


@answer
class Deduped(Result):
    """How many texts came in, and how many were kept and dropped."""

    in_: Count
    """Number of texts in the sources: sentences, records, paragraphs or lines."""
    kept: Count
    """Number of texts that are kept, including those that were not compared."""
    dropped: Dropped
    """Number of texts that are dropped, by reason."""
    not_compared: dict[str, Count]
    """Number of texts that were not compared, by reason in words; the reason names the option that decides."""


@answer
class DedupedSource(Result):
    """How many texts of a source were compared, kept and dropped."""

    name: str
    """Name of the source."""
    compared: Count
    """Number of its texts that were compared."""
    kept: Count
    """Number of these that are kept."""
    dropped: Dropped
    """Number of these that are dropped, by reason."""


@answer
class Loss(Result):
    """A cluster of which sentences would be lost: dropped texts have them, and the kept one does not."""

    cluster: ClusterId
    """Id of the cluster."""
    kept: str
    """Id of the text that is kept."""
    dropped: Count
    """Number of texts that differ from it and are dropped."""
    lost: Count
    """Number of their sentences that it does not have."""
    sentences: list[str]
    """The first three of these sentences."""


@answer
class Written(Result):
    """What `dedupe` has written and dropped."""

    unit: Unit
    """What was compared: records, sentences, paragraphs or lines."""
    records: Deduped
    """How many texts came in, and how many were kept and dropped."""
    sources: list[DedupedSource]
    """The same for each source."""
    no_value: dict[str, Count]
    """By column: how many texts of clusters have no value that a policy of `--keep` can compare. They lose."""
    documents: Count
    """Number of documents that were written."""
    documents_dropped: Count
    """Number of documents that were dropped as a whole."""
    sentences_dropped: Count
    """Number of sentences that were removed from documents that are kept."""
    files: list[str]
    """Paths of the files that were written, without drops.jsonl."""
    counts: StoreCounts
    """What was read."""
    contradictions: Count = MISSING
    """Number of texts that stay because they state another fact than the one that is kept for their cluster; only with
    `--keep-contradictions`."""
    other_of_source: Count = MISSING
    """Number of pairs that no cluster with one text of each source has; only with `--one-per-source`."""
    merged: Count = MISSING
    """Number of kept records that got a value of another one; only with `--merge`."""
    damaged: list[str]
    """Sources that are missing or damaged, with `--keep-going`."""
    seconds: dict[str, Seconds]
    """Duration of each stage."""
    losses: list[Loss] = MISSING
    """The twenty clusters by which most would be lost, the worst first; only with `--dry-run`."""


@answer
class Drop(Result):
    """A text that `dedupe` has dropped: a record, or with `--unit sentence` a sentence of one."""

    _open: ClassVar[bool] = True

    id: str
    """Id of the text that is dropped."""
    source: str
    """Name of its source."""
    cluster: ClusterId
    """Id of its cluster."""
    kept: str | None
    """Id of the text that is kept instead; null with `--keep none`, or if a reference collection has the text."""
    reason: Annotated[str, ("enum", REASONS)]
    """Why it is dropped."""
    jaccard: Share | None
    """Jaccard similarity to the text that is kept, or to that of the reference; null if it was not computed."""
    by: str = MISSING
    """The policy of `--keep` by which it lost; not if its reason is another one. What it compared stands beside, under
    the name of the column, and that of the kept text as `kept_NAME`: `score` and `kept_score`; `length`, `damage`."""
    gave: list[str] = MISSING
    """Columns of which the kept text got a value of this one, with `--merge`."""
    other: str = MISSING
    """Id of the text that it equals or resembles most; only with `--keep none`."""
    reference: str = MISSING
    """Id of the text in a reference collection, if the reason is `in_reference`."""
    reference_text: str = MISSING
    """The text in the reference collection."""
    share: Share = MISSING
    """Share of its shingles that the longer text has (`--contained`), or that it has of those of the reference
    (`--containing`)."""


@answer
class RecordNote(Result):
    """What `dedupe --annotate` says about a record."""

    cluster: ClusterId | None
    """Id of its cluster; null if it is in none."""
    keep: bool
    """Whether the record is kept."""


@answer
class SentenceNote(Result):
    """What `dedupe --annotate` says about a sentence of a document."""

    position: Count
    """Position in the document, from 0."""
    cluster: ClusterId
    """Id of its cluster."""
    keep: bool
    """Whether the sentence is kept."""


Note = RecordNote | list[SentenceNote]
"""What `dedupe --annotate` writes to the field `esdedup` of a record."""


@answer
class CleanedPage(Result):
    """A page of a wiki dump, as `dedupe` writes it: the visible text without what is dropped."""

    id: str
    """Id of the page."""
    title: str
    """Title of the page."""
    text: str
    """The text that a reader sees."""
    revision: int | None
    """Id of the revision."""
    timestamp: str | None
    """Time of the revision."""
    esdedup: Note = MISSING
    """With `--annotate`: what would happen to the page, or to each of its sentences that are in a cluster."""
