"""Reasons, confidences and similarities in words."""

from __future__ import annotations

WORDS = {
    "bad_csv": "records that are not valid CSV",
    "bad_json": "lines that are not valid JSON",
    "bad_utf8": "records that are not valid UTF-8",
    "damaged_source": "sources that end with damaged data; everything before it was read",
    "hot_token": "oversized tokens; each text was compared only with its nearest neighbours",
    "ignored_cluster": "clusters of your --ignore list; they are not listed",
    "namespace": "pages outside the chosen namespaces",
    "no_id": "records without an id",
    "no_page": "records of web archives that are no pages of text, such as images and errors",
    "no_text": "records without text",
    "no_words": "texts without words, which cannot be compared",
    "older_version": "pages that another part of the wiki has in the same or a newer revision",
    "contradicting": "likely pairs that would bring records together that contradict each other",
    "other_partner": "likely pairs of records that have another partner, as likely or more (--across any takes all)",
    "other_of_source": "pairs that no cluster with one text of each source has (--one-per-source)",
    "redirect": "pages that only redirect to another one",
    "refused": "records that the server refused",
    "repeated_id": "documents whose id was already read; they are numbered",
    "replaced_bytes": "texts with bytes that are not valid UTF-8, which were replaced",
    "too_long": "texts longer than max-chars",
    "too_long_field": "records with a line or a field larger than --max-text",
    "too_long_text": "texts larger than --max-text",
    "too_short": "texts shorter than min-chars",
    "unparsable_page": "pages whose markup could not be read",
}
"""All reasons, and their meaning."""


NO_TEXT = "without text"
"""The reason of records without text, in words."""

UNREAD = {
    "bad_csv": "not valid CSV",
    "bad_json": "not valid JSON",
    "bad_utf8": "not valid UTF-8 (--encoding)",
    "no_id": "without an id (--id-column)",
    "no_page": "that are no pages of text",
    "no_text": NO_TEXT,
    "refused": "refused by the server",
    "too_long_field": "with a line or a field larger than --max-text",
    "too_long_text": "larger than --max-text",
}
"""Records that are no documents, by their reason among what was skipped."""


COMPARED_OR_NOT = frozenset(UNREAD) | {"too_short", "too_long", "no_words"}
"""The reasons for which a text is not compared. The others concern whole pages, or the scan."""


def in_words(reason: str) -> str:
    """Return the meaning of a reason; the reason itself if it has none."""
    return WORDS.get(reason, reason.replace("_", " "))


_CONFIDENCE = ((0.95, "almost certain"), (0.8, "very likely"), (0.5, "likely"), (0.2, "possible"), (0.0, "doubtful"))
_LIKENESS = (
    (1.0, "nearly the same"),
    (0.9, "very like"),
    (0.7, "much like"),
    (0.5, "partly like"),
    (0.0, "a little like"),
)
"""From which value on a word is used. `docs/page.md` lists them."""


def confidence(share: float) -> str:
    """Return how sure something is, in words."""
    return _word(share, _CONFIDENCE)


def likeness(similarity: float) -> str:
    """Return how similar two texts are, in words."""
    return _word(similarity, _LIKENESS)


def hundredths(share: float) -> str:
    """Format a share of one with two digits. Only all is 1.00: the rest is rounded down."""
    return f"{int(round(share * 100, 4)) / 100:.2f}"


def _word(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    return next((word for least, word in steps if value >= least), steps[-1][1])
