"""Why something was left out, in words."""

from __future__ import annotations

_WORDS = {
    "bad_csv": "records that are no CSV",
    "bad_json": "lines that are no JSON",
    "bad_utf8": "records that are no UTF-8; whole texts were read with signs in the place of the bytes that are none",
    "damaged_source": "sources that end in damage; what stands before it was read",
    "hot_token": "tokens of so many texts that each text was compared with its nearest neighbours only",
    "ignored_cluster": "clusters that are known and wanted, and so in no listing",
    "namespace": "pages outside the namespaces that were asked for",
    "no_id": "records without an id",
    "no_text": "records without text",
    "no_words": "texts without words, to which nothing can be compared",
    "redirect": "pages that only lead to another one",
    "refused": "records that the server would not take",
    "repeated_id": "documents with an id that came before; theirs are numbered on",
    "too_long": "sentences longer than max-chars",
    "too_long_field": "records with a field or a line that is too long to be read",
    "too_long_text": "texts that are too long to be read",
    "too_short": "sentences shorter than min-chars",
    "unparsable_page": "pages whose markup could not be read",
}


def in_words(reason: str) -> str:
    """What is counted under a reason; the reason itself where there are no words for it."""
    return _WORDS.get(reason, reason.replace("_", " "))
