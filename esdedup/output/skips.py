"""The meaning of each reason for skipping."""

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
    "no_text": "records without text",
    "no_words": "texts without words, which cannot be compared",
    "older_version": "pages that another part of the wiki has in the same or a newer revision",
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


def in_words(reason: str) -> str:
    """Return the meaning of a reason; the reason itself if it has none."""
    return WORDS.get(reason, reason.replace("_", " "))
