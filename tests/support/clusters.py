"""A cluster of given texts, as a store gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def a_cluster(texts: Sequence[str], representative: int = 0) -> dict[str, Any]:
    members = [
        {
            "id": f"{place}:0", "source": "s", "document": f"{place}", "title": f"Title {place}", "position": 0,
            "text": text, "revision": None, "timestamp": None,
        }
        for place, text in enumerate(texts)
    ]  # fmt: skip
    return {"id": "0", "size": len(texts), "representative": f"{representative}:0", "members": members}
