"""How many texts came in, and what became of them: which were compared, which were not, and why."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from esdedup.columns.records import Skips
from esdedup.errors import NothingCompared
from esdedup.formats.protocol import format_at
from esdedup.matching.signing import Signing
from esdedup.output.skips import NO_TEXT, UNREAD
from esdedup.store.ledger import REPEATED, SourceCheckpoint

if TYPE_CHECKING:
    from esdedup.output.contents.base import Result

log = logging.getLogger("esdedup")

RENAMED = REPEATED
"""Among what was skipped: documents whose id was already read. They got a number, and are not skipped."""


def unread(skipped: Mapping[str, int]) -> int:
    """Return how many records of a source are no documents, by what was skipped of it."""
    return sum(skipped.get(reason, 0) for reason in UNREAD if reason != "refused")  # these are documents


def skipped_by_reason(checkpoints: Sequence[SourceCheckpoint]) -> dict[str, int]:
    """Return what was skipped in all sources together, by reason."""
    total = Skips()
    for checkpoint in checkpoints:
        total.include(checkpoint.skips)
    return dict(sorted(total.counts.items()))


def damages(checkpoints: Sequence[SourceCheckpoint]) -> list[str]:
    """Describe the damage of sources that could not be read to the end, or that a server has rejected in part."""
    places = [checkpoint.skips.places for checkpoint in checkpoints]
    return [place for one in places for place in one.get("damaged_source", []) + one.get("refused", [])[:1]]


def warn_of_sources(checkpoints: Sequence[SourceCheckpoint], column: str = "--text-column") -> None:
    """Warn of a source that was probably not read as it should be: in another encoding, or from another column. The
    option `column` names that.
    """
    for checkpoint in checkpoints:
        counts, places = checkpoint.skips.counts, checkpoint.skips.places
        total = checkpoint.documents + sum(counts.get(reason, 0) for reason in UNREAD)
        bad = counts.get("bad_utf8", 0) + counts.get("replaced_bytes", 0)
        if bad > total / 100:
            log.warning(
                "%s: %s of %s records are not valid UTF-8; if the file has another encoding, name it, for example "
                "--encoding cp1252",
                checkpoint.path, f"{bad:,}", f"{total:,}",
            )  # fmt: skip
        if counts.get("no_text", 0) > total / 2 and _has_columns(checkpoint):
            first = "".join(f", as in {place}" for place in places.get("no_text", [])[:1])
            named = checkpoint.reading().get("text_column")
            where, which = (f" in the column {named!r}", "another column") if named else ("", "the column of the text")
            log.warning(
                "%s: %s of %s records have no text%s%s; name %s with %s",
                checkpoint.path, f"{counts['no_text']:,}", f"{total:,}", where, first, which, column,
            )  # fmt: skip


def _has_columns(checkpoint: SourceCheckpoint) -> bool:
    """Return whether a column of the source holds the text."""
    form = format_at(checkpoint.path, checkpoint.reading().get("format"))
    return form is None or "text_column" in form.names()


def accounted(
    signing: Signing, checkpoints: Sequence[SourceCheckpoint], counts: Mapping[str, int | None]
) -> dict[str, Any]:
    """Return how many texts came `in`, how many were `compared`, and how many were `not_compared`, by reason.

    Reasons name the option that decides. `counts` are those of the store.
    """
    skipped = skipped_by_reason(checkpoints)
    read, kept = counts["sentences_read"] or 0, counts["sentences_kept"] or 0
    left_out = {words: skipped[reason] for reason, words in UNREAD.items() if skipped.get(reason)}
    if NO_TEXT in left_out and any(map(_has_columns, checkpoints)):
        left_out[f"{NO_TEXT} (--text-column)"] = left_out.pop(NO_TEXT)
    unread = sum(left_out.values())
    lengths = {words: skipped[reason] for reason, words in bounds_in_words(signing).items() if skipped.get(reason)}
    if sum(lengths.values()) != read - kept:
        # documents were removed or replaced since they were read, and what was skipped of them is still counted
        lengths = {"shorter or longer than --min-chars and --max-chars allow": read - kept} if read > kept else {}
    return {"in": read + unread, "compared": kept, "not_compared": dict(sorted({**left_out, **lengths}.items()))}


def bounds_in_words(signing: Signing) -> dict[str, str]:
    """Return the reasons for which texts of a length are not compared, in words."""
    return {
        "too_short": f"shorter than --min-chars {_limits(signing, 'min_chars')}",
        "too_long": f"longer than --max-chars {_limits(signing, 'max_chars')}",
        "no_words": f"without words (--normalize {signing.form})",
    }


def _limits(signing: Signing, name: str) -> str:
    usual = getattr(signing, name)
    others = sorted({getattr(each, name) for each in signing.classes} - {usual})
    named = " or ".join(f"{limit:,}" for limit in others)
    return f"{usual:,} ({named} in scripts without spaces)" if named else f"{usual:,}"


def refuse_nothing(records: Mapping[str, Any] | Result, unit: str, result: Any, *, empty: bool = False) -> None:
    """Raise `NothingCompared` if texts were read and every one was left out; with `empty`, also if there were none."""
    left_out = records["not_compared"]
    total = sum(left_out.values())
    if empty and total == records["in"] and left_out.keys() <= {NO_TEXT}:
        raise NothingCompared("there is no text in the sources: nothing was compared", result)
    if total and total == records["in"] and left_out.keys() != {NO_TEXT}:  # an empty file is no mistake
        why = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        raise NothingCompared(f"none of {total:,} {unit}s was compared: {why}", result)
