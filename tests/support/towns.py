"""Pages about towns that say the same of other numbers, and settings that find them."""

from __future__ import annotations

import random
from typing import Any

from esdedup.analysis.templates import write
from tests.support.corpus import sentence

FRAME = (
    "The town of {subject} lies on the long river of the east, has two mills of red brick by the old road to the hills "
    "of the south, and counts {number} heads of cattle in its stables."
)

LOOSE: dict[str, Any] = {"jaccard": 0.5, "rows": 2, "bands": 20}

TOWNS = {"Arlen": "4,120", "Brumo": "77", "Cestva": "12,001", "Dorvik": "980", "Elst": "1,234,567"}


def pages() -> dict[str, list[tuple[str, list[str]]]]:
    source = random.Random(41)
    statement = "In 1904 the council of Oram gave {} pieces of silver to the widows of Aram and of Tirol, as was usual."
    towns = {
        name: [("2020-01-01T00:00:00Z", [sentence(source, 20), write(FRAME, {"subject": name, "number": count})])]
        for name, count in TOWNS.items()
    }
    return towns | {
        "Oram": [("2020-02-01T00:00:00Z", [sentence(source, 20), statement.format("35")])],
        "Silver": [("2021-03-01T00:00:00Z", [sentence(source, 20), statement.format("53")])],
    }
