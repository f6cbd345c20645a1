"""The reason that is given for a kind is true of the texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import esdedup
from esdedup.analysis.kinds import RULES
from esdedup.analysis.spelling import spelled_alike
from esdedup.analysis.word_meanings import lexicon

Texts = list[tuple[str, set[str]]]
"""Texts, each with the titles of its documents."""


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def pairs(texts: Texts) -> list[tuple[str, str]]:
    return list(combinations((text for text, _ in texts), 2))


def unshared(one: str, two: str) -> list[str]:
    return [word for word in words(one) if word not in words(two)]


def only_small(texts: Texts) -> bool:
    """What differs is spelled alike, says little, or is a number in words."""

    def small(word: str, others: list[str]) -> bool:
        numbers = {str(lexicon().numbers.get(other, other)) for other in others}
        same = word in "".join(others) or str(lexicon().numbers.get(word, word)) in numbers
        return same or word in lexicon().function or any(spelled_alike(word, other) for other in others)

    return all(small(word, words(two)) for one, two in pairs(texts) for word in unshared(one, two))


def has_figures(texts: Texts) -> bool:
    def figures(text: str) -> list[str]:
        known = lexicon()
        return [w for w in words(text) if any(map(str.isdigit, w)) or w in {**known.numbers, **known.months}]

    return any(figures(one) != figures(two) for one, two in pairs(texts))


def names_titles(texts: Texts) -> bool:
    """A word that differs stands in a title, or begins as a word there does."""
    titles = " ".join(title.casefold() for _, some in texts for title in some)
    return any(word[:4] in titles for one, two in pairs(texts) for word in unshared(one, two))


def another_fact(texts: Texts) -> bool:
    return any(unshared(one, two) or unshared(two, one) for one, two in pairs(texts)) or any(
        words(one) != words(two) for one, two in pairs(texts)
    )


TRUE: dict[str, Callable[[Texts], bool]] = {
    "only signs, capitals, spelling or little words differ": only_small,
    "the same frame with other figures": has_figures,
    "what differs stands in the titles of the documents": names_titles,
    "the same said of the same, with another fact": another_fact,
    "the same frame on three or more pages": lambda texts: len({title for _, some in texts for title in some}) >= 3,
    "the same document at another time, in other words": lambda texts: bool(
        set.intersection(*(t for _, t in texts[:2]))
    ),
    "the same said twice in one document, in other words": lambda texts: any(
        one & two for (_, one), (_, two) in combinations(texts, 2)
    ),
    "one document says it of several things": lambda texts: any(
        one & two for (_, one), (_, two) in combinations(texts, 2)
    ),
}
"""What must hold for each reason that says what differs, or where."""


def test_reasons_exist() -> None:
    assert TRUE.keys() <= {rule.reason for rule in RULES}


def test_reasons_are_true_of_the_demo(tmp_path: Path) -> None:
    wiki = files("esdedup.demo") / "data" / "wiki.xml.bz2"
    esdedup.run(str(wiki), out=tmp_path, revisions="all", jaccard=0.6, report=False, lookup=False)
    seen = set()
    for line in (tmp_path / "clusters.jsonl").read_text("utf-8").splitlines():
        cluster: dict[str, Any] = json.loads(line)
        held: dict[str, set[str]] = {}
        for member in cluster["members"]:
            held.setdefault(member["text"], set()).add(member["title"])
        holds = TRUE.get(cluster["kind_reason"])
        if holds is not None:
            seen.add(cluster["kind_reason"])
            assert holds(list(held.items())), (cluster["kind_reason"], list(held)[:3])
    assert len(seen) >= 4


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("She came from Santa Cruz to the old harbour.", "She came from San Juan to the old harbour."),
        ("É a menor das ilhas de todo o arquipélago.", "É a maior das ilhas de todo o arquipélago."),
        ("The river Elst is 950 km long in this country.", "The river Elst is 950 mi long in this country."),
        ("Only few of the houses were of stone.", "Only two of the houses were of stone."),
    ],
)
def test_other_facts_are_not_spelling(one: str, two: str, tmp_path: Path) -> None:
    rows = [json.dumps({"id": name, "title": name, "text": text}) for name, text in (("Oram", one), ("Elst", two))]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), "utf-8")
    esdedup.run(tmp_path / "a.jsonl", out=tmp_path / "out", jaccard=0.4, min_chars=0, report=False)
    [cluster] = esdedup.clusters(store=tmp_path / "out" / "store.duckdb")
    assert "spelling" not in cluster.kind_reason
