"""The certificate of `dedupe`, and what `verify` says of it."""

from __future__ import annotations

from typing import Any, ClassVar

from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.dedupe_answers import Deduped, DedupedSource, Drop
from esdedup.output.contents.field_types import MISSING, Count, Share, Unit


@answer
class CertifiedInput(Result):
    """A file that was deduplicated."""

    number: Count
    """Number by which rows name it."""
    source: str
    """Name of its source."""
    path: str
    """Its path, as it was given or found."""
    bytes: Count
    """Size of the file."""
    sha256: str
    """SHA-256 of its bytes."""
    reading: dict[str, Any]
    """Options with which it was read."""


@answer
class CertifiedOutput(Result):
    """A file that was written."""

    input: Count
    """Number of the input that it was made from."""
    path: str
    """Its path in the folder of outputs."""
    bytes: Count
    """Size of the file."""
    sha256: str
    """SHA-256 of its bytes."""


@answer
class CertifiedRows(Result):
    """The file beside the certificate that has a row for each removed text."""

    path: str
    """Its name, which contains the beginning of its hash."""
    rows: Count
    """Number of removed texts."""
    sha256: str
    """SHA-256 of its bytes."""


@answer
class LostSentences(Result):
    """Sentences of a removed text that the text which is kept instead does not have."""

    id: str
    """Id of the removed text."""
    kept: str
    """Id of the kept text."""
    sentences: list[str]
    """The sentences."""


@answer
class LostValues(Result):
    """Values of a removed record that the record which is kept instead does not have."""

    id: str
    """Id of the removed record."""
    kept: str
    """Id of the kept record."""
    columns: dict[str, list[Any]]
    """By column: the removed value and the kept one, which is null if there is none."""


@answer
class LostOfAll(Result):
    """What the removed texts have that the kept ones do not."""

    rows: Count
    """Number of removed texts that lose a sentence."""
    sentences: Count
    """Number of the lost sentences."""
    first: list[LostSentences]
    """Those of the first twenty of these texts."""
    columns: dict[str, Count]
    """Of tables that are compared record by record, by column: how many removed records have a value there that the
    kept one does not have. Ids do not count, and neither does the text, unless it is made of several columns."""
    first_records: list[LostValues]
    """Those of the first twenty of these records."""


@answer
class SampledRecall(Result):
    """How many pairs were found of those among a sample of the texts, each compared with each."""

    texts: Count
    """Number of texts in the sample."""
    pairs: Count
    """Number of pairs among them that reach the threshold."""
    found: Count
    """Number of these that were found."""
    low: Share
    """Of all pairs, at least this share was found, with 95 % certainty together with `high`,"""
    high: Share
    """and at most this share."""


@answer
class Certificate(Result):
    """What `dedupe` has removed and kept, so that it can be checked without the store."""

    certificate: Count
    """Version of this format."""
    esdedup: str
    """Version of esdedup that made it."""
    unit: Unit
    """What was compared."""
    settings: dict[str, Any]
    """How texts were compared (`signing`, `scanning`), and what was dropped (`rules`)."""
    inputs: list[CertifiedInput]
    """The files that were deduplicated."""
    outputs: list[CertifiedOutput]
    """The files that were written."""
    folder: str
    """The folder of the outputs, as it was given."""
    rows: CertifiedRows
    """Where the removed texts are listed."""
    records: Deduped
    """How many texts came in, and how many were kept and dropped."""
    sources: list[DedupedSource]
    """The same for each source."""
    lost: LostOfAll
    """What was lost."""
    recall: SampledRecall | None
    """How many of all pairs were found; null if a Jaccard similarity alone does not make a pair."""
    contradictions: Count
    """Number of removed texts that state another fact than the kept one, half sure or more (`drift`)."""
    warnings: list[str]
    """What should be looked at: a source that lost more than half, a cluster that holds more than a hundredth or has
    two ends that are not alike, a removed text that states another fact."""
    checksum: str
    """SHA-256 of all the rest, as JSON with sorted keys and without spaces."""


@answer
class CertifiedRow(Drop):
    """A removed text, and where it and the text that is kept instead stand."""

    _open: ClassVar[bool] = True

    file: Count
    """Number of its input."""
    place: Count
    """Number of its record in the input, from 1."""
    position: Count
    """Position in the record, from 0; 0 for a record that is compared as a whole."""
    kept_file: Count | None
    """Number of the input of the kept text; null if that is not known."""
    kept_place: Count | None
    """Number of its record."""
    kept_position: Count | None
    """Its position in the record."""
    lost: Count | None
    """Number of its sentences that the kept text does not have; null if that is not known."""
    other_values: list[str] = MISSING
    """Columns in which the kept record has another value, or none."""


@answer
class Verified(Result):
    """What `verify` has found."""

    rows: Count
    """Number of removed texts that the certificate lists."""
    compared: Count
    """Number of these that were compared again with the text that is kept instead."""
    share: Share
    """The share of rows that was asked for."""
    problems: list[str]
    """What is not true, one line each; none if the certificate holds."""
    not_checked: list[str]
    """What was not checked, and why."""
