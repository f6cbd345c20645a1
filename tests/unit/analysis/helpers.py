"""Clusters out of plain lists of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa

from esdedup.analysis.classify import classify_clusters
from esdedup.analysis.drift import contradictions
from esdedup.analysis.slots import Frame
from esdedup.analysis.templates import frame_texts
from esdedup.store.cluster_kinds import MEMBERS, PLACES
from esdedup.store.shared_documents import SHARED

Text = str | tuple[str, str]
"""A text, or one with the title of its document."""


def judged(*clusters: Sequence[Text]) -> pa.Table:
    """What each cluster means; its first text is the representative. Documents are told apart by their titles."""
    rows = []
    for number, cluster in enumerate(clusters):
        for place, told in enumerate(cluster):
            text, title = told if isinstance(told, tuple) else (told, f"T{number}x{place}")
            name = crc32(title.encode()) + 1
            rows.append(
                {
                    "cluster": number,
                    "representative": place == 0,
                    "text": text,
                    "frames": 1,
                    "narrow": True,
                    "titles": title,
                    "titled_once": True,
                    "named": [name, *[0] * (PLACES - 1)],
                    "documents": [name, *[0] * (PLACES - 1)],
                    "links": None,
                    "since": [0] * PLACES,
                    "till": [0] * PLACES,
                }
            )
    return classify_clusters(pa.Table.from_pylist(rows, MEMBERS), SHARED.empty_table())


def framed(texts: Sequence[str], titles: Sequence[str] = ()) -> Frame:
    """The frame of one cluster, whose first text is the representative."""
    return frame_texts(texts, 0, titles).frame


def cluster(texts: Sequence[str]) -> dict[str, Any]:
    """Texts of one page at several times, as in clusters.jsonl."""
    members = [
        {"id": f"{n}:0", "source": "s", "document": str(n), "title": "Old city", "revision": None,
         "timestamp": f"20{n:06}", "text": text} for n, text in enumerate(texts)
    ]  # fmt: skip
    return {"id": "0" * 16, "kind": "drift", "kind_confidence": 0.8, "representative": "0:0", "members": members}


def found(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The contradictions of such a cluster."""
    return contradictions(cluster(texts))
