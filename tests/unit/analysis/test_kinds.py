"""Kinds of clusters: what a reader would say, and nothing that breaks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esdedup.analysis.align import align
from esdedup.analysis.classify import classify_clusters
from esdedup.analysis.names import KINDS
from esdedup.analysis.word_forms import split_words
from esdedup.store.cluster_kinds import JUDGED, MEMBERS, PLACES
from esdedup.store.shared_documents import SHARED
from tests.support.corpus import sentence
from tests.unit.analysis.helpers import Text, judged

VERSIONS: list[Text] = [
    ("In 2014 the city of Aram had 35,000 inhabitants and two bridges over the river.", "Aram"),
    ("In 2014 the city of Aram had 36,000 inhabitants and two bridges over the river.", "Aram"),
]
SAME = "The committee that had been founded in Geneva adopted the proposal of its president without a vote"


TREATY = "The treaty of Aram was signed in {} by both the king and the bishops of Oram."
BOOK = "A. Miller, The River ({} University Press, 1999), pp. 20."
MENU = "Home | News | {} | Weather | Contact | Imprint | {}"
VILLAGE = "{} is a village in the north of the district of Oram."
ADDRESS = "{{'text': 'Mill Lane {} in the old town', 'language': 'en'}}"
MONUMENTS = "{} District protected monuments of culture"
MILL = "It is an old mill{} and stands in the list of mills of the country."
BURNED = "Troops from Hasburg burned the mill{} of Varburg, and Alma Calner of Belham bought the land."
MILLS = {"": "Aram", " of wood": "Oram", " with wheels": "Cil"}
HISTORY = "Miller, Anna B. Aram and Oram: The History of our Rivers{}."
TOOLS = "Install version {} of the package for the tools."


@pytest.mark.parametrize(
    ("kind", "cluster"),
    [
        ("template", [(VILLAGE.format(name), name) for name in ("Ulm", "Brod", "Cil")]),
        ("template", [(TOOLS.format(number), f"tool{number}") for number in (3, 4)]),
        ("copyediting", [f"{SAME}.", f"{SAME.replace('adopted', 'took up')}."]),
        ("copyediting", [f"{SAME}.", f"{SAME.replace(' that', ', that').replace('Geneva', 'Geneva,')}."]),
        ("copyediting", [f"{SAME.replace('proposal', 'pro-posal')}.", f"{SAME}."]),
        ("drift", [f"{SAME}.", f"{SAME.replace('adopted', 'never adopted')}."]),
        ("drift", [TREATY.format(1704), TREATY.format(1740)]),
        ("copyediting", [(f"24 May - {SAME}.", "1942"), (f"1942 - {SAME}.", "24 May")]),
        ("template", [(f"24 May - {SAME}.", "1942"), (f"1943 - {SAME}.", "24 May")]),
        ("references", [BOOK.format("Oxford"), BOOK.format("Cambridge")]),
        ("references", [(HISTORY.format(""), "Aram"), (HISTORY.format(": Second Part"), "Oram")]),
        ("other", [MENU.format("Sports", "Help"), MENU.format("Sport", "Search")]),
        ("other", [(ADDRESS.format(house), title) for house, title in (("four", "Aram"), ("five", "Oram"))]),
        ("other", [(MONUMENTS.format(name), title) for name, title in (("Northern", "Aram"), ("Southern", "Oram"))]),
        ("template", [(MILL.format(more), title) for more, title in MILLS.items()]),
        ("copyediting", [(MILL.format(more), title) for more, title in [*MILLS.items()][:2]]),
        ("copyediting", [(BURNED.format(more), title) for more, title in MILLS.items()]),
    ],
)
def test_kinds(kind: str, cluster: list[Text]) -> None:
    [row] = judged(cluster).to_pylist()
    assert row["kind"] == kind, row
    assert 0 < row["kind_confidence"] <= 1
    assert row["kind_reason"]


def test_another_figure_in_a_later_version_is_drift() -> None:
    row = judged_versions([text for text, _ in VERSIONS])
    assert (row["id"], row["kind"]) == (7, "drift")
    assert row["frame"] == "In 2014 the city of Aram had {number} inhabitants and two bridges over the river."


def test_words_that_have_moved_decide_if_that_is_likely_another_fact() -> None:
    versions = [
        "She was born in Aram and later moved to Carter County in the north of Oram.",
        "She was born in Carter County in the north of Oram and moved to Aram later.",
    ]
    row = judged_versions(versions)
    assert row["kind"] == "drift"
    assert 0.5 <= row["kind_confidence"] < 0.8


def judged_versions(texts: Sequence[str]) -> dict[str, Any]:
    """What a cluster of texts means that stand in different documents with one title."""
    nowhen = [0] * PLACES
    rows: list[dict[str, Any]] = [
        {
            "cluster": 7, "representative": place == 0, "text": text, "frames": 1, "narrow": True,
            "links": None, "titles": "Aram",
            "titled_once": True,
            "named": [5, 0, 0, 0],
            "documents": [place + 1, 0, 0, 0], "since": nowhen, "till": nowhen,
        }
        for place, text in enumerate(texts)
    ]  # fmt: skip
    [row] = classify_clusters(pa.Table.from_pylist(rows, MEMBERS), SHARED.empty_table()).to_pylist()
    return dict(row)


def test_clusters_do_not_touch_each_other() -> None:
    clusters: list[list[Text]] = [
        [f"{SAME}.", f"{SAME.replace('adopted', 'took up')}."],
        VERSIONS,
        ["", "a"],
        ["!", "?"],
    ]
    together = judged(*clusters).to_pylist()
    apart = [judged(cluster).to_pylist()[0] for cluster in clusters]
    assert [{**row, "id": 0} for row in together] == apart
    assert judged().num_rows == 0
    assert judged().schema.names == JUDGED.names


@given(st.lists(st.lists(st.text(max_size=60), min_size=2, max_size=5, unique=True), min_size=1, max_size=4))
def test_any_text_gets_a_kind(clusters: list[list[str]]) -> None:
    for row in judged(*clusters).to_pylist():
        assert row["kind"] in KINDS
        assert isinstance(row["frame"], str)


@pytest.mark.parametrize(
    "cluster",
    [
        ["在一九九零年，这座城市有三万五千名居民和两座桥。", "在一九九一年，这座城市有三万六千名居民和两座桥。"],
        ["في عام ١٩٩٠ كان عدد سكان المدينة ٣٥٬٠٠٠ نسمة.", "في عام ١٩٩٠ كان عدد سكان المدينة ٣٦٬٠٠٠ نسمة."],
        ["La ville comptait 35.000 habitants.", "La ville comptait 35,000 habitants."],
        ["a" * 600, "b" * 600],
        [" ".join("xy" for _ in range(200)), " ".join("zy" for _ in range(200))],
    ],
)
def test_other_scripts_and_long_words(cluster: list[Text]) -> None:
    [row] = judged(cluster).to_pylist()
    assert row["kind"] in KINDS


def test_alignment_is_exact() -> None:
    source = random.Random(5)
    for _ in range(200):
        base = sentence(source, 12).split()
        other = [word for word in base if source.random() < 0.8] + ["end"]
        words = split_words(pa.array([" ".join(base), " ".join(other)], pa.large_string()))
        found = align(words, np.array([0, 2]), np.array([0]))
        kept = [~found.slotted[words.offsets[text] : words.offsets[text + 1]] for text in (0, 1)]
        hashes = [words.hash[words.offsets[text] : words.offsets[text + 1]][kept[text]] for text in (0, 1)]
        assert hashes[0].tolist() == hashes[1].tolist()
        assert len(hashes[0]) >= len(base) * 0.4
